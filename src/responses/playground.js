// Plays a client of the Responses API.

class ResponsesFront extends ModelFront {
  static label = "Responses";
  static listed = /responses$/;
  static about = { title: "As a coding client", text: "What Codex, Copilot’s command line and the AI SDK send and read: items, reasoning, function calls." };

  constructor(mount, page) {
    super(mount, page, [{ type: "function", ...WEATHER, strict: false }]);
  }

  ask(text) {
    this.messages.push({ type: "message", role: "user", content: text });
    return this.rounds();
  }

  request() {
    return {
      model: this.chosen || "playground",
      ...(this.system && { instructions: this.system }),
      input: this.messages,
      stream: true,
      store: false,
      ...this.offer(),
    };
  }

  async round() {
    const items = [];
    let [expected, text, ended] = [0, "", false];
    await this.stream((data, name) => {
      if (ended) return;
      if (data.type !== name) this.odd(`its type is ${asText(data.type)}`);
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
    }, this.request());
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
    if (usage?.total_tokens > 0) this.counted(usage.input_tokens, usage.output_tokens);
    if (details) this.answer.notice(`The answer ended early: ${asText(details.reason)}.`);
  }

  async #output({ call_id, name, arguments: text }) {
    return { type: "function_call_output", call_id, output: asText(await this.result(name, parsed(text || "{}") ?? text)) };
  }
}

addFront("responses", ResponsesFront, {
  "response.output_text.delta": { kind: "text", gist: (value) => asText(value?.delta) },
  "response.reasoning_summary_text.delta": { kind: "status", gist: (value) => asText(value?.delta) },
  "response.output_text.annotation.added": { kind: "source", gist: (value) => asText(value?.annotation?.title) },
  "response.function_call_arguments.done": { kind: "call", gist: (value) => `${asText(value?.name)} ${asText(value?.arguments)}` },
  "response.completed": { kind: "done" },
  "response.incomplete": { kind: "done" },
  "response.failed": { kind: "error", gist: (value) => asText(value?.response?.error?.message) },
});
