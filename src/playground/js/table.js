// Rows as a table.

const MAX_ROWS = 200;
const MAX_COLUMNS = 40;

/** A table of row objects; other rows show as they are. */
function tableView(rows) {
  const objects = asArray(rows).map((row) => (isObject(row) ? row : { value: row }));
  const columns = [...new Set(objects.slice(0, 100).flatMap(Object.keys))].slice(0, MAX_COLUMNS);
  const numeric = new Set(
    columns.filter((column) => objects.every((row) => row[column] == null || typeof row[column] === "number")),
  );
  const cell = (tag, column, value) => el(tag, { class: numeric.has(column) ? "number" : null }, value);
  const shown = objects.slice(0, MAX_ROWS);
  const body = shown.map((row) => el("tr", {}, columns.map((column) => cell("td", column, cellText(row[column])))));
  const head = el("tr", {}, columns.map((column) => cell("th", column, column)));
  const table = el("table", {}, el("thead", {}, head), el("tbody", {}, body));
  const left = objects.length - shown.length;
  return el(
    "div",
    {},
    el("div", { class: "scroll tall", tabindex: "0" }, table),
    el("p", { class: "fine" }, `${counted(objects.length, "row")}${left > 0 ? `, the first ${MAX_ROWS} shown` : ""}`),
  );
}

function cellText(value) {
  if (typeof value === "number") return numberText(value);
  return value === null ? "–" : asText(value);
}

function numberText(value) {
  if (!Number.isFinite(value)) return String(value);
  return Number.isInteger(value) && Math.abs(value) < 10000 ? String(value) : value.toLocaleString("en-US", { maximumFractionDigits: 4 });
}
