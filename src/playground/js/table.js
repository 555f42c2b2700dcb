// Rows as a table.

const MAX_ROWS = 200;
const MAX_COLUMNS = 40;

/** Returns a table of row objects; other rows become a single cell. */
function tableView(rows) {
  const objects = asArray(rows).map((row) => (isObject(row) ? row : { value: row }));
  // Only the first rows determine the columns, because reading very many rows would take long.
  const columns = [...new Set(objects.slice(0, 100).flatMap(Object.keys))].slice(0, MAX_COLUMNS);
  const numeric = new Set(
    columns.filter((column) => objects.every((row) => row[column] == null || typeof row[column] === "number")),
  );
  const shown = objects.slice(0, MAX_ROWS);
  const places = new Map([...numeric].map((column) => [column, Math.max(0, ...shown.map((row) => decimals(row[column])))]));
  const cell = (tag, column, value) => el(tag, { class: numeric.has(column) ? "number" : null }, value);
  const body = shown.map((row) => el("tr", {}, columns.map((column) => cell("td", column, cellText(row[column], places.get(column))))));
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

function cellText(value, places = 0) {
  if (typeof value === "number") return numberText(value, places);
  return value === null ? "–" : asText(value);
}

const MOST_DECIMALS = 4;

/** Returns the number of decimals that a value needs. */
function decimals(value) {
  const text = typeof value === "number" ? String(value) : "";
  return /^-?\d+\.\d+$/.test(text) ? Math.min(text.split(".")[1].length, MOST_DECIMALS) : 0;
}

/** Formats a number; one of four digits may be a year and gets no separator. */
function numberText(value, places = 0) {
  if (!Number.isFinite(value)) return String(value);
  if (places === 0 && Number.isInteger(value) && Math.abs(value) < 10000) return String(value);
  return value.toLocaleString("en-US", { minimumFractionDigits: places, maximumFractionDigits: MOST_DECIMALS });
}
