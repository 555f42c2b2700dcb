// Emulates an Anthropic client.

class AnthropicFront extends ModelFront {
  static label = "Anthropic";
  static about = { title: "As an Anthropic client", text: "What Claude Code and any program with an Anthropic library send and read: blocks of text and thinking, tool calls, token counts." };

  constructor(mount, page) {
    const { parameters: input_schema, ...tool } = WEATHER;
    super(mount, page, [{ ...tool, input_schema }]);
  }

  request() {
    return {
      model: this.chosen,
      max_tokens: 4096,
      stream: true,
      ...(this.system && { system: this.system }),
      messages: this.messages,
      ...this.offer(),
    };
  }

  async round() {
    const [blocks, results] = [new Map(), []];
    let [reason, done] = [null, false];
    try {
      await this.stream((data) => {
        if (done) return;
        if (data.type === "error") throw new Broken(asText(data.error?.message) || "An error occurred during streaming");
        if (data.type === "message_stop") done = true;
        if (data.type === "message_delta") {
          this.counted(data.usage?.input_tokens, data.usage?.output_tokens);
          reason = data.delta?.stop_reason || reason;
        }
        if (data.type === "content_block_start" && this.object(data.content_block, "content_block")) blocks.set(data.index, begun(data.content_block));
        if (data.type === "content_block_delta" && this.object(data.delta, "delta")) this.#delta(blocks.get(data.index), data.delta);
      }, this.request());
      if (!done) this.answer.notice("The stream ended without message_stop: strict clients fail here.");
      else if (reason !== "end_turn" && reason !== "tool_use") this.answer.notice(`The answer ended early: ${reason}.`);
      for (const block of blocks.values()) if (block.type === "tool_use") results.push(await this.#result(block));
    } finally {
      this.#keep([...blocks.values()], results);
    }
    return results.length > 0;
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
    return { type: "tool_result", tool_use_id: block.id, content: asText(await this.result(block.name, block.input)) };
  }
}

/** Returns the block to which pieces are added. */
function begun(block) {
  if (block.type === "tool_use") return { type: "tool_use", id: asText(block.id), name: asText(block.name), input: {}, json: "" };
  if (block.type === "thinking") return { type: "thinking", thinking: asText(block.thinking), signature: "" };
  return { type: "text", text: asText(block.text), citations: [] };
}

addFront("anthropic", AnthropicFront);
