// Rows as a chart: line, bar, scatter, pie and donut, in SVG.

const HEIGHT = 240;
const EDGE = { top: 14, right: 14, bottom: 30 };
const MAX_POINTS = 2000;
/** The approximate width of a character of a label. */
const LETTER = 6.2;

/** Returns a chart of rows, or a table if the parameters do not match the rows. */
function chartView(rows, params) {
  const data = asArray(rows).filter(isObject).slice(0, MAX_POINTS);
  const round = params?.chartType === "pie" || params?.chartType === "donut";
  const draw = (width) => (round ? sectors(data, params, width) : plot(data, params ?? {}, width));
  const drawn = draw(640);
  if (!drawn) return tableView(rows);
  let [node, names] = drawn;
  const legend = names.length > 1 || round ? names.map((name, at) => el("li", { class: `series-${at % 8}` }, name)) : [];
  const view = el("div", { class: "chart" }, node, legend.length > 0 && el("ul", { class: "legend" }, legend));
  // Drawn again at the available width, so that labels keep their size.
  let last = 640;
  const observer = new ResizeObserver(([{ contentRect }]) => {
    const width = Math.round(contentRect.width);
    // A hidden view reports a width of zero. Drawing again at the same width could make the observer fire endlessly.
    if (width === last || width < 80) return;
    last = width;
    const [fresh] = draw(width);
    node.replaceWith(fresh);
    node = fresh;
  });
  observer.observe(view);
  return view;
}

/** Returns the number in a cell; NaN for an empty cell, which leaves a gap. */
function numberOf(value) {
  if (typeof value === "string" && value.trim() !== "") return Number(value);
  return typeof value === "number" ? value : NaN;
}

const canvas = (width, kind, ...marks) =>
  svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": `${kind} chart` }, ...marks);

function plot(rows, { chartType, xKey, yKey }, width) {
  const keys = [yKey].flat().filter((key) => typeof key === "string").slice(0, 8);
  if (keys.length === 0 || rows.length === 0) return null;
  const scatter = chartType === "scatter";
  const bars = chartType === "bar";
  const ys = rows.flatMap((row) => keys.map((key) => numberOf(row[key]))).filter(Number.isFinite);
  if (ys.length === 0) return null;
  const y = scale(ys, bars, HEIGHT - EDGE.bottom, EDGE.top);
  const left = 16 + LETTER * Math.max(...y.ticks.map((tick) => numberText(tick).length));
  const inner = width - left - EDGE.right;
  const numbers = scatter ? scale(rows.map((row) => numberOf(row[xKey])).filter(Number.isFinite), false, left, width - EDGE.right) : null;
  const step = inner / (bars ? rows.length : Math.max(rows.length - 1, 1));
  const x = (row, at) => (scatter ? numbers.at(numberOf(row[xKey])) : left + step * (bars ? at + 0.5 : at));
  const marks = keys.flatMap((key, series) => {
    const points = rows.map((row, at) => ({ x: x(row, at), y: y.at(numberOf(row[key])), label: `${asText(row[xKey])} · ${key}: ${cellText(row[key])}` }));
    const there = points.filter(isThere);
    if (bars) return barMarks(there, series, keys.length, step, y.at(0));
    if (scatter) return dots(there, series, 3.5);
    const runs = runsOf(points);
    const lone = runs.filter((run) => run.length === 1).flat();
    return [...runs.filter((run) => run.length > 1).map((run) => lineMark(run, series)), ...dots(points.length <= 60 ? there : lone, series, 2.5)];
  });
  const labels = scatter ? numbers.ticks.map((tick) => [numbers.at(tick), numberText(tick)]) : rows.map((row, at) => [x(row, at), asText(row[xKey]).slice(0, 12)]);
  const node = canvas(width, chartType,
    y.ticks.map((tick) => [
      svg("line", { class: "grid", x1: left, x2: width - EDGE.right, y1: y.at(tick), y2: y.at(tick) }),
      svg("text", { class: "tick end", x: left - 8, y: y.at(tick) + 4 }, numberText(tick)),
    ]).flat(),
    spaced(labels, inner).map(([at, text]) => {
      const half = (LETTER * text.length) / 2;
      return svg("text", { class: "tick middle", x: Math.max(half, Math.min(at, width - half)), y: HEIGHT - 10 }, text);
    }),
    marks);
  return [node, keys];
}

