// The emulated dashboard, and the functions that agents call on it.

class Workspace {
  constructor() {
    this.widgets = structuredClone(SAMPLE_WIDGETS);
    this.tools = structuredClone(SAMPLE_TOOLS);
    this.dashboard = uuid();
  }

  /** Finds a widget by its uuid, or else by its origin and id. */
  find(id, origin, widget) {
    const byUuid = id && this.widgets.find((entry) => entry.widget.uuid === id);
    return byUuid || this.widgets.find((entry) => entry.widget.origin === origin && entry.widget.widget_id === widget);
  }

  tiers(allowed) {
    const of = (tier) => (allowed(tier) ? this.widgets.filter((entry) => entry.tier === tier).map(({ widget }) => widget) : []);
    return { primary: of("primary"), secondary: of("secondary"), extra: of("extra") };
  }

  state() {
    const shown = this.widgets.filter(({ tier }) => tier === "primary" || tier === "secondary");
    const widgets = shown.map(({ widget }) => ({ widget_uuid: widget.uuid, name: widget.name }));
    return {
      current_dashboard_uuid: this.dashboard,
      current_dashboard_info: { id: this.dashboard, name: "Playground", current_tab_id: "overview", tabs: [{ tab_id: "overview", widgets }] },
      current_page_context: "dashboard",
    };
  }

  /** Returns the result of a function, or `undefined` for one that the Workspace does not have. */
  run(name, args) {
    const sources = asArray(args.data_sources).filter(isObject);
    switch (name) {
      case "get_widget_data":
      case "get_extra_widget_data":
        return named(args, sources).map((source) => this.#data(source));
      case "get_params_options":
        return asArray(args.param_options_queries).map((query) => this.#options(query));
      case "add_widget_to_dashboard":
        return sources.map((source) => this.#add(source));
      case "update_widget_in_dashboard":
        return sources.map((source) => this.#update(source));
      case "add_generative_widget":
        return [this.#generate(args)];
      case "execute_agent_tool":
        return [{ items: [{ content: JSON.stringify([`Result of ${asText(args.tool_name)} with ${JSON.stringify(args.parameters ?? {})}`], null, 2) }], extra_citations: [] }];
      case "assign_tasks_to_agents":
        return asArray(args.task_requests).map((task) => ({ status: "success", message: `Done: ${asText(task?.description)}` }));
      case "manage_navigation_bar":
        return [{ status: "success", message: "Navigation bar updated" }];
      case "get_skill_content":
        return [{ status: "success", data: { skill: { slug: asText(args.slug), description: "A sample skill", contentMarkdown: "# Sample skill\n\nAnswer in one sentence.", source: "model_selected" } } }];
      case "save_skill":
        return [{ status: "success", message: "Skill saved" }];
      default:
        return undefined;
    }
  }

  #data({ widget_uuid: id, origin, id: widget, input_args: given }) {
    const entry = this.find(id, origin, widget);
    if (!entry || entry.tier === "off") return { error_type: "not_found", content: `Widget ${asText(widget) || asText(id)} not found` };
    if (typeof entry.data === "string") {
      return { items: [{ content: entry.data, data_format: { data_type: "object", parse_as: "text" } }] };
    }
    let rows = entry.data;
    // The sample rows have one symbol. Another one has no data.
    const symbol = isObject(given) ? asText(given.symbol).toUpperCase() : "";
    if (symbol && Array.isArray(rows) && rows.some((row) => row?.symbol)) {
      rows = rows.filter((row) => symbol.split(",").includes(asText(row.symbol).toUpperCase()));
      if (rows.length === 0) return { error_type: "not_found", content: `No data for ${symbol}` };
    }
    return { items: [{ content: JSON.stringify(rows) }] };
  }

  #options({ origin, id, param: name }) {
    const param = asArray(this.find(null, origin, id)?.widget.params).find((each) => each.name === name);
    const options = asArray(param?.options).map((value) => (isObject(value) ? value : { label: asText(value), value }));
    return { items: [{ content: JSON.stringify({ param_options: [{ param: name, options }] }) }] };
  }

  #add({ origin, id, input_args: given }) {
    const entry = this.find(null, origin, id);
    if (!entry) return { status: "error", message: `Widget ${asText(id)} not found` };
    // What the user selected stays selected: it is on the dashboard already.
    if (entry.tier !== "primary") entry.tier = "secondary";
    setParams(entry.widget, given);
    return { status: "success", message: `Added ${entry.widget.name}`, data: { widget_uuid: entry.widget.uuid } };
  }

  #update({ widget_uuid: id, input_args: given }) {
    const entry = this.find(id);
    if (!entry) return { status: "error", message: "Widget not found" };
    setParams(entry.widget, given);
    return { status: "success", message: `Updated ${entry.widget.name}` };
  }

  #generate({ name, description, data, widget_type: type }) {
    const widget = {
      uuid: uuid(),
      origin: "OpenBB Workspace",
      widget_id: `generated_${this.widgets.length}`,
      name: asText(name) || "Generated widget",
      description: asText(description),
      params: [],
      metadata: { type },
    };
    this.widgets.push({ tier: "secondary", widget, data: data ?? "" });
    return { status: "success", message: `Added ${widget.name}`, data: { widget_uuid: widget.uuid } };
  }
}

/** Returns the sources of a call. Until 2024, calls named widgets only. */
function named(args, sources) {
  if (sources.length > 0) return sources;
  return [args.widget_uuids ?? args.widget_uuid ?? []].flat().map((id) => ({ widget_uuid: id }));
}

function setParams(widget, given) {
  for (const param of asArray(widget.params)) {
    if (isObject(given) && param.name in given) param.current_value = given[param.name];
  }
}

/** The forms of requests that earlier versions of the Workspace sent. */
const FORMS = {
  2026: { label: "2026: the newest", shape: (request) => request },
  "2025-05": {
    label: "2025: options as a list",
    shape: (request) => ({
      ...request,
      workspace_options: Object.entries(request.workspace_options).map(([key, value]) => (value === true ? key : `${key}=${value}`)),
    }),
  },
  "2025-01": {
    label: "January 2025: three tiers",
    shape: ({ messages, context, widgets, urls }) => ({
      messages: messages.map((message) => oldResult(message, (items) => items)),
      context: context.map(({ data, ...rest }) => ({ ...rest, data: { content: data.items[0].content } })),
      widgets,
      urls,
    }),
  },
  2024: {
    label: "July 2024: a flat list",
    shape: ({ messages, widgets, urls }) => ({
      messages: messages.map((message) => oldResult(message, (items) => items.map(({ content }) => content).join("\n"), "content")),
      context: [],
      use_docs: false,
      widgets: Object.values(widgets).flat().map(({ uuid: id, name, description, params, metadata }) => ({
        uuid: id,
        name,
        description,
        metadata: { ...metadata, ...Object.fromEntries(asArray(params).map((param) => [param.name, param.current_value])) },
      })),
      urls,
    }),
  },
};

/** Returns a message in the form from before results had items. */
function oldResult(message, shape, key = "data") {
  const { role, content, function: name, input_arguments } = message;
  if (role !== "tool") return { role, content };
  const items = asArray(message.data).map((entry) => ({ content: asText(entry.items?.[0]?.content ?? entry.content ?? entry.message) }));
  return { role, function: name, input_arguments, copilot_function_call_arguments: input_arguments, [key]: shape(items), extra_state: message.extra_state };
}
