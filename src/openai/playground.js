// Plays an OpenAI client.

class OpenAiFront extends Front {
  static label = "OpenAI";

  constructor(mount, page) {
    super(mount, page);
    this.agent = "Assistant";
    this.model = "";
    this.models = [];
    this.tools = structuredClone(SAMPLE_FUNCTIONS);
    this.offered = true;
    this.usage = true;
    this.system = "";
    this.first = this.path.replace(/chat\/completions$/, "models");
    this.ready = this.#list();
  }

  intro() {
    return {
      title: "As an OpenAI client",
      text: "What any program with an OpenAI library sends and reads: chunks, tool calls, usage.",
      prompts: ["What happens when a client disconnects?", "What is the weather in Lisbon?", "Delete the draft, but ask me first"],
    };
  }

  async #list() {
    try {
      const response = await fetch(this.first, { credentials: "omit" });
      this.models = asArray((await response.json()).data).map(({ id }) => asText(id));
      this.model ||= this.models[0] ?? "";
      this.agent = this.model || this.agent;
      this.page.changed();
    } catch {
      // A server without a list accepts any name.
    }
  }

  chips() {
    return [
      { label: "Sample tools", pressed: this.offered, title: "Offer the functions of the setup", toggle: () => (this.offered = !this.offered) },
      { label: "Usage", pressed: this.usage, title: "Ask for token counts", toggle: () => (this.usage = !this.usage) },
    ];
  }

  settings() {
    const set = (model) => {
      this.model = model;
      this.agent = model || "Assistant";
    };
    const model = this.models.length > 0 ? selectField("Model", this.model, this.models.map((id) => [id, id]), set) : textField("Model", this.model, set);
    return [
      fieldGroup("Requests", model, textField("System message", this.system, (system) => (this.system = system))),
      fieldGroup("Tools", jsonField("Functions", this.tools, (value) => (this.tools = asArray(value)), "offered when “Sample tools” is on")),
    ];
  }

  async ask(text) {
    this.messages.push({ role: "user", content: text });
    for (let round = 0; round < MOST_CALLS; round += 1) {
      if (!(await this.#round())) return;
    }
    throw new Broken(`Stopped after ${MOST_CALLS} rounds of tool calls.`);
  }

  request() {
    const system = this.system ? [{ role: "system", content: this.system }] : [];
    return {
      model: this.model || "playground",
      messages: [...system, ...this.messages],
      stream: true,
      ...(this.usage && { stream_options: { include_usage: true } }),
      ...(this.offered && this.tools.length > 0 && { tools: this.tools }),
    };
  }

  /** Sends one request. Returns `true` if another must follow, with the results of calls. */
  async #round() {
    const [calls, results] = [[], []];
    let [text, finish, done] = ["", null, false];
    try {
      for await (const event of this.post(this.request())) {
        // Everything after the end is ignored.
        if (done || event.data.startsWith("[DONE]")) {
          done = true;
          continue;
        }
        await this.take(event, (chunk) => {
          if (!this.object(chunk, "data")) return;
          if (chunk.error) throw new Broken(asText(chunk.error.message) || "An error occurred during streaming");
          if (chunk.usage) this.answer.extra = [`${asText(chunk.usage.prompt_tokens)} + ${asText(chunk.usage.completion_tokens)} tokens`];
          for (const { index, delta = {}, finish_reason: reason } of this.objects(chunk.choices ?? [], "choices")) {
            // Clients show one choice, which is the first.
            if (index > 0) continue;
            finish = reason || finish;
            if (!this.object(delta, "delta")) continue;
            text += asText(delta.content) + asText(delta.refusal);
            this.answer.text(asText(delta.content) + asText(delta.refusal));
            for (const piece of this.objects(delta.tool_calls ?? [], "tool_calls")) {
              const { function: part = {} } = piece;
              if (this.object(part, "tool_calls[].function")) merge(calls, piece);
            }
          }
        });
      }
      this.#ended(finish, done);
      for (const call of calls) results.push(await this.#result(call));
    } finally {
      // Calls without results are left out: the API refuses such a history.
      const tool_calls = calls.slice(0, results.length);
      if (text || results.length > 0) this.messages.push({ role: "assistant", content: text || null, ...(results.length > 0 && { tool_calls }) }, ...results);
    }
    return calls.length > 0;
  }

  #ended(finish, done) {
    if (finish === null) this.answer.notice("The stream ended without a finish_reason: strict clients fail here.");
    else if (!done) this.answer.notice("The stream ended without [DONE].");
    if (finish !== "stop" && finish !== "tool_calls" && finish !== null) this.answer.notice(`The answer ended early: ${finish}.`);
  }

  async #result({ id, function: { name, arguments: text } }) {
    const args = parsed(text || "{}") ?? text;
    const canned = SAMPLE_RESULTS.get(name);
    const why = canned ? "" : "This tool has no result of its own here: write one.";
    const result = await callCard(this.answer, { name, args, result: canned?.(args) ?? {}, why }, this.abort.signal);
    return { role: "tool", tool_call_id: id, content: asText(result) };
  }
}

/** Adds a fragment of a call to the calls so far; the index says to which. */
function merge(calls, { index = 0, id, function: part = {} }) {
  // An index from outside must not make the list arbitrarily long: the API allows 128 tools.
  if (!Number.isInteger(index) || index < 0 || index > 127) return;
  while (calls.length <= index) calls.push({ id: "", type: "function", function: { name: "", arguments: "" } });
  const call = calls[index];
  // The id comes once, with the first fragment; some servers repeat it.
  call.id ||= asText(id);
  call.function.name += asText(part.name);
  call.function.arguments += asText(part.arguments);
}

const SAMPLE_FUNCTIONS = [
  {
    type: "function",
    function: {
      name: "get_weather",
      description: "The weather at a place",
      parameters: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
    },
  },
];

const SAMPLE_RESULTS = new Map([
  ["get_weather", (args) => ({ place: asText(args?.place), temperature: 19, unit: "°C", sky: "clear" })],
]);

addFront("openai", OpenAiFront);
