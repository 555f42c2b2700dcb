// The base of the clients of models: the list of models, sample tools.

/** The sample tool, whose result every front end has. */
const WEATHER = {
  name: "get_weather",
  description: "The weather at a place",
  parameters: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
};

/** Returns the chip that offers the tools of a front end. */
const toolsChip = (front) => ({
  label: "Sample tools",
  pressed: front.offered,
  title: "Offer the tools of the setup",
  toggle: () => (front.offered = !front.offered),
});

/** Returns the field with the tools of a front end. */
const toolsField = (front) =>
  jsonField("Tools", front.tools, (tools) => (front.tools = asArray(tools)), "offered when “Sample tools” is on");

class ModelFront extends Front {
  static unnamed = "Assistant";

  /** The end of the path in place of which the list of models is, if requests must name one. */
  static listed = null;

  constructor(mount, page, tools) {
    super(mount, page);
    this.tools = tools;
    this.offered = true;
    this.system = "";
    const { listed } = this.constructor;
    if (listed) this.ready = this.list(this.path.replace(listed, "models"), {}, ({ data }) => asArray(data).map(({ id }) => id));
  }

  intro() {
    return {
      ...this.constructor.about,
      prompts: ["What happens when a client disconnects?", "What is the weather in Lisbon?", "Delete the draft, but ask me first"],
    };
  }

  chips() {
    return [toolsChip(this)];
  }

  settings() {
    const system = textField("System message", this.system, (text) => (this.system = text));
    return [fieldGroup("Requests", this.nameField("Model"), system), fieldGroup("Tools", toolsField(this))];
  }

  ask(text) {
    this.messages.push({ role: "user", content: text });
    return this.rounds();
  }

  /** Returns the members of a request that offer the tools. */
  offer() {
    return this.offered && this.tools.length > 0 && { tools: this.tools };
  }
}
