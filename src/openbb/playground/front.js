// Plays the OpenBB Workspace.

class OpenBbFront extends Front {
  static label = "OpenBB";

  constructor(mount, page) {
    super(mount, page);
    this.workspace = new Workspace();
    this.form = "2026";
    this.review = false;
    this.options = {};
    this.first = below("/agents.json");
    this.ready = this.#describe();
  }

  intro() {
    return {
      title: "As the OpenBB Workspace",
      text: "Sample widgets lie on the dashboard. Put one in context, ask about it, and the agent may call for its data.",
      prompts: ["What do the AAPL prices say?", "Summarise the company news", "Delete the dashboard, but ask me first"],
    };
  }

  forget() {
    super.forget();
    this.trace = uuid();
    this.artifacts = [];
  }

  /** Reads the descriptor of the agent, as the Workspace does when the agent is added. */
  async #describe() {
    try {
      const response = await fetch(this.first, { credentials: "omit" });
      const agents = Object.entries(await response.json());
      // A descriptor may list several agents: the one of this path is told by its query endpoint.
      const [id, entry] = agents.find(([, { endpoints }]) => asText(endpoints?.query).endsWith(this.route)) ?? agents[0] ?? [];
      if (!entry) return;
      this.id = id;
      this.agent = asText(entry.name) || id;
      this.features = { ...entry.features };
      if (typeof entry.hasFunctionCalling === "boolean") {
        for (const key of WIDGET_FEATURES) this.features[key] = entry.hasFunctionCalling;
      }
      for (const [key, feature] of Object.entries(this.features)) {
        if (BUILT_IN.has(key)) continue;
        const start = isObject(feature) ? feature.default : feature;
        if (start !== undefined && start !== false && start !== "") this.options[key] = start;
      }
      this.page.changed();
    } catch {
      // An agent without a descriptor is offered everything.
    }
  }

  /** Returns `true` if the descriptor asks for a feature. Without a descriptor all are wanted. */
  wants(feature) {
    return this.features === undefined || Boolean(this.features[feature]);
  }

  chips() {
    return this.workspace.widgets
      .filter(({ tier }) => tier !== "off")
      .map((entry) => ({
        label: entry.widget.name,
        pressed: entry.tier === "primary",
        title: entry.tier === "primary" ? "In context: click to take it out" : "On the dashboard: click to put it in context",
        toggle: () => (entry.tier = entry.tier === "primary" ? "secondary" : "primary"),
      }));
  }

  settings() {
    const { workspace } = this;
    const tiers = [["primary", "In context"], ["secondary", "On the dashboard"], ["extra", "Known, not on the dashboard"], ["off", "Not there"]];
    const widgets = workspace.widgets.map((entry) =>
      el("div", { class: "widget" },
        selectField(entry.widget.name, entry.tier, tiers, (tier) => ((entry.tier = tier), this.page.changed())),
        jsonField("Widget", entry.widget, (value) => isObject(value) && ((entry.widget = value), this.page.changed())),
        jsonField("Data", entry.data, (value) => (entry.data = value), "rows, or a text")));
    const forms = Object.entries(FORMS).map(([key, { label }]) => [key, label]);
    return [
      fieldGroup("Requests",
        selectField("Form", this.form, forms, (form) => (this.form = form), "what the Workspace sent in that year"),
        toggleField("Look at results before they are sent", this.review, (on) => (this.review = on))),
      this.#custom(),
      fieldGroup("Widgets", ...widgets),
      fieldGroup("Tools", jsonField("MCP tools", workspace.tools, (value) => (workspace.tools = asArray(value)), this.wants("mcp-tools") ? "" : "the descriptor does not ask for them")),
    ];
  }

  /** Returns the controls that the descriptor declares. */
  #custom() {
    const own = Object.entries(this.features ?? {}).filter(([key, value]) => !BUILT_IN.has(key) && isObject(value));
    const fields = own.map(([key, { label, type, options, description }]) => {
      const set = (value) => (this.options[key] = value);
      const title = asText(label) || key;
      const now = this.options[key];
      if (type === "text") return textField(title, asText(now), set, asText(description));
      if (type === "select") return selectField(title, asText(now), asArray(options).map((each) => [asText(each.value), asText(each.label)]), set, asText(description));
      return toggleField(title, now === true, set, asText(description));
    });
    return fields.length > 0 && fieldGroup("Controls of the agent", ...fields);
  }

  async ask(text) {
    const content = text.replaceAll("\u00a0", " ").replaceAll("\u2011", "-");
    this.messages.push({ role: "human", content });
    this.calls = 0;
    await this.query(true);
  }

  /** Sends one request and reads its stream. A call in it leads to the next request. */
  async query(first) {
    let text = "";
    const close = () => {
      if (text !== "") this.messages.push({ role: "ai", content: text, agent_id: this.id });
      text = "";
      this.answer.break();
    };
    try {
      for await (const event of this.post(this.request(first), { "x-trace-id": this.trace })) {
        await this.take(event, async (value) => {
          if (!this.object(value, "data")) return;
          switch (event.name) {
            case "copilotMessageChunk":
              text += asText(value.delta);
              this.answer.text(asText(value.delta));
              break;
            case "copilotStatusUpdate":
              close();
              this.#status(value);
              break;
            case "copilotMessageArtifact":
              // Later requests have the artifact as context; its name marks its position in the text.
              text += `<|start_artifact_id|>${asText(value.name)}<|end_artifact_id|>`;
              this.artifacts.push(value);
              this.answer.put(artifactView(value));
              break;
            case "copilotCitationCollection": {
              const citations = this.objects(value.citations ?? [], "citations");
              text += citations.filter(({ id }) => id).map(({ id }) => `<|start_citation_id|>${asText(id)}<|end_citation_id|>`).join("");
              this.#cite(citations);
              break;
            }
            case "copilotPromptSuggestions":
              this.answer.suggest(asArray(value.suggestions).map(asText));
              break;
            case "copilotFunctionCall":
              close();
              await this.#call(value);
              break;
            default:
              this.answer.notice("The Workspace skips an event that it does not know:", "quiet", event.name || "(no name)");
          }
        });
      }
    } finally {
      close();
    }
  }

  #status({ eventType, message, details, artifacts, hidden }) {
    if (eventType === "ERROR") {
      // Meant for a context overflow: the latest call and its result are deleted.
      const at = this.messages.findLastIndex(({ role }) => role === "tool");
      if (at > 0) this.messages.splice(at - 1, 2);
    }
    if (hidden === true) return;
    this.answer.step({ level: asText(eventType), message: asText(message), details: asArray(details), artifacts: this.objects(artifacts ?? [], "artifacts") });
  }

  #cite(citations) {
    const sources = citations.map(({ id, source_info: source, details, quote_bounding_boxes: quotes }) => {
      const info = isObject(source) ? source : {};
      if (!id) this.answer.notice("The Workspace does not show a citation that has no id.");
      const known = this.workspace.find(info.uuid ?? info.metadata?.widget_uuid, info.origin, info.widget_id);
      const name = asText(info.name) || known?.widget.name || asText(info.widget_id) || asText(info.origin);
      const args = Object.entries(info.metadata?.input_args ?? {}).map(([key, value]) => `${key} ${asText(value)}`);
      const rows = asArray(details).filter(isObject);
      const texts = asArray(quotes).map((boxes) => asArray(boxes).map((box) => asText(box?.text)).join(" "));
      const body = [rows.length > 0 && tableView(rows), ...texts.map((text) => el("blockquote", {}, text))].filter(Boolean);
      return { name, url: info.type === "web" ? asText(info.name) : "", about: [asText(info.type), ...args].join(" · "), body: body.length > 0 ? body : null };
    });
    if (sources.length > 0) this.answer.sources("Citations", sources);
  }

  /** Runs a function and posts again with its result. */
  async #call({ function: name, input_arguments: args, extra_state: state }) {
    if (typeof name !== "string" || !isObject(args)) throw new Broken("The Workspace fails the turn: the call has no function or no arguments.");
    this.calls += 1;
    if (this.calls > MOST_CALLS) throw new Broken(`Stopped after ${MOST_CALLS} calls in one turn.`);
    const result = this.workspace.run(name, args);
    const unknown = result === undefined && "The Workspace that this page knows has no such function, and would fail the turn. You can answer it all the same.";
    const why = unknown || (this.review ? "Change it if you like; it goes out as the result." : "");
    const data = await callCard(this.answer, { name, args, result: result ?? [{ status: "success", message: "Done" }], why }, this.abort.signal);
    this.page.changed();
    const own = name === "get_widget_data" ? {} : { copilotId: this.id, timestamp: Date.now(), isHidden: true };
    const content = JSON.stringify({ function: name, input_arguments: args });
    // The page still shows the call; only the request leaves it out.
    const lost = name === "get_widget_data" && !(isObject(state) && Object.keys(state).length > 0);
    if (lost) this.answer.notice("The Workspace leaves this result out of the next request, because the call has no extra_state.");
    this.messages.push({ role: "ai", content, ...own, lost });
    this.messages.push({ role: "tool", function: name, input_arguments: args, data, extra_state: state, ...own, lost });
    await this.query(false);
  }

  /** Returns the request as the Workspace would send it now. */
  request(first) {
    const { workspace } = this;
    const messages = this.messages.filter(({ lost }) => !lost).map(({ lost, ...message }) => message);
    const tiers = workspace.tiers((tier) => this.wants(WIDGET_FEATURES[["primary", "secondary", "extra"].indexOf(tier)]));
    const options = Object.fromEntries(Object.entries(this.options).filter(([, value]) => value !== false && value !== ""));
    if (tiers.extra.length > 0) options["widget-global-search"] = true;
    const request = {
      messages,
      context: this.artifacts.filter(({ type }) => type !== "app").map(asContext),
      widgets: tiers,
      urls: [],
      api_keys: {},
      ...(first && { timezone: Intl.DateTimeFormat().resolvedOptions().timeZone, workspace_state: workspace.state() }),
      workspace_options: options,
      tools: this.wants("mcp-tools") ? workspace.tools : [],
    };
    return FORMS[this.form].shape(request);
  }
}

