// Emulates a page with the AI SDK.

class UiStreamFront extends Front {
  static label = "AI SDK page";

  constructor(mount, page) {
    super(mount, page);
    this.conversation = crypto.randomUUID();
    this.ids = 0;
    this.extra = {};
    this.strict = false;
    this.offered = true;
  }

  intro() {
    return {
      title: "As a web page on the AI SDK",
      text: "What a page with useChat sends and reads: blocks, steps, tools of the page, approvals, data.",
      prompts: ["What happens when a client disconnects?", "Show me a table", "Delete the draft, but ask me first"],
    };
  }

  settings() {
    const body = jsonField("Body", this.extra, (value) => (this.extra = value), "joins every request");
    return [fieldGroup("Requests", body)];
  }

  chips() {
    return [
      toolsChip(this),
      { label: "Version 5.0.0", pressed: this.strict, title: "Refuse what the strictest version refuses", toggle: () => (this.strict = !this.strict) },
    ];
  }

  async ask(text) {
    this.messages.push({ id: this.#id(), role: "user", parts: [{ type: "text", text }] });
    await this.rounds();
  }

  #id() {
    this.ids += 1;
    return `id-${this.ids}`;
  }

  request() {
    const last = this.messages.at(-1);
    const { name, ...tool } = WEATHER;
    const continued = last.role === "assistant" && { messageId: last.id };
    return { id: this.conversation, messages: this.messages, trigger: "submit-message", ...continued, ...(this.offered && { tools: { [name]: tool } }), ...this.extra };
  }

  async round() {
    const last = this.messages.at(-1);
    const message = last.role === "assistant" ? structuredClone(last) : { id: this.#id(), role: "assistant", parts: [] };
    const reply = { message, open: new Map(), sources: [], over: false };
    try {
      await this.stream((chunk) => this.#chunk(chunk, reply), this.request());
      if (reply.sources.length > 0) this.answer.sources("Sources", reply.sources);
      if (!reply.over) this.answer.notice("The stream ended without finish: a page takes this for a whole answer.");
    } finally {
      // `message` is a copy of the continued message with the additions of this reply, and replaces it.
      if (last.role === "assistant") this.messages.pop();
      if (message.parts.length > 0) this.messages.push(message);
    }
    return this.#then(message);
  }

  #chunk(chunk, reply) {
    const { parts } = reply.message;
    const type = asText(chunk.type);
    const tool = () => parts.findLast(({ toolCallId }) => toolCallId === chunk.toolCallId) ?? this.#refuse(`there is no call ${asText(chunk.toolCallId)}`);
    const block = () => reply.open.get(`${type.split("-")[0]} ${chunk.id}`) ?? this.#refuse(`the block ${asText(chunk.id)} is not open`);
    const allowed = UI_CHUNKS.get(type) ?? (type.startsWith("data-") ? ["id", "data", "transient"] : null);
    if (allowed === null) this.#refuse(`the type ${type} is not known`);
    const odd = Object.keys(chunk).find((name) => name !== "type" && !allowed.includes(name));
    // Version 5.0.0 checks chunks against strict schemas: one unknown member fails the whole reply.
    if (this.strict && (odd || UI_LATER.includes(type))) this.#refuse(odd ? `the member ${odd} is not known in 5.0.0` : `the type ${type} is not known in 5.0.0`);
    if (type === "start") reply.message.id = chunk.messageId ?? reply.message.id;
    else if (type === "start-step") parts.push({ type: "step-start" });
    else if (type === "text-start" || type === "reasoning-start") {
      const kind = type.split("-")[0];
      const part = { type: kind, text: "", state: "streaming" };
      parts.push(part);
      reply.open.set(`${kind} ${chunk.id}`, part);
      // Every block of text is shown separately.
      this.answer.break();
    } else if (type === "text-delta") {
      block().text += asText(chunk.delta);
      this.answer.text(asText(chunk.delta));
    } else if (type === "reasoning-delta") block().text += asText(chunk.delta);
    else if (type === "text-end" || type === "reasoning-end") block().state = "done";
    else if (type.startsWith("source-")) {
      parts.push(chunk);
      reply.sources.push({ name: asText(chunk.title), url: asText(chunk.url) });
    } else if (type === "tool-input-available") {
      const { toolCallId, toolName, input, dynamic, providerExecuted } = chunk;
      const name = dynamic ? { type: "dynamic-tool", toolName } : { type: `tool-${asText(toolName)}` };
      parts.push({ ...name, toolCallId, state: "input-available", input, ...(providerExecuted && { providerExecuted }) });
    } else if (type === "tool-output-available") Object.assign(tool(), { state: "output-available", output: chunk.output });
    else if (type === "tool-output-error") Object.assign(tool(), { state: "output-error", errorText: chunk.errorText });
    else if (type === "tool-output-denied") tool().state = "output-denied";
    else if (type === "tool-approval-request") Object.assign(tool(), { state: "approval-requested", approval: { id: chunk.approvalId } });
    else if (type.startsWith("data-")) this.#data(type.slice(5), chunk, parts);
    else if (type === "error") throw new Broken(asText(chunk.errorText));
    else if (type === "finish" || type === "abort") reply.over = true;
  }

  #refuse(why) {
    throw new Broken(`This page fails the reply: ${why}.`);
  }

  #data(name, chunk, parts) {
    if (!chunk.transient) parts.push(chunk);
    const { data } = chunk;
    if (name === "status" && this.object(data, "data")) {
      const details = this.objects(data.details ?? [], "details").map((each) => ({ [asText(each.name)]: each.value }));
      this.answer.step({ level: asText(data.level).toUpperCase(), message: asText(data.message), details });
    } else if (name === "chart" && this.object(data, "data")) {
      const { kind, x, y, angle, label, rows, ...rest } = data;
      const chart_params = { chartType: kind, xKey: x, yKey: y, angleKey: angle, calloutLabelKey: label };
      this.answer.put(artifactView({ ...rest, type: "chart", content: rows, chart_params }));
    }
  }

