// Emulates an Anthropic client.

class AnthropicFront extends Front {
  static label = "Anthropic";

  constructor(mount, page) {
    super(mount, page);
    this.agent = "Assistant";
    this.model = "";
    this.tools = structuredClone(SAMPLE_TOOLS);
    this.offered = true;
    this.system = "";
  }

  intro() {
    return {
      title: "As an Anthropic client",
      text: "What Claude Code and any program with an Anthropic library send and read: blocks of text and thinking, tool calls, token counts.",
      prompts: ["What happens when a client disconnects?", "What is the weather in Lisbon?", "Delete the draft, but ask me first"],
    };
  }

  chips() {
    return [{ label: "Sample tools", pressed: this.offered, title: "Offer the tools of the setup", toggle: () => (this.offered = !this.offered) }];
  }

  settings() {
    return [
      fieldGroup(
        "Requests",
        textField("Model", this.model, (model) => (this.model = model)),
        textField("System prompt", this.system, (system) => (this.system = system)),
      ),
      fieldGroup("Tools", jsonField("Tools", this.tools, (value) => (this.tools = asArray(value)), "offered when “Sample tools” is on")),
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
    return {
      model: this.model,
      max_tokens: 4096,
      stream: true,
      ...(this.system && { system: this.system }),
      messages: this.messages,
      ...(this.offered && this.tools.length > 0 && { tools: this.tools }),
    };
  }

  /** Sends one request. Returns `true` if another must follow, with the results of calls. */
  async #round() {
    const [blocks, results] = [new Map(), []];
    let [reason, done] = [null, false];
    try {
      for await (const event of this.post(this.request())) {
        // Everything after the end is ignored.
        if (done) continue;
        await this.take(event, (data) => {
          if (!this.object(data, "data")) return;
          if (data.type === "error") throw new Broken(asText(data.error?.message) || "An error occurred during streaming");
          if (data.type === "message_stop") done = true;
          if (data.type === "message_delta") reason = this.#counted(data) || reason;
          if (data.type === "content_block_start" && this.object(data.content_block, "content_block")) blocks.set(data.index, begun(data.content_block));
          if (data.type === "content_block_delta" && this.object(data.delta, "delta")) this.#delta(blocks.get(data.index), data.delta);
        });
      }
      if (!done) this.answer.notice("The stream ended without message_stop: strict clients fail here.");
      else if (reason !== "end_turn" && reason !== "tool_use") this.answer.notice(`The answer ended early: ${reason}.`);
      for (const block of blocks.values()) if (block.type === "tool_use") results.push(await this.#result(block));
    } finally {
      this.#keep([...blocks.values()], results);
    }
    return results.length > 0;
  }

  #counted({ delta, usage }) {
    const tokens = [usage?.input_tokens, usage?.output_tokens].filter(Boolean);
    if (tokens.length > 0) this.answer.extra = [`${tokens.map(asText).join(" + ")} tokens`];
    return delta?.stop_reason;
  }

  #delta(block, delta) {
    if (!block) return this.answer.notice("A delta of a block that was not begun: strict clients fail here.");
    if (delta.type === "text_delta") {
      block.text += asText(delta.text);
      this.answer.text(asText(delta.text));
    } else if (delta.type === "thinking_delta") {
      block.thinking += asText(delta.thinking);
      for (const line of asText(delta.thinking).split("\n").filter(Boolean)) this.answer.step({ message: line });
    } else if (delta.type === "signature_delta") block.signature += asText(delta.signature);
    else if (delta.type === "input_json_delta") block.json += asText(delta.partial_json);
    else if (delta.type === "citations_delta") block.citations.push(delta.citation);
  }

  /** Adds the answer to the conversation, without calls that have no result. */
  #keep(blocks, results) {
    const answered = new Set(results.map(({ tool_use_id: id }) => id));
    const content = blocks
      .filter((block) => (block.type === "tool_use" ? answered.has(block.id) : block.type === "thinking" || block.text))
      // Members that only this page adds are left out of the history, because the API does not know them.
      .map(({ json, citations, ...block }) => block);
    if (content.length > 0) this.messages.push({ role: "assistant", content });
    if (results.length > 0) this.messages.push({ role: "user", content: results });
  }

  async #result(block) {
    block.input = parsed(block.json || "{}") ?? block.json;
    const { id, name, input } = block;
    const canned = SAMPLE_ANSWERS.get(name);
    const why = canned ? "" : "This tool has no result of its own here: write one.";
    const result = await callCard(this.answer, { name, args: input, result: canned?.(input) ?? {}, why }, this.abort.signal);
    return { type: "tool_result", tool_use_id: id, content: asText(result) };
  }
}

/** Returns the block to which pieces are added. */
function begun(block) {
  if (block.type === "tool_use") return { type: "tool_use", id: asText(block.id), name: asText(block.name), input: {}, json: "" };
  if (block.type === "thinking") return { type: "thinking", thinking: asText(block.thinking), signature: "" };
  return { type: "text", text: asText(block.text), citations: [] };
}

const SAMPLE_TOOLS = [
  {
    name: "get_weather",
    description: "The weather at a place",
    input_schema: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
  },
];

const SAMPLE_ANSWERS = new Map([
  ["get_weather", (args) => ({ place: asText(args?.place), temperature: 19, unit: "°C", sky: "clear" })],
]);

addFront("anthropic", AnthropicFront);