const WIDGET_FEATURES = ["widget-dashboard-select", "widget-dashboard-search", "widget-global-search"];
const BUILT_IN = new Set([...WIDGET_FEATURES, "streaming", "file-upload", "generative-ui", "mcp-tools", "agent-orchestration", "feedback"]);

/** An artifact of this chat as it goes back to the agent. */
function asContext({ uuid: id, name, description, type, content, chart_params, query_data_source }) {
  const data_format = { data_type: "object", parse_as: type, chart_params, query_data_source };
  return { uuid: id, name, description, data: { items: [{ content: JSON.stringify(content), data_format }] } };
}

addFront("openbb", OpenBbFront, {
  copilotMessageChunk: { kind: "text", gist: (value) => asText(value?.delta) },
  copilotStatusUpdate: { kind: "status" },
  copilotMessageArtifact: { kind: "artifact", gist: (value) => `${asText(value?.type)} · ${asText(value?.name)}` },
  copilotCitationCollection: {
    kind: "source",
    gist: (value) => asArray(value?.citations).map((citation) => asText(citation?.source_info?.name ?? citation?.source_info?.widget_id)).join(" · "),
  },
  copilotPromptSuggestions: { kind: "source", gist: (value) => asArray(value?.suggestions).map(asText).join(" · ") },
  copilotFunctionCall: { kind: "call", gist: (value) => `${asText(value?.function)} ${asText(value?.input_arguments)}` },
});
