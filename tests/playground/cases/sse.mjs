// How the page reads a stream, wherever its chunks end.

import { readFileSync } from "node:fs";
import { equal, ok, test } from "../harness.mjs";

const source = readFileSync(new URL("../../../src/playground/js/sse.js", import.meta.url), "utf8");
const SseReader = new Function(`${source}; return SseReader;`)();

const lines = readFileSync(new URL("../../../src/playground/js/lines.js", import.meta.url), "utf8");
const LineReader = new Function(`${source}\n${lines}; return LineReader;`)();

const STREAMS = [
  ["data: a\n\n", [["a"]]],
  ["data: a\r\n\r\ndata: b\r\rdata: c\n\r\n", [["a"], ["b"], ["c"]]],
  ["\ufeffdata: a\n\n\ufeffdata: b\n\n", [["a"], [null]]],
  ["data: a\n\r", [["a"]]],
  ["data: a", [["a", "cut"]]],
  ["data: a\n", [["a", "cut"]]],
  ["data: a\r", [["a", "cut"]]],
  ["data: a\r\n", [["a", "cut"]]],
  ["data: a\n\ndata: é\nda", [["a"], ["é", "cut"]]],
  ["\n\r\n\r: x\n\n\n\n", [[null]]],
];

test("sse: blocks, and what is cut off at the end of the body", async () => {
  for (const [text, expected] of STREAMS) {
    const bytes = new TextEncoder().encode(text);
    const cuts = Array.from({ length: bytes.length + 1 }, (_, at) => at);
    for (const [first, second] of cuts.flatMap((one) => cuts.slice(one).map((two) => [one, two]))) {
      const reader = new SseReader();
      const chunks = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
      const frames = [...chunks.flatMap((chunk) => [...reader.push(chunk)]), ...reader.end()];
      const what = `${JSON.stringify(text)} in pieces that end at ${first} and ${second}`;
      equal(frames.map(({ data, cut }) => (cut ? [data, "cut"] : [data])), expected, what);
      for (const { raw, bytes: size } of frames) {
        equal(new TextEncoder().encode(raw).length, size, what);
        ok(text.includes(raw), `${what}: ${JSON.stringify(raw)} was not received`);
      }
    }
  }
});

const LINES = [
  ['{"a":1}\n{"b":"é"}\r\n\n \n{"c":3}', ['{"a":1}', '{"b":"é"}', '{"c":3}']],
  ["", []],
  ["\n", []],
  ["x\ry\n", ["x\ry"]],
];

test("lines: they are whole, wherever chunks end", async () => {
  for (const [text, expected] of LINES) {
    const bytes = new TextEncoder().encode(text);
    const cuts = Array.from({ length: bytes.length + 1 }, (_, at) => at);
    for (const [first, second] of cuts.flatMap((one) => cuts.slice(one).map((two) => [one, two]))) {
      const reader = new LineReader();
      const chunks = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
      const frames = [...chunks.flatMap((chunk) => [...reader.push(chunk)]), ...reader.end()];
      const what = `${JSON.stringify(text)} in pieces that end at ${first} and ${second}`;
      equal(frames.map(({ data }) => data), expected, what);
      for (const { raw, bytes: size } of frames) equal(new TextEncoder().encode(raw).length, size, what);
    }
  }
});

for (const end of ["", "\n", "\r\n"]) {
  test(`sse: an event without its blank line (${JSON.stringify(end)} at the end) does not count`, async (p) => {
    const [whole, half] = ['event: copilotMessageChunk\ndata: {"delta":"One"}\n\n', `event: copilotMessageChunk\ndata: {"delta":"Two"}${end}`];
    await p.answers("/v1/query", whole + half);
    await p.open("OpenBB");
    await p.ask("hello");
    equal(await p.said(), "One");
    equal(await p.events(), ["Response", "copilotMessageChunk", "cut off"]);
    equal(await p.page.locator(".stats dd").allInnerTexts().then((all) => all.slice(2)), [`${(whole + half).length} B`, "1"], "sums");
    const row = p.page.locator(".events li").last();
    equal(await row.locator(".size").innerText(), `${half.length} B`);
    await row.locator("summary").click();
    equal(await row.locator(".json").last().evaluate((node) => node.textContent), half.replaceAll("\r", "␍"), "bytes");
  });
}
