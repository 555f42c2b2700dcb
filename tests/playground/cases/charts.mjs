// Charts: readable at any width, and without numbers that nobody sent.

import { equal, ok, test } from "../harness.mjs";

const PHONE = { viewport: { width: 360, height: 780 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };

const artifact = (content, chart_params) =>
  `event: copilotMessageArtifact\ndata: ${JSON.stringify({ type: "chart", name: "Chart", uuid: "1", content, chart_params })}\n\n`;
const dates = Array.from({ length: 24 }, (_, at) => ({ date: `2026-11-${at + 1}`, close: 41_000_000 + at * 1_250_000, volume: 7 * at }));

async function readable(p) {
  await p.page.waitForFunction(() => [...document.querySelectorAll("div.chart")].every((chart) => {
    const [, , width] = chart.querySelector("svg").getAttribute("viewBox").split(" ");
    return Math.abs(width - chart.clientWidth) <= 1;
  }));
  const charts = await p.page.locator("div.chart").evaluateAll((all) => all.map((chart) => {
    const edge = chart.querySelector("svg").getBoundingClientRect();
    const texts = [...chart.querySelectorAll(".tick")].map((text) => text.getBoundingClientRect());
    const labels = [...chart.querySelectorAll(".tick.middle")].map((text) => text.getBoundingClientRect());
    return {
      scale: chart.querySelector("svg").getScreenCTM()?.a ?? 0,
      inside: texts.every(({ left, right }) => left >= edge.left - 1 && right <= edge.right + 1),
      apart: labels.every(({ right }, at) => at + 1 === labels.length || right <= labels[at + 1].left),
    };
  }));
  for (const [at, { scale, inside, apart }] of charts.entries()) {
    ok(Math.abs(scale - 1) < 0.01, `chart ${at}: text at ${scale} of its size`);
    ok(inside, `chart ${at}: a label is outside`);
    ok(apart, `chart ${at}: labels run into each other`);
  }
  return charts.length;
}

const ALL = [
  artifact(dates, { chartType: "line", xKey: "date", yKey: ["close"] }),
  artifact(dates, { chartType: "bar", xKey: "date", yKey: ["volume", "close"] }),
  artifact(dates, { chartType: "scatter", xKey: "close", yKey: ["volume"] }),
  artifact(dates.slice(0, 5), { chartType: "donut", angleKey: "close", calloutLabelKey: "date" }),
].join("");

for (const [name, options] of [["a phone", PHONE], ["a desktop", {}]]) {
  test(`charts: text keeps its size on ${name}, also when the width changes`, async (p) => {
    await p.answers("/v1/query", ALL);
    await p.open("OpenBB");
    await p.ask("draw");
    equal(await readable(p), 4, "charts");
    const { scrollHeight, scrollTop, clientHeight } = await p.page.locator(".chat").evaluate(({ scrollHeight, scrollTop, clientHeight }) => ({ scrollHeight, scrollTop, clientHeight }));
    ok(scrollHeight - scrollTop - clientHeight < 2, "the end is out of sight");
    await p.shot(`charts-on-${name.split(" ").at(-1)}`);
    await p.page.setViewportSize({ width: 740, height: 700 });
    await readable(p);
  }, options);
}

test("charts: an empty cell is a gap, not a zero", async (p) => {
  const rows = [1, 2, null, 4, 5, "", "7", 8, undefined, 10].map((close, date) => ({ date, close }));
  await p.answers("/v1/query", ["line", "bar", "scatter"].map((chartType) => artifact(rows, { chartType, xKey: "date", yKey: ["close"] })).join(""));
  await p.open("OpenBB");
  await p.ask("draw");
  const [line, bar, scatter] = await p.page.locator("div.chart").all();
  equal(await line.locator("polyline").evaluateAll((all) => all.map((each) => each.getAttribute("points").split(" ").length)), [2, 2, 2], "points of the lines");
  equal(await line.locator(".dot").count(), 7, "dots");
  equal(await bar.locator(".bar").count(), 7, "bars");
  equal(await scatter.locator(".dot").count(), 7, "dots");
});
