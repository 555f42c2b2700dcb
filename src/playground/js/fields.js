// The fields of the setup.

/** A switch. */
function toggleField(label, value, onchange, hint) {
  const input = el("input", { type: "checkbox", role: "switch", onchange: () => onchange(input.checked) });
  input.checked = value;
  return el("label", { class: "field switch" }, el("span", {}, label, hint && el("small", {}, hint)), input);
}

/** A choice of one option; options are `[value, label]`. */
function selectField(label, value, options, onchange, hint) {
  const select = el("select", { onchange: () => onchange(select.value) }, options.map(([key, name]) => el("option", { value: key }, name)));
  select.value = value;
  return el("label", { class: "field" }, el("span", {}, label, hint && el("small", {}, hint)), select);
}

/** A line of text. */
function textField(label, value, onchange, hint) {
  const input = el("input", { type: "text", spellcheck: "false", autocomplete: "off", oninput: () => onchange(input.value) });
  input.value = value;
  return el("label", { class: "field" }, el("span", {}, label, hint && el("small", {}, hint)), input);
}

/** A collapsed field with editable JSON. */
function jsonField(label, value, onchange, hint) {
  const input = jsonInput(value, label, onchange);
  return el("details", { class: "field-json" }, el("summary", {}, label, hint && el("small", {}, hint)), input.node);
}

const fieldGroup = (title, ...fields) => el("fieldset", {}, el("legend", {}, title), ...fields);
