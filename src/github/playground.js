// Plays the GitHub Copilot platform, with VS Code or github.com in front of it.

class GitHubFront extends Front {
  static label = "GitHub";
  static unnamed = "Copilot extension";

  constructor(mount, page) {
    super(mount, page);
    this.slug = "playground";
    this.client = "vscode";
    this.sign = page.signing;
    this.references = structuredClone(SAMPLE_REFERENCES);
  }

  intro() {
    return {
      title: "As GitHub Copilot",
      text: "The file and the repository below go along with what you ask, as an editor sends them. A confirmation is answered with a click.",
      prompts: ["Explain this file", "What is in this repository?", "Delete the branch, but ask me first"],
    };
  }

  forget() {
    super.forget();
    this.thread = uuid();
  }

  chips() {
    return this.references.map((entry) => ({
      label: entry.reference.id,
      pressed: entry.on,
      title: entry.on ? "Goes along with the question" : "Stays out",
      toggle: () => (entry.on = !entry.on),
    }));
  }

  settings() {
    const clients = [["vscode", "VS Code: references on the question"], ["web", "github.com: references in a session message"]];
    const signed = this.page.signing ? "with the keys of this test server" : "this server has no test keys";
    const sign = toggleField("Sign requests", this.sign, (on) => (this.sign = on), signed);
    if (!this.page.signing) sign.querySelector("input").disabled = true;
    return [
      fieldGroup("Requests",
        selectField("Client", this.client, clients, (client) => (this.client = client)),
        textField("Slug of the agent", this.slug, (slug) => (this.slug = slug)),
        sign),
      fieldGroup("References", ...this.references.map((entry) =>
        jsonField(entry.reference.type, entry.reference, (value) => isObject(value) && ((entry.reference = value), this.page.changed()), entry.reference.id))),
    ];
  }

  async ask(text) {
    const references = this.references.filter(({ on }) => on).map(({ reference }) => reference);
    if (this.client === "web") {
      const now = new Date().toISOString().slice(0, 19).replace("T", " ");
      const session = `Current Date and Time (UTC): ${now}\nUser's Current URL: https://github.com/octo-org/tide-tables\nCurrent User's Login: octocat\n`;
      // The website has no editor, so it has none of the references to its files.
      const about = references.filter(({ type }) => !type.startsWith("client."));
      this.messages.push({ role: "user", name: "_session", content: session, copilot_references: [], copilot_confirmations: [] });
      this.messages.push({ role: "user", content: "", copilot_references: about, copilot_confirmations: [] });
      this.messages.push({ role: "user", content: text, copilot_references: [], copilot_confirmations: [] });
    } else {
      this.messages.push({ role: "user", content: text, copilot_references: references, copilot_confirmations: null });
    }
    await this.#turn();
  }

