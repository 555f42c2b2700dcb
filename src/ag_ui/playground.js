// Emulates an AG-UI app.

class AgUiFront extends Front {
  static label = "AG-UI app";

  constructor(mount, page) {
    super(mount, page);
    this.conversation = crypto.randomUUID();
    this.runs = 0;
    this.state = {};
    this.props = {};
    this.context = [];
    this.resume = [];
    this.tools = [WEATHER];
    this.offered = true;
  }

  intro() {
    return {
      title: "As an AG-UI app",
      text: "What CopilotKit and other apps with @ag-ui/client send and read: messages, steps, reasoning, tools, shared state, interrupts.",
      prompts: ["What happens when a client disconnects?", "Show me a table", "Delete the draft, but ask me first"],
    };
  }

  settings() {
    const state = jsonField("State", this.state, (value) => (this.state = value), "shared with the agent");
    const context = jsonField("Context", this.context, (value) => (this.context = asArray(value)), "[{ description, value }]");
    const props = jsonField("Forwarded properties", this.props, (value) => (this.props = value));
    return [fieldGroup("Requests", toolsField(this), state, context, props)];
  }

  chips() {
    return [toolsChip(this)];
  }

  forget() {
    super.forget();
    this.resume = [];
    this.waiting = [];
  }

  async ask(text) {
    this.messages.push({ id: crypto.randomUUID(), role: "user", content: text });
    // The client starts no run without an answer to every interrupt.
    this.resume = this.waiting.map(({ id }) => ({ interruptId: asText(id), status: "cancelled" }));
    await this.rounds();
  }

  request() {
    const { conversation: threadId, state, messages, context, props: forwardedProps, resume } = this;
    const tools = this.offered ? this.tools : [];
    this.runs += 1;
    return { threadId, runId: `run-${this.runs}`, state, messages, tools, context, forwardedProps, ...(resume.length > 0 && { resume }) };
  }

  /** Performs one run. */
  async round() {
    const run = { started: false, over: false, open: new Set(), calls: [], sources: [] };
    const request = this.request();
    this.resume = [];
    this.waiting = [];
    await this.stream((event) => this.#event(event, run), request);
    if (run.sources.length > 0) this.answer.sources("Sources", run.sources);
    if (!run.over) this.answer.notice("The stream ended without RUN_FINISHED: an app takes this for a whole answer.");
    for (const interrupt of this.waiting) this.#ask(interrupt);
    for (const { id, function: { name, arguments: text } } of run.calls) {
      const result = await this.result(name, parsed(text || "{}") ?? text, "The app runs this tool: write its result.");
      this.messages.push({ id: crypto.randomUUID(), role: "tool", toolCallId: id, content: asText(result) });
    }
    return run.calls.length > 0;
  }

  #refuse(why) {
    throw new Broken(`This app fails the run: ${why}.`);
  }

