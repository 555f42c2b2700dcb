// Plays an OpenAI client.

class OpenAiFront extends ModelFront {
  static label = "OpenAI";
  static listed = /chat\/completions$/;
  static about = { title: "As an OpenAI client", text: "What any program with an OpenAI library sends and reads: chunks, tool calls, usage." };

  constructor(mount, page) {
    super(mount, page, [{ type: "function", function: WEATHER }]);
    this.usage = true;
  }

  chips() {
    return [...super.chips(), { label: "Usage", pressed: this.usage, title: "Ask for token counts", toggle: () => (this.usage = !this.usage) }];
  }

  request() {
    const system = this.system ? [{ role: "system", content: this.system }] : [];
    return {
      model: this.chosen || "playground",
      messages: [...system, ...this.messages],
      stream: true,
      ...(this.usage && { stream_options: { include_usage: true } }),
      ...this.offer(),
    };
  }

  async round() {
    const [calls, results] = [[], []];
    let [text, finish] = ["", null];
    try {
      const done = await this.stream((chunk) => {
        if (chunk.error) throw new Broken(asText(chunk.error.message) || "An error occurred during streaming");
        this.counted(chunk.usage?.prompt_tokens, chunk.usage?.completion_tokens);
        const { said, finish: reason } = this.chunk(chunk, (piece) => merge(calls, piece));
        text += said;
        finish = reason || finish;
      }, this.request());
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
    return { role: "tool", tool_call_id: id, content: asText(await this.result(name, parsed(text || "{}") ?? text)) };
  }
}

/** Adds a fragment of a call to the calls so far; the index says to which. */
function merge(calls, { index = 0, id, function: part }) {
  // An index from outside must not make the list arbitrarily long: the API allows 128 tools.
  if (!Number.isInteger(index) || index < 0 || index > 127) return;
  while (calls.length <= index) calls.push({ id: "", type: "function", function: { name: "", arguments: "" } });
  const call = calls[index];
  // The id comes once, with the first fragment; some servers repeat it.
  call.id ||= asText(id);
  call.function.name += asText(part.name);
  call.function.arguments += asText(part.arguments);
}

addFront("openai", OpenAiFront);