  /** Runs the tools of the last step and asks its questions. Returns `true` to post again. */
  async #then({ parts }) {
    const step = parts.slice(parts.findLastIndex(({ type }) => type === "step-start") + 1);
    for (const part of step.filter(({ state, providerExecuted }) => state === "input-available" && !providerExecuted)) {
      const name = part.toolName ?? part.type.slice(5);
      part.output = await this.result(name, part.input, "The page runs this tool: write its result.");
      part.state = "output-available";
    }
    const asked = step.filter(({ state }) => state === "approval-requested");
    if (asked.length > 0) {
      for (const part of asked) this.#ask(part);
      return false;
    }
    return step.some(({ state }) => state?.startsWith("output-")) && step.every(({ state }) => !state || state.startsWith("output-") || state === "done");
  }

  #ask(part) {
    const { title, message } = part.input ?? {};
    this.answer.confirm({ title: asText(title), message: asText(message) }, (approved) => {
      Object.assign(part, { state: "approval-responded", approval: { ...part.approval, approved } });
      this.queue(() => this.rounds());
    });
  }
}

const UI_LATER = ["tool-approval-request", "tool-output-denied", "tool-input-error"];

/** The members of every chunk beside its type. */
const UI_CHUNKS = new Map(
  Object.entries({
    start: "messageId messageMetadata",
    "start-step": "",
    "text-start": "id providerMetadata",
    "text-delta": "id delta providerMetadata",
    "text-end": "id providerMetadata",
    "reasoning-start": "id providerMetadata",
    "reasoning-delta": "id delta providerMetadata",
    "reasoning-end": "id providerMetadata",
    "source-url": "sourceId url title providerMetadata",
    "source-document": "sourceId mediaType title filename providerMetadata",
    file: "url mediaType providerMetadata",
    "tool-input-start": "toolCallId toolName providerExecuted dynamic",
    "tool-input-delta": "toolCallId inputTextDelta",
    "tool-input-available": "toolCallId toolName input providerExecuted providerMetadata dynamic",
    "tool-input-error": "toolCallId toolName input errorText providerExecuted providerMetadata dynamic",
    "tool-output-available": "toolCallId output providerExecuted dynamic",
    "tool-output-error": "toolCallId errorText providerExecuted dynamic",
    "tool-approval-request": "approvalId toolCallId",
    "tool-output-denied": "toolCallId",
    "message-metadata": "messageMetadata",
    "finish-step": "",
    finish: "messageMetadata",
    error: "errorText",
    abort: "",
  }).map(([type, names]) => [type, names.split(" ")]),
);

addFront("ui-stream", UiStreamFront, {
  "text-delta": { kind: "text", gist: (value) => asText(value.delta) },
  "reasoning-delta": { kind: "text", gist: (value) => asText(value.delta) },
  "data-status": { kind: "status", gist: (value) => asText(value.data?.message) },
  "source-url": { kind: "citation", gist: (value) => asText(value.title) || asText(value.url) },
  "tool-input-available": { kind: "call", gist: (value) => `${asText(value.toolName)} ${asText(value.input)}` },
  "tool-approval-request": { kind: "call", gist: (value) => asText(value.approvalId) },
  error: { kind: "error", gist: (value) => asText(value.errorText) },
  finish: { kind: "done", gist: () => "" },
});
