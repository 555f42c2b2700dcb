// Emulates a client of MCP, such as a coding client that calls a tool.

class McpFront extends Front {
  static label = "MCP client";

  constructor(mount, page) {
    super(mount, page);
    this.ids = 0;
    this.handle = "";
    this.dialogs = true;
    const { body, headers } = this.#message("tools/list", {});
    const options = { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
    this.ready = this.list(this.path, options, ({ result }) => asArray(result?.tools).map(({ name }) => name));
  }

  intro() {
    return {
      title: "As an MCP client",
      text: "What a program that calls tools sends and reads: progress, one result, questions of the tool.",
      prompts: ["What happens when a client disconnects?", "Show me a table", "Delete the draft, but ask me first"],
    };
  }

  forget() {
    super.forget();
    this.handle = "";
  }

  chips() {
    return [{ label: "Dialogs", pressed: this.dialogs, title: "Show questions of the tool as dialogs", toggle: () => (this.dialogs = !this.dialogs) }];
  }

  settings() {
    return [fieldGroup("Requests", this.nameField("Tool"))];
  }

  /** Returns a request of the version without sessions, and its headers. */
  #message(method, params) {
    this.ids += 1;
    const id = this.ids;
    const meta = {
      "io.modelcontextprotocol/protocolVersion": MCP_VERSION,
      "io.modelcontextprotocol/clientInfo": { name: "playground", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": this.dialogs ? { elicitation: { form: {} } } : {},
      progressToken: id,
    };
    return {
      body: { jsonrpc: "2.0", id, method, params: { ...params, _meta: meta } },
      headers: { accept: "application/json, text/event-stream", "mcp-protocol-version": MCP_VERSION, "mcp-method": method, ...(params.name && { "mcp-name": params.name }) },
    };
  }

  ask(text) {
    return this.#call({ question: text, ...(this.handle && { conversation: this.handle }) }, {});
  }

  request() {
    return this.#message("tools/call", { name: this.chosen || "ask", arguments: { question: "" } }).body;
  }

  async #call(args, more) {
    const { body, headers } = this.#message("tools/call", { name: this.chosen || "ask", arguments: args, ...more });
    let result = null;
    await this.stream((message) => {
      // Events after the result are discarded.
      if (result) return;
      if (message.error) throw new Broken(asText(message.error.message));
      if (message.method === "notifications/progress") {
        const text = asText(message.params?.message);
        if (text) this.answer.step({ message: text });
      } else if (message.id === body.id && this.object(message.result, "result")) {
        result = message.result;
      }
    }, body, headers);
    if (!result) throw new Broken("The stream ended without the result: most clients wait for minutes.");
    if (result.resultType === "input_required") this.#question(args, result);
    else this.#show(result);
  }

  #show(result) {
    const parts = this.objects(result.content ?? [], "content");
    for (const { type, text } of parts) {
      if (type !== "text") this.answer.notice(`A part of the type ${asText(type)}: few clients show it.`);
      else if (result.isError) this.answer.notice("The call failed:", "warning", asText(text));
      else this.answer.text(asText(text));
    }
    if (result.structuredContent !== undefined) this.answer.notice("structuredContent: Claude Code and Codex show their model nothing else.");
    const texts = parts.map(({ text }) => asText(text)).join("\n");
    this.handle = texts.match(/`conversation`: "([^"]+)"/)?.[1] ?? this.handle;
  }

  #question(args, { inputRequests, requestState }) {
    for (const [key, { params } = {}] of Object.entries(inputRequests ?? {})) {
      this.answer.confirm({ title: "The tool asks", message: asText(params?.message) }, (accepted) => {
        const action = accepted ? "accept" : "decline";
        this.queue(() => this.#call(args, { inputResponses: { [key]: { action, ...(accepted && { content: {} }) } }, requestState }));
      });
    }
  }
}

const MCP_VERSION = "2026-07-28";

addFront("mcp", McpFront);
