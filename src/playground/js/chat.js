// The conversation as the reader sees it.

class Chat {
  constructor(intro, onPrompt) {
    this.onPrompt = onPrompt;
    this.intro = intro;
    this.node = el("div", { class: "chat" });
    this.end = new Follower(this.node);
    this.clear();
  }

  clear() {
    const { title, text, prompts } = this.intro();
    const buttons = prompts.map((prompt) => this.#prompt(prompt));
    const lead = [el("h2", {}, title), el("p", {}, text), el("div", { class: "prompts" }, buttons)];
    this.node.replaceChildren(el("div", { class: "intro" }, lead));
  }

  user(text) {
    this.node.querySelector(".intro")?.remove();
    this.#add(el("div", { class: "user" }, el("p", {}, text)));
    this.follow();
  }

  answer(name) {
    for (const old of this.node.querySelectorAll(".suggestions, .asked")) old.remove();
    const answer = new Answer(this, name);
    this.#add(answer.node);
    return answer;
  }

  #prompt(text) {
    return el("button", { type: "button", class: "prompt", onclick: () => this.onPrompt(text) }, text);
  }

  suggestions(texts) {
    return el("div", { class: "suggestions" }, texts.map((text) => this.#prompt(text)));
  }

  #add(node) {
    this.node.append(node);
    this.follow();
  }

  follow() {
    // Readers begin at the top of the introduction.
    if (!this.node.querySelector(".intro")) this.end.end();
  }
}

/** The line of a question in text. The user agrees by typing its code: with a button, the user could agree without reading. */
const QUESTION = /^Question: .* To agree, reply: yes \d{6}\. To refuse, reply: no\. \([a-z\d.-]+ cw[a-z\d]{19}\)$/;

/** One answer while it is received: text, steps, artifacts and questions, in order of arrival. */
class Answer {
  #text = null;
  #steps = null;
  #cited = 0;

  constructor(chat, name) {
    this.chat = chat;
    this.said = "";
    this.parts = el("div", { class: "parts" });
    this.foot = el("p", { class: "fine foot" });
    this.who = el("p", { class: "who" }, name);
    const busy = el("div", { class: "busy", role: "status" }, el("span", { class: "unseen" }, "The agent is answering"), el("i"), el("i"), el("i"));
    this.busy = busy;
    this.node = el("article", { class: "answer", "aria-live": "polite", "aria-busy": "true" }, this.who, this.parts, busy, this.foot);
  }

  rename(name) {
    this.who.textContent = name;
  }

  #grow(change) {
    change();
    this.chat.end.grown();
  }

  /** Appends a node; text after it begins a new paragraph. */
  put(node) {
    this.break();
    this.#steps = null;
    this.#grow(() => this.parts.append(node));
    return node;
  }

  /** Ends the current piece of text. */
  break() {
    this.#text?.flush();
    this.#text = null;
  }

  text(delta) {
    if (delta === "") return;
    this.said += delta;
    if (this.#text === null) {
      this.#steps = null;
      this.#text = new MarkdownView("", () => this.chat.end.grown());
      this.parts.append(this.#text.node);
    }
    this.#text.append(delta);
  }

  step({ level = "INFO", message, details = [], artifacts = [] }) {
    this.break();
    if (this.#steps === null) {
      this.#steps = el("ol", { class: "steps" });
      this.#grow(() => this.parts.append(this.#steps));
    }
    const facts = details.flatMap((detail) => (isObject(detail) ? Object.entries(detail) : [["", asText(detail)]]));
    const list = facts.length > 0 && el("dl", {}, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, asText(value)))));
    const item = el("li", { class: level === "WARNING" ? "warning" : level === "ERROR" ? "error" : null }, el("p", {}, message), list, artifacts.map(artifactView));
    this.#grow(() => this.#steps.append(item));
  }

  notice(message, kind = "warning", detail = "") {
    const small = detail && el("code", {}, detail);
    this.put(el("p", { class: `notice ${kind}` }, icon("alert"), el("span", {}, message, " ", small)));
  }

  /** Shows numbered sources; each has a title and may have a link and a text. */
  sources(title, sources) {
    const items = sources.map(({ name, url, about, body }) => {
      this.#cited += 1;
      const label = url && safeUrl(url) ? link(url, name || url) : el("span", {}, name || "Source");
      const line = [el("b", { class: "number" }, String(this.#cited)), label, about && el("span", { class: "fine" }, about)];
      return el("li", {}, body ? el("details", {}, el("summary", {}, line), body) : line);
    });
    this.put(el("section", { class: "sources" }, el("h3", {}, title), el("ul", {}, items)));
  }

  suggest(texts) {
    if (texts.length > 0) this.put(this.chat.suggestions(texts));
  }

  /** Shows how to answer the question at the end of the text, if there is one. */
  #asked() {
    const text = this.said.trimEnd();
    if (!QUESTION.test(text.slice(text.lastIndexOf("\n") + 1))) return;
    const hint = el("p", { class: "fine" }, "To agree, type what the last line says.");
    // The front end may have added its own buttons.
    const no = this.parts.querySelector(".suggestions") ? null : this.chat.suggestions(["no"]);
    this.put(el("section", { class: "asked", "aria-label": "Question" }, hint, no));
  }

  /** Asks a question with two buttons. `decide` receives the choice and a function that reports the outcome. */
  confirm({ title, message }, decide) {
    const outcome = el("p", { class: "fine", role: "status" });
    const button = (accepted, label, kind) => {
      const click = () => {
        // Before `decide`: only the first click counts, even if a second one follows at once.
        for (const each of card.querySelectorAll("button")) each.disabled = true;
        decide(accepted, (text) => (outcome.textContent = text));
      };
      return el("button", { type: "button", class: kind, onclick: click }, label);
    };
    const buttons = el("div", { class: "row" }, button(true, "Accept", "primary"), button(false, "Dismiss", "plain"), outcome);
    const card = el("section", { class: "card confirm", "aria-label": "Confirmation" }, el("h3", {}, title), el("p", { class: "plain" }, message), buttons);
    this.put(card);
  }

  footer(text) {
    this.foot.textContent = text;
  }

  #close() {
    this.break();
    this.busy.remove();
    this.node.setAttribute("aria-busy", "false");
    this.chat.end.grown();
  }

  finish() {
    if (this.parts.childElementCount === 0) this.notice("The agent said nothing.", "quiet");
    this.#asked();
    this.#close();
  }

  stopped() {
    this.notice("Stopped.", "quiet");
    this.#close();
  }

  failed(message) {
    this.notice(message, "error");
    this.#close();
  }
}

/** A card for a table, a chart, a document. */
function artifactView(artifact) {
  const { type, name, description, content } = artifact;
  const title = asText(name) || "Artifact";
  const body = () => {
    if (type === "table") return tableView(content);
    if (type === "chart") return chartView(content, artifact.chart_params);
    if (type === "html") return htmlFrame(asText(content), title);
    if (typeof content === "string" && type === "text") {
      return new MarkdownView(content).node;
    }
    return typeof content === "string" ? jsonText(content, false) : jsonView(content ?? artifact);
  };
  const head = el("header", {}, el("h3", {}, title), el("span", { class: "tag" }, asText(type)), description && description !== title && el("p", { class: "fine" }, asText(description)));
  return el("section", { class: `card artifact ${["table", "chart", "html", "text"].includes(type) ? type : ""}` }, head, body());
}
