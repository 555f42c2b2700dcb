// The page around the conversations.

class Page {
  constructor() {
    this.fronts = [];
    this.front = null;
    this.input = byId("prompt");
    this.#theme(memory.get("theme"));
    this.#listen();
  }

  /** Requests the list of mounted agents from the router. */
  async start() {
    try {
      const response = await fetch(below("/playground.json"), { credentials: "omit", cache: "no-store" });
      const { fronts, signing } = await response.json();
      this.signing = signing;
      const known = fronts.filter(({ protocol }) => FRONTS.has(protocol));
      this.fronts = known.map((mount) => ({ mount: { ...mount, route: mount.path, path: below(mount.path) }, label: labelOf(mount, known), front: null }));
    } catch {
      this.fronts = [];
    }
    if (this.fronts.length === 0) {
      byId("views").replaceChildren(el("div", { class: "chat" }, el("div", { class: "intro" }, el("h2", {}, "No agent is mounted"), el("p", {}, "Mount one on the router and load this page again."))));
      return;
    }
    byId("fronts").replaceChildren(...this.fronts.map(({ label }, at) => el("option", { value: at }, label)));
    byId("fronts").hidden = false;
    const last = this.fronts.findIndex(({ label }) => label === memory.get("front"));
    this.show(Math.max(last, 0));
  }

  show(at) {
    const entry = this.fronts[at];
    // Created once and kept, so that choosing another front end does not end the conversation.
    entry.front ??= new (FRONTS.get(entry.mount.protocol))(entry.mount, this);
    this.front = entry.front;
    memory.set("front", entry.label);
    byId("fronts").value = at;
    byId("views").replaceChildren(this.front.chat.node);
    byId("logs").replaceChildren(this.front.log.node);
    byId("where").textContent = `POST ${entry.mount.path}`;
    this.changed();
    this.front.chat.follow();
    this.front.log.follow();
    // A reader who chose with the keyboard keeps the focus on the choice.
    if (matchMedia("(pointer: fine)").matches && !byId("fronts").matches(":focus-visible")) this.input.focus();
  }

  /** Updates what the page shows about the front end. */
  changed() {
    if (!this.front) return;
    const { busy } = this.front;
    const button = byId("send");
    button.replaceChildren(icon(busy ? "stop" : "send"), el("span", { class: "unseen" }, busy ? "Stop" : "Send"));
    button.title = busy ? "Stop (Esc)" : "Send (Enter)";
    button.classList.toggle("stop", busy);
    button.disabled = !busy && this.input.value.trim() === "";
    // The chips are built again, so the focus must be restored for readers with a keyboard.
    const focused = [...byId("chips").children].indexOf(document.activeElement);
    byId("chips").replaceChildren(...this.front.chips().map((chip) => this.#chip(chip)));
    if (focused >= 0) byId("chips").children[focused]?.focus();
  }

  #chip({ label, pressed, title, toggle }) {
    const click = () => {
      toggle();
      this.changed();
    };
    return el("button", { type: "button", class: "chip", "aria-pressed": String(pressed), title, onclick: click }, icon(pressed ? "check" : "plus"), el("span", {}, label));
  }

  #listen() {
    const { input } = this;
    const send = () => {
      if (!this.front || this.front.busy) return;
      const text = input.value;
      input.value = "";
      this.#fit();
      this.front.send(text);
    };
    input.addEventListener("input", () => {
      this.#fit();
      this.changed();
    });
    input.addEventListener("keydown", (event) => {
      // While an input method is composing, Enter accepts its suggestion and must not send the message.
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      send();
    });
    byId("composer").addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.front?.busy) this.front.stop();
      else send();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.front?.busy && !byId("setup").open) this.front.stop();
    });
    byId("fronts").addEventListener("change", ({ target }) => this.show(target.selectedIndex));
    byId("new").addEventListener("click", () => {
      this.front?.reset();
      input.focus();
    });
    byId("theme").addEventListener("click", () => this.#theme(this.dark ? "light" : "dark"));
    byId("setup-open").addEventListener("click", () => this.#setup());
    byId("setup-close").addEventListener("click", () => byId("setup").close());
    // A selection that begins in a field may end on the backdrop: a click must also begin there to close the dialog.
    let pressed = null;
    byId("setup").addEventListener("pointerdown", ({ target }) => (pressed = target));
    byId("setup").addEventListener("click", ({ target }) => target === pressed && target === byId("setup") && byId("setup").close());
    byId("setup").addEventListener("close", () => {
      byId("setup-fields").replaceChildren();
      this.changed();
    });
    for (const name of ["chat", "events"]) {
      byId(`show-${name}`).addEventListener("click", () => this.#side(name));
    }
    this.#side("chat");
  }

  /** Sets the side that is shown on a phone. */
  #side(name) {
    document.body.dataset.side = name;
    for (const each of ["chat", "events"]) byId(`show-${each}`).setAttribute("aria-pressed", String(each === name));
    this.front?.log.follow();
  }

  #fit() {
    this.input.style.height = "auto";
    this.input.style.height = `${Math.min(this.input.scrollHeight, 200)}px`;
  }

  #setup() {
    if (!this.front) return;
    byId("setup-title").textContent = `${this.fronts.find(({ front }) => front === this.front).label} setup`;
    byId("setup-fields").replaceChildren(...this.front.settings().filter(Boolean));
    byId("setup").showModal();
  }

  get dark() {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }

  #theme(theme) {
    if (theme === "dark" || theme === "light") {
      document.documentElement.dataset.theme = theme;
      memory.set("theme", theme);
    }
    byId("theme").replaceChildren(icon(this.dark ? "sun" : "moon"), el("span", { class: "unseen" }, this.dark ? "Light" : "Dark"));
    byId("theme").title = this.dark ? "Light" : "Dark";
  }
}

/** Returns an agent's label, with its path if it is not the only one of its protocol. */
function labelOf({ protocol, path }, all) {
  const { label } = FRONTS.get(protocol);
  return all.filter((other) => other.protocol === protocol).length > 1 ? `${label} ${path}` : label;
}

new Page().start();
