// Plays a client of the Responses API.

class ResponsesFront extends Front {
  static label = "Responses";

  constructor(mount, page) {
    super(mount, page);
    this.agent = "Assistant";
    this.model = "";
    this.models = [];
    this.tools = structuredClone(SAMPLE_TOOLS);
    this.offered = true;
    this.system = "";
    this.first = this.path.replace(/responses$/, "models");
    this.ready = this.#list();
  }

  intro() {
    return {
      title: "As a coding client",
      text: "What Codex, Copilot’s command line and the AI SDK send and read: items, reasoning, function calls.",
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
      // A server without a list takes any name.
    }
  }

  chips() {
    return [{ label: "Sample tools", pressed: this.offered, title: "Offer the functions of the setup", toggle: () => (this.offered = !this.offered) }];
  }

  settings() {
    const set = (model) => {
      this.model = model;
      this.agent = model || "Assistant";
    };
    const model = this.models.length > 0 ? selectField("Model", this.model, this.models.map((id) => [id, id]), set) : textField("Model", this.model, set);
    return [
      fieldGroup("Requests", model, textField("Instructions", this.system, (system) => (this.system = system))),
      fieldGroup("Tools", jsonField("Functions", this.tools, (value) => (this.tools = asArray(value)), "offered when “Sample tools” is on")),
    ];
  }

  async ask(text) {
    this.messages.push({ type: "message", role: "user", content: text });
    for (let round = 0; round < MOST_CALLS; round += 1) {
      if (!(await this.#round())) return;
    }
    throw new Broken(`Stopped after ${MOST_CALLS} rounds of tool calls.`);
  }

  request() {
    return {
      model: this.model || "playground",
      ...(this.system && { instructions: this.system }),
      input: this.messages,
      stream: true,
      store: false,
      ...(this.offered && this.tools.length > 0 && { tools: this.tools }),
    };
  }

  /** Sends one request. Returns `true` if another must follow, with the outputs of calls. */
  async #round() {
    const items = [];
    let [expected, text, ended] = [0, "", false];
    for await (const event of this.post(this.request())) {
      // Everything after the end is ignored.
      if (ended || event.data.startsWith("[DONE]")) continue;
      await this.take(event, (data) => {
        if (!this.object(data, "data")) return;
        if (data.type !== event.name) this.odd(`its type is ${asText(data.type)}`);
        if (data.sequence_number !== expected) this.odd(`sequence_number is not ${expected}`);
        expected += 1;
        switch (data.type) {
          case "response.output_text.delta":
          case "response.refusal.delta":
            text += asText(data.delta);
            this.answer.text(asText(data.delta));
            break;
          case "response.reasoning_summary_text.done":
            this.answer.step({ message: asText(data.text) });
            break;
          case "response.output_item.done":
            if (this.object(data.item, "item")) items.push(data.item);
            break;
          case "response.completed":
          case "response.incomplete":
            ended = true;
            this.#ended(data.response ?? {});
            break;
          case "response.failed":
          case "error":
            throw new Broken(asText((data.response?.error ?? data.error ?? data).message) || "The response failed");
        }
      });
    }
    if (!ended) this.answer.notice("The stream ended without response.completed: Codex would send the turn again.");
    const said = items.filter(({ type }) => type === "message").flatMap(({ content }) => asArray(content)).map((part) => asText(part?.text)).join("");
    if (ended && said !== text) this.answer.notice("The complete items do not have the text that was streamed: Codex shows those.");
    const calls = items.filter(({ type }) => type === "function_call");
    const outputs = [];
    try {
      for (const call of calls) outputs.push(await this.#output(call));
    } finally {
      // Calls without outputs are left out: the API refuses such a history.
      const answered = new Set(outputs.map(({ call_id }) => call_id));
      this.messages.push(...items.filter(({ type, call_id }) => type !== "function_call" || answered.has(call_id)), ...outputs);
    }
    return calls.length > 0;
  }

  #ended({ incomplete_details: details, usage }) {
    if (isObject(usage) && usage.total_tokens > 0) this.answer.extra = [`${asText(usage.input_tokens)} + ${asText(usage.output_tokens)} tokens`];
    if (details) this.answer.notice(`The answer ended early: ${asText(details.reason)}.`);
  }

  async #output({ call_id, name, arguments: text }) {
    const args = parsed(text || "{}") ?? text;
    const canned = SAMPLE_OUTPUTS.get(name);
    const why = canned ? "" : "This tool has no result of its own here: write one.";
    const result = await callCard(this.answer, { name, args, result: canned?.(args) ?? {}, why }, this.abort.signal);
    return { type: "function_call_output", call_id, output: asText(result) };
  }
}

const SAMPLE_TOOLS = [
  {
    type: "function",
    name: "get_weather",
    description: "The weather at a place",
    parameters: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
    strict: false,
  },
];

const SAMPLE_OUTPUTS = new Map([
  ["get_weather", (args) => ({ place: asText(args?.place), temperature: 19, unit: "°C", sky: "clear" })],
]);

addFront("responses", ResponsesFront, {
  "response.output_text.delta": { kind: "text", gist: (value) => asText(value?.delta) },
  "response.reasoning_summary_text.delta": { kind: "status", gist: (value) => asText(value?.delta) },
  "response.output_text.annotation.added": { kind: "source", gist: (value) => asText(value?.annotation?.title) },
  "response.function_call_arguments.done": { kind: "call", gist: (value) => `${asText(value?.name)} ${asText(value?.arguments)}` },
  "response.completed": { kind: "done" },
  "response.incomplete": { kind: "done" },
  "response.failed": { kind: "error", gist: (value) => asText(value?.response?.error?.message) },
});
