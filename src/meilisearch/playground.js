// Plays a chat client of Meilisearch.

class MeilisearchFront extends Front {
  static label = "Meilisearch";
  static unnamed = "Search chat";

  constructor(mount, page) {
    super(mount, page);
    this.workspace = "playground";
    this.model = "gpt-4o-mini";
    this.key = "playground";
    this.declared = new Set(Object.keys(NOTICES));
  }

  intro() {
    return {
      title: "As a Meilisearch chat client",
      text: "Searches show while they run, and the documents that were found as sources.",
      prompts: ["Which films have robots?", "Find something from 1927", "What happens when a client disconnects?"],
    };
  }

  chips() {
    return Object.entries(NOTICES).map(([name, label]) => ({
      label,
      pressed: this.declared.has(name),
      title: `Declare ${name}`,
      toggle: () => (this.declared.has(name) ? this.declared.delete(name) : this.declared.add(name)),
    }));
  }

  settings() {
    return [
      fieldGroup("Requests",
        textField("Workspace", this.workspace, (name) => (this.workspace = name)),
        textField("Model", this.model, (model) => (this.model = model)),
        textField("Key", this.key, (key) => (this.key = key))),
    ];
  }

  async ask(text) {
    this.messages.push({ role: "user", content: text });
    const [appended, searches] = [[], new Map()];
    let [said, finish, done, broken] = ["", null, false, null];
    const tools = [...this.declared].map((name) => ({ type: "function", function: { name, description: NOTICES[name], parameters: { type: "object", properties: {} } } }));
    const body = { model: this.model, messages: this.messages, stream: true, ...(tools.length > 0 && { tools }) };
    const path = this.path.replace(/\{[^}]*\}/, () => encodeURIComponent(this.workspace || "playground"));
    try {
      done = await this.stream((chunk) => {
        if (chunk.error && !chunk.choices) {
          const { type, code, message } = chunk.error;
          this.answer.notice(asText(message), "error", [type, code].map(asText).filter(Boolean).join(" · "));
          // After a failed search the answer continues; any other error is the end.
          if (type !== "response_error") broken ??= asText(message);
          return;
        }
        const heard = this.chunk(chunk, ({ function: part }) => this.#notice(part, appended, searches));
        said += heard.said;
        finish = heard.finish ?? finish;
      }, body, { authorization: `Bearer ${this.key}` }, path);
    } finally {
      this.messages.push(...paired(appended));
      if (said) this.messages.push({ role: "assistant", content: said });
    }
    if (!done) this.answer.notice("The stream ended without [DONE]: the answer is cut off.", "error");
    else if (finish === null && !broken) this.answer.notice("The stream ended without a finish_reason.");
  }

  #notice({ name, arguments: text }, appended, searches) {
    const args = parsed(text);
    if (!this.object(args, `the arguments of ${asText(name)}`)) return;
    const id = asText(args.call_id);
    if (name === "_meiliSearchProgress") {
      const inner = parsed(asText(args.function_arguments ?? args.function_parameters)) ?? {};
      const query = asText(inner.q) || "everything";
      searches.set(id, query);
      const details = [inner.index_uid && { index: inner.index_uid }, inner.filter && { filter: inner.filter }].filter(Boolean);
      this.answer.step({ message: `Searching for “${query}”`, details });
    } else if (name === "_meiliSearchSources") {
      const found = [args.sources ?? args.documents ?? []].flat().filter(isObject);
      if (found.length === 0) this.answer.step({ message: "Nothing found" });
      else this.answer.sources(`Sources${searches.has(id) ? ` for “${searches.get(id)}”` : ""}`, found.map(asSource));
    } else if (name === "_meiliAppendConversationMessage") {
      appended.push(args);
    }
  }
}

const NOTICES = {
  _meiliSearchProgress: "Progress",
  _meiliSearchSources: "Sources",
  _meiliAppendConversationMessage: "History",
};

/** Returns the messages for the history: no call without its result. */
function paired(messages) {
  const answered = new Set(messages.map(({ tool_call_id: id }) => id));
  return messages.filter(({ tool_calls: calls }) => !calls || asArray(calls).every((call) => answered.has(call?.id)));
}

/** A found document; its title is under one of the usual names. */
function asSource(found) {
  const key = ["title", "name", "label", "headline"].find((each) => typeof found[each] === "string");
  const first = Object.values(found).find((value) => typeof value === "string");
  const url = asText(found.url ?? found.link ?? found.href);
  return { name: key ? found[key] : (first ?? `Document ${asText(found.id)}`), url, about: found.id === undefined ? "" : `id ${asText(found.id)}`, body: [jsonView(found)] };
}

addFront("meilisearch", MeilisearchFront, {
  _meiliSearchProgress: { kind: "status" },
  _meiliSearchSources: { kind: "source" },
  _meiliAppendConversationMessage: { kind: "silent" },
});
