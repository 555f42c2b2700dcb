// JSON for display: indented, coloured, and truncated to a size that a page can show.

const JSON_LIMIT = 200_000;
const TOKEN =
  /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/g;

/** Returns a `pre` with a JSON value. */
function jsonView(value) {
  return jsonText(JSON.stringify(value, null, 2) ?? "");
}

/** Returns a `pre` with a text, coloured as JSON if `colour` is true. */
function jsonText(text, colour = true) {
  const pre = el("pre", { class: "json", tabindex: "0" });
  const shown = text.slice(0, JSON_LIMIT);
  let end = 0;
  if (colour) {
    for (const match of shown.matchAll(TOKEN)) {
      const [whole, string, colon, word, number] = match;
      pre.append(shown.slice(end, match.index));
      const kind = colon ? "key" : string ? "string" : word ? "word" : number ? "number" : "";
      pre.append(el("span", { class: kind }, string ?? whole));
      if (colon) pre.append(colon);
      end = match.index + whole.length;
    }
  }
  pre.append(shown.slice(end));
  if (text.length > JSON_LIMIT) pre.append(`\n… ${bytes(text.length - JSON_LIMIT)} more`);
  return pre;
}

/** A button that copies a text. */
function copyButton(text) {
  const button = el("button", { type: "button", class: "quiet small" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "function" ? text() : text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed";
    }
    setTimeout(() => (button.textContent = "Copy"), 1200);
  });
  return button;
}