  /** The answer to a confirmation is a request of its own, with an empty text. */
  async #decide(accepted, confirmation, say) {
    const state = accepted ? "accepted" : "dismissed";
    const outcome = accepted ? "Accepted" : "Dismissed";
    say(this.busy ? `${outcome}: goes out when the running answer ends` : outcome);
    await this.queue(() => {
      say(outcome);
      this.messages.push({ role: "user", content: "", copilot_references: [], copilot_confirmations: [{ state, confirmation }] });
      return this.#turn();
    });
  }

  async #turn() {
    const body = {
      copilot_thread_id: this.thread,
      messages: this.messages,
      stop: null,
      top_p: 0,
      temperature: 0,
      max_tokens: 0,
      presence_penalty: 0,
      frequency_penalty: 0,
      copilot_skills: null,
      agent: this.slug,
    };
    const shown = [];
    let done = false;
    this.asked = null;
    try {
      for await (const event of this.post(body, await this.#headers(body))) {
        if (done || event.data === "[DONE]") {
          done = true;
          continue;
        }
        await this.take(event, (value) => this.#event(event.name, value, shown));
      }
      if (!done) this.answer.notice("The stream ended without [DONE].");
    } finally {
      const content = this.answer.said;
      this.messages.push({ role: "assistant", content, copilot_references: shown, copilot_confirmations: null });
    }
    const asked = this.asked;
    if (asked) this.answer.confirm(asked, (accepted, say) => this.#decide(accepted, asked.confirmation, say));
  }

  async #headers(body) {
    const headers = { "x-github-token": "ghu_playground", "copilot-integration-id": "playground" };
    if (!this.sign) return headers;
    const { signal } = this.abort;
    const options = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal };
    // Signed by the server, as the page must not have the key. The signature is over exactly these
    // bytes.
    const response = await reached(fetch(below("/playground/sign"), options), signal);
    if (!response.ok) throw new Broken(`The server did not sign the request (HTTP ${response.status}).`);
    return { ...headers, ...(await reached(response.json(), signal)) };
  }

  #event(name, value, shown) {
    switch (name) {
      case "":
        if (!this.object(value, "data")) break;
        this.chunk(value, () => {});
        if (value.error) this.answer.notice(asText(value.error.message ?? value.error), "error");
        break;
      case "copilot_references":
        if (Array.isArray(value)) this.#references(value, shown);
        else this.odd("data is no list");
        break;
      case "copilot_errors":
        for (const { type, code, message, identifier } of this.objects(value, "data")) {
          this.answer.notice(asText(message), "error", [type, code, identifier].map(asText).filter(Boolean).join(" · "));
        }
        break;
      case "copilot_confirmation":
        if (!this.object(value, "data")) break;
        if (typeof value.title === "string" && typeof value.message === "string" && value.confirmation) this.asked = value;
        else this.answer.notice("VS Code does not show a confirmation without title, message and confirmation.");
        break;
      default:
        this.answer.notice("The platform does not know this event:", "quiet", name);
    }
  }

  #references(references, shown) {
    const sources = [];
    for (const reference of references) {
      if (!isObject(reference?.data)) {
        this.answer.notice("VS Code fails on a reference whose data is no object:", "warning", asText(reference?.id));
        continue;
      }
      shown.push(reference);
      const { data } = reference;
      const metadata = isObject(reference.metadata) ? reference.metadata : {};
      if (data.type === "github.agent" || reference.type === "github.text") continue;
      // VS Code displays the URL in the data if there is one, and else the display name.
      const bare = asText(reference.url ?? reference.html_url ?? data.url ?? data.html_url);
      const url = bare || asText(metadata.display_url);
      sources.push({ name: bare || asText(metadata.display_name) || asText(reference.id), url, about: asText(reference.type), body: [jsonView(data)] });
    }
    if (sources.length > 0) this.answer.sources("References", sources);
  }
}

const SAMPLE_REFERENCES = [
  {
    on: true,
    reference: {
      type: "client.file",
      data: { language: "rust", content: "/// The height of the tide in metres.\nfn height(hours: f64) -> f64 {\n    2.1 + 1.8 * (hours / 12.42 * std::f64::consts::TAU).cos()\n}\n" },
      is_implicit: true,
      id: "src/tide.rs",
    },
  },
  {
    on: true,
    reference: {
      type: "github.repository",
      data: { type: "repository", id: 718293041, name: "tide-tables", ownerLogin: "octo-org", ownerType: "Organization", visibility: "public", ref: "refs/heads/main", refInfo: { name: "main", type: "branch" }, description: "Tide predictions", languages: [{ name: "Rust", percent: 91.4 }] },
      id: "octo-org/tide-tables",
      is_implicit: false,
      metadata: { display_name: "octo-org/tide-tables", display_icon: "", display_url: "" },
    },
  },
];

addFront("github", GitHubFront, {
  copilot_references: {
    kind: "source",
    gist: (value) => asArray(value).map((reference) => asText(reference?.metadata?.display_name ?? reference?.id)).join(" · "),
  },
  copilot_confirmation: { kind: "call", gist: (value) => asText(value?.title) },
  copilot_errors: { kind: "error" },
});