/** Returns as many labels as fit beside each other. */
function spaced(labels, inner) {
  const widest = LETTER * Math.max(...labels.map(([, text]) => text.length)) + 14;
  const room = Math.min(Math.max(Math.floor(inner / widest) + 1, 2), 7);
  const every = Math.ceil(labels.length / room);
  return labels.filter((_, at) => at % every === 0);
}

const isThere = ({ x, y }) => Number.isFinite(x) && Number.isFinite(y);

/** Splits the points of a line at its gaps. */
function runsOf(points) {
  const runs = [[]];
  for (const point of points) {
    if (isThere(point)) runs.at(-1).push(point);
    else runs.push([]);
  }
  return runs.filter((run) => run.length > 0);
}

/** A linear scale with round ticks. */
function scale(values, fromZero, start, end) {
  let low = Math.min(...values, ...(fromZero ? [0] : []));
  let high = Math.max(...values, ...(fromZero ? [0] : []));
  // Without values `Math.min` returns infinity.
  if (!Number.isFinite(low)) [low, high] = [0, 1];
  // A single value has no range to divide.
  if (low === high) [low, high] = [low - 1, high + 1];
  const rough = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const first = Math.floor(low / step) * step;
  const last = Math.ceil(high / step) * step;
  const count = Math.min(Math.round((last - first) / step), 12);
  // Sums of fractions such as 0.1 are inexact in their last digits, which would show in the labels.
  const ticks = Array.from({ length: count + 1 }, (_, at) => Number((first + at * step).toPrecision(12)));
  return { ticks, at: (value) => start + ((value - first) / (last - first)) * (end - start) };
}

const titled = (node, label) => (node.append(svg("title", {}, label)), node);

function lineMark(points, series) {
  return svg("polyline", { class: `line series-${series}`, points: points.map((point) => `${point.x},${point.y}`).join(" ") });
}

function dots(points, series, r) {
  return points.map(({ x, y, label }) => titled(svg("circle", { class: `dot series-${series}`, cx: x, cy: y, r }), label));
}

function barMarks(points, series, count, step, zero) {
  const width = Math.max(1, (step * 0.7) / count);
  return points.map(({ x, y, label }) => {
    const left = x - (width * count) / 2 + width * series;
    const props = { class: `bar series-${series}`, x: left, y: Math.min(y, zero), width: Math.max(width - 1, 0.5), height: Math.abs(zero - y), rx: 1.5 };
    return titled(svg("rect", props), label);
  });
}

function sectors(rows, { chartType, angleKey, calloutLabelKey }, width) {
  const parts = rows.map((row) => ({ size: numberOf(row[angleKey]), name: asText(row[calloutLabelKey]) })).filter(({ size }) => size > 0).slice(0, 24);
  const total = parts.reduce((sum, { size }) => sum + size, 0);
  if (!(total > 0) || !Number.isFinite(total)) return null;
  const [cx, cy] = [width / 2, HEIGHT / 2];
  const outer = Math.min(cx, cy) - 14;
  const hole = chartType === "donut" ? outer * 0.58 : 0;
  const point = (turn, radius) => `${cx + radius * Math.sin(turn)} ${cy - radius * Math.cos(turn)}`;
  let turn = 0;
  const marks = parts.map(({ size, name }, at) => {
    const from = turn;
    // An SVG arc that ends at its start is not drawn, so a full circle is drawn with a tiny gap.
    turn += (Math.min(size / total, 0.99999)) * 2 * Math.PI;
    const large = turn - from > Math.PI ? 1 : 0;
    const d = `M${point(from, outer)}A${outer} ${outer} 0 ${large} 1 ${point(turn, outer)}L${point(turn, hole)}A${hole} ${hole} 0 ${large} 0 ${point(from, hole)}Z`;
    return titled(svg("path", { class: `sector series-${at % 8}`, d }), `${name}: ${numberText(size)} (${Math.round((100 * size) / total)} %)`);
  });
  return [canvas(width, chartType, marks), parts.map(({ name, size }) => `${name} ${Math.round((100 * size) / total)} %`)];
}