  /** Checks the order of events as the client does. */
  #verify(type, event, run) {
    if (run.over) this.#refuse(`${type} after the end of the run`);
    if (!run.started && type !== "RUN_STARTED" && type !== "RUN_ERROR") this.#refuse(`${type} before RUN_STARTED`);
    if (type === "RUN_STARTED" && run.started) this.#refuse("a second RUN_STARTED");
    const [family, name, role] = AG_UI_SPANS.get(type) ?? [];
    if (family) {
      const key = `${family} ${asText(event[name])}`;
      if (role === "start" && run.open.has(key)) this.#refuse(`${key} is open already`);
      if (role !== "start" && !run.open.has(key)) this.#refuse(`${key} is not open`);
      if (role === "start") run.open.add(key);
      if (role === "end") run.open.delete(key);
    }
    if (type === "RUN_FINISHED" && run.open.size > 0) this.#refuse(`${[...run.open].join(", ")} is open at the end`);
    // The client's schemas have optional members but no nullable ones, except those that hold any
    // JSON.
    const odd = Object.keys(event).find((key) => event[key] === null && !["snapshot", "value", "event"].includes(key));
    if (odd) this.#refuse(`${odd} is null`);
  }

  #message(id, role) {
    let message = this.messages.find((each) => each.id === id);
    if (!message) this.messages.push((message = { id, role, content: "" }));
    return message;
  }

  #event(event, run) {
    const type = asText(event.type);
    const delta = asText(event.delta);
    this.#verify(type, event, run);
    if (type === "RUN_STARTED") run.started = true;
    else if (type === "TEXT_MESSAGE_START") {
      this.#message(event.messageId, event.role ?? "assistant");
      // Every message is shown separately.
      this.answer.break();
    } else if (type === "TEXT_MESSAGE_CONTENT") {
      this.#message(event.messageId, "assistant").content += delta;
      this.answer.text(delta);
    } else if (type === "REASONING_MESSAGE_CONTENT") {
      const message = this.#message(event.messageId, "reasoning");
      message.content += delta;
    } else if (type === "REASONING_MESSAGE_END") this.answer.step({ message: this.#message(event.messageId, "reasoning").content });
    else if (type === "STEP_STARTED") {
      const { level = "info", details = [] } = event.metadata ?? {};
      const shown = asArray(details).map((each) => ({ [asText(each?.name)]: each?.value }));
      this.answer.step({ level: asText(level).toUpperCase(), message: asText(event.stepName), details: shown });
    } else if (type === "TOOL_CALL_START") {
      const call = { id: event.toolCallId, type: "function", function: { name: asText(event.toolCallName), arguments: "" } };
      const message = this.#message(event.parentMessageId ?? event.toolCallId, "assistant");
      message.toolCalls = [...(message.toolCalls ?? []), call];
      run.calls.push(call);
    } else if (type === "TOOL_CALL_ARGS") run.calls.find(({ id }) => id === event.toolCallId).function.arguments += delta;
    else if (type === "TOOL_CALL_RESULT") this.#result(event, run);
    else if (type === "STATE_SNAPSHOT") this.state = event.snapshot;
    else if (type === "STATE_DELTA") this.state = patched(this.state, this.objects(event.delta, "delta"));
    else if (type === "MESSAGES_SNAPSHOT") this.messages = this.objects(event.messages, "messages");
    else if (type === "ACTIVITY_SNAPSHOT" && this.object(event.content, "content")) this.#activity(asText(event.activityType), event.content);
    else if (type === "CUSTOM" && event.name === "citations") {
      run.sources = this.objects(event.value, "value").map(({ title, url }) => ({ name: asText(title), url: asText(url) }));
    } else if (type === "RUN_ERROR") {
      run.over = true;
      throw new Broken(asText(event.message));
    } else if (type === "RUN_FINISHED") {
      run.over = true;
      this.waiting = event.outcome?.type === "interrupt" ? this.objects(event.outcome.interrupts, "interrupts") : [];
      const [usage] = asArray(event.usage);
      this.counted(usage?.inputTokens, usage?.outputTokens);
    } else if (!AG_UI_SPANS.has(type) && !AG_UI_OTHERS.includes(type)) this.#refuse(`the type ${type} is not known`);
  }

  /** A tool that the agent ran. */
  #result({ messageId, toolCallId, content, metadata }, run) {
    const at = run.calls.findIndex(({ id }) => id === toolCallId);
    if (at < 0) this.odd(`there is no call ${asText(toolCallId)}`);
    // The app does not run a call that has a result.
    const [call] = at < 0 ? [] : run.calls.splice(at, 1);
    this.messages.push({ id: messageId, role: "tool", toolCallId, content, ...(metadata && { metadata }) });
    const details = [{ Arguments: call?.function.arguments ?? "", Result: asText(content) }];
    this.answer.step({ level: metadata?.failed ? "WARNING" : "INFO", message: `Ran ${call?.function.name ?? "a tool"}`, details });
  }

  #activity(type, content) {
    if (type !== "chart") return;
    const { kind, x, y, angle, label, rows, ...rest } = content;
    const chart_params = { chartType: kind, xKey: x, yKey: y, angleKey: angle, calloutLabelKey: label };
    this.answer.put(artifactView({ ...rest, type: "chart", content: rows, chart_params }));
  }

  #ask(interrupt) {
    const { title = interrupt.reason, message = interrupt.message, data } = interrupt.metadata ?? {};
    this.answer.confirm({ title: asText(title), message: asText(message) }, (accepted) => {
      this.waiting = this.waiting.filter((each) => each !== interrupt);
      this.resume.push({ interruptId: interrupt.id, status: "resolved", payload: { accepted, ...(data && { data }) } });
      // One run answers all interrupts.
      if (this.waiting.length === 0) this.queue(() => this.rounds());
    });
  }
}

/** Applies JSON Patch operations to a copy of a value. */
function patched(value, operations) {
  const root = { "": structuredClone(value) };
  const place = (path) => {
    const keys = asText(path).split("/").map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
    const last = keys.pop();
    const holder = keys.reduce((at, key) => at?.[key], keys.length > 0 ? root : undefined) ?? root;
    return [holder, keys.length > 0 ? last : ""];
  };
  const add = ([holder, key], added) => {
    if (Array.isArray(holder)) holder.splice(key === "-" ? holder.length : Number(key), 0, added);
    // Not an assignment, which for a key such as `__proto__` would change the prototype.
    else Object.defineProperty(holder, key, { value: added, enumerable: true, configurable: true, writable: true });
  };
  const remove = ([holder, key]) => {
    const removed = holder[key];
    if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else delete holder[key];
    return removed;
  };
  const read = ([holder, key]) => structuredClone(holder[key]);
  for (const { op, path, from, value: given } of operations) {
    const at = place(path);
    if (op === "add") add(at, given);
    else if (op === "remove") remove(at);
    else if (op === "replace") at[0][at[1]] = given;
    else if (op === "move") add(at, remove(place(from)));
    else if (op === "copy") add(at, read(place(from)));
    else if (op !== "test") throw new Broken(`This app fails the run: the operation ${asText(op)} is not known.`);
  }
  return root[""];
}

/** The effect of events on messages, calls and steps: the family, the member with the id, the role. */
const AG_UI_SPANS = new Map(
  Object.entries({
    TEXT_MESSAGE_START: "text messageId start",
    TEXT_MESSAGE_CONTENT: "text messageId piece",
    TEXT_MESSAGE_END: "text messageId end",
    TOOL_CALL_START: "call toolCallId start",
    TOOL_CALL_ARGS: "call toolCallId piece",
    TOOL_CALL_END: "call toolCallId end",
    STEP_STARTED: "step stepName start",
    STEP_FINISHED: "step stepName end",
    REASONING_START: "span messageId start",
    REASONING_END: "span messageId end",
    REASONING_MESSAGE_START: "reasoning messageId start",
    REASONING_MESSAGE_CONTENT: "reasoning messageId piece",
    REASONING_MESSAGE_END: "reasoning messageId end",
  }).map(([type, words]) => [type, words.split(" ")]),
);

const AG_UI_OTHERS = ["ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA", "CUSTOM", "RAW", "REASONING_ENCRYPTED_VALUE", "SUBAGENT_STARTED", "SUBAGENT_FINISHED", "SUBAGENT_ERROR"];

addFront("ag-ui", AgUiFront);
