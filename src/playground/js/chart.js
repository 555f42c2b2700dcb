// Rows as a chart: line, bar, scatter, pie and donut, in SVG.

const WIDTH = 640;
const HEIGHT = 260;
const EDGE = { top: 14, right: 14, bottom: 30, left: 56 };
const MAX_POINTS = 2000;

/** A chart of rows, or their table when the parameters do not fit them. */
function chartView(rows, params) {
  const data = asArray(rows).filter(isObject).slice(0, MAX_POINTS);
  const round = params?.chartType === "pie" || params?.chartType === "donut";
  const drawn = round ? sectors(data, params) : plot(data, params ?? {});
  if (!drawn) return tableView(rows);
  const [node, names] = drawn;
  const legend = names.length > 1 || round ? names.map((name, at) => el("li", { class: `series-${at % 8}` }, name)) : [];
  return el("div", { class: "chart" }, node, legend.length > 0 && el("ul", { class: "legend" }, legend));
}

function plot(rows, { chartType, xKey, yKey }) {
  const keys = [yKey].flat().filter((key) => typeof key === "string").slice(0, 8);
  if (keys.length === 0 || rows.length === 0) return null;
  const scatter = chartType === "scatter";
  const bars = chartType === "bar";
  const ys = rows.flatMap((row) => keys.map((key) => Number(row[key]))).filter(Number.isFinite);
  if (ys.length === 0) return null;
  const y = scale(ys, bars, HEIGHT - EDGE.bottom, EDGE.top);
  const inner = WIDTH - EDGE.left - EDGE.right;
  const numbers = scatter ? scale(rows.map((row) => Number(row[xKey])).filter(Number.isFinite), false, EDGE.left, WIDTH - EDGE.right) : null;
  const step = inner / (bars ? rows.length : Math.max(rows.length - 1, 1));
  const x = (row, at) => (scatter ? numbers.at(Number(row[xKey])) : EDGE.left + step * (bars ? at + 0.5 : at));
  const marks = keys.flatMap((key, series) => {
    const points = rows
      .map((row, at) => ({ x: x(row, at), y: y.at(Number(row[key])), label: `${asText(row[xKey])} · ${key}: ${cellText(row[key])}` }))
      .filter((point) => Number.isFinite(point.x) && Number.isFinite(point.y));
    if (bars) return barMarks(points, series, keys.length, step, y.at(0));
    return scatter ? dots(points, series, 3.5) : [lineMark(points, series), ...(points.length <= 60 ? dots(points, series, 2.5) : [])];
  });
  const labels = scatter ? numbers.ticks.map((tick) => [numbers.at(tick), numberText(tick)]) : axisLabels(rows, xKey, x);
  const node = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${chartType} chart` },
    y.ticks.map((tick) => [
      svg("line", { class: "grid", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: y.at(tick), y2: y.at(tick) }),
      svg("text", { class: "tick end", x: EDGE.left - 8, y: y.at(tick) + 4 }, numberText(tick)),
    ]).flat(),
    labels.map(([at, text]) => svg("text", { class: "tick middle", x: at, y: HEIGHT - 10 }, text)),
    marks);
  return [node, keys];
}

/** A linear scale with round ticks. */
function scale(values, fromZero, start, end) {
  let low = Math.min(...values, ...(fromZero ? [0] : []));
  let high = Math.max(...values, ...(fromZero ? [0] : []));
  if (!Number.isFinite(low)) [low, high] = [0, 1];
  if (low === high) [low, high] = [low - 1, high + 1];
  const rough = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const first = Math.floor(low / step) * step;
  const last = Math.ceil(high / step) * step;
  const count = Math.min(Math.round((last - first) / step), 12);
  const ticks = Array.from({ length: count + 1 }, (_, at) => Number((first + at * step).toPrecision(12)));
  return { ticks, at: (value) => start + ((value - first) / (last - first)) * (end - start) };
}

function axisLabels(rows, key, x) {
  const every = Math.ceil(rows.length / 6);
  return rows.map((row, at) => [x(row, at), asText(row[key]).slice(0, 12)]).filter((_, at) => at % every === 0);
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

function sectors(rows, { chartType, angleKey, calloutLabelKey }) {
  const parts = rows.map((row) => ({ size: Number(row[angleKey]), name: asText(row[calloutLabelKey]) })).filter(({ size }) => size > 0).slice(0, 24);
  const total = parts.reduce((sum, { size }) => sum + size, 0);
  if (!(total > 0) || !Number.isFinite(total)) return null;
  const [cx, cy, outer, hole] = [WIDTH / 2, HEIGHT / 2, 112, chartType === "donut" ? 64 : 0];
  const point = (turn, radius) => `${cx + radius * Math.sin(turn)} ${cy - radius * Math.cos(turn)}`;
  let turn = 0;
  const marks = parts.map(({ size, name }, at) => {
    const from = turn;
    turn += (Math.min(size / total, 0.99999)) * 2 * Math.PI;
    const large = turn - from > Math.PI ? 1 : 0;
    const d = `M${point(from, outer)}A${outer} ${outer} 0 ${large} 1 ${point(turn, outer)}L${point(turn, hole)}A${hole} ${hole} 0 ${large} 0 ${point(from, hole)}Z`;
    return titled(svg("path", { class: `sector series-${at % 8}`, d }), `${name}: ${numberText(size)} (${Math.round((100 * size) / total)} %)`);
  });
  const node = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${chartType} chart` }, marks);
  return [node, parts.map(({ name, size }) => `${name} ${Math.round((100 * size) / total)} %`)];
}
