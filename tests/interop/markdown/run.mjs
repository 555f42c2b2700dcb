// Asks questions after texts that try to hide them, and looks in Chromium at what renderers make of it.

import { spawnSync } from "node:child_process";
import { Judge, verdict } from "./judge.mjs";
import { messages } from "./messages.mjs";
import { PURIFIED, render } from "./renderers.mjs";
import { generated, generatedPlain, places, plain, tokens, written } from "./texts.mjs";

const full = process.argv[2] === "full";
// Every PARTth turn, from the FIRST one on: `run.mjs full FIRST PART`, for several processes.
const [first, part] = process.argv.slice(3).map(Number);

/** The turns: all pairs, or each text and each message at least once. A yes must count behind plain text. */
function* turns() {
  const names = Object.keys(messages);
  const turn = (text, name, isPlain) => ({ text, name, title: messages[name][0], message: messages[name][1], isPlain });
  for (const [at, text] of written.entries()) {
    const some = full || at < 2 ? names : [names[at % names.length]];
    for (const name of some) yield turn(text, name, plain.includes(text));
  }
  // The same texts in other parts of the messages.
  for (const [at, text] of written.entries()) {
    for (const [number, place] of places.entries()) {
      if (full || (at + number) % places.length === 0) yield { ...turn(text, names[(at + number) % names.length], plain.includes(text)), place };
    }
  }
  for (const [at, text] of tokens.entries()) {
    for (const place of full ? places : [places[at % places.length]]) yield { ...turn(text, names[at % names.length], true), place };
  }
  for (const [at, text] of [...generated(full ? 2000 : 80, 20261122)].entries()) yield turn(text, names[at % names.length], false);
  for (const [at, text] of [...generatedPlain(full ? 2000 : 160, 20261123)].entries()) yield turn(text, names[at % names.length], true);
}

function answers(turns) {
  const asked = spawnSync(process.env.ASKER, { input: turns.map((turn) => JSON.stringify(turn)).join("\n"), maxBuffer: 1 << 30, encoding: "utf8" });
  if (asked.status !== 0) throw new Error(asked.stderr);
  return asked.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
}

const HIDINGS = [
  "<span hidden>rm</span>", "<span style='font-size:0'>rm</span>", "<span style='color:#fff'>rm</span>", "<span style='opacity:0'>rm</span>", "<span style='visibility:hidden'>rm</span>", "<span style='position:absolute;left:-600px'>rm</span>",
  "<span style='-webkit-text-fill-color:transparent'>rm</span>", "<details><summary></summary>rm</details>", "<div style='height:1px;overflow:hidden'>rm</div>", "<div style='position:relative'>rm<div style='position:absolute;inset:0;background:#fff'></div></div>", "<p class='first-line:text-transparent'>rm<br></p>", "<script>rm</script>", "",
];

/** Whether the judge finds parts that are hidden on purpose. */
async function sees(judge) {
  const answer = "\n\nQuestion: Run it? rm x To agree, reply: yes 123456. To refuse, reply: no. (a cw0)";
  const shown = (part) => [answer.replace("rm", part).replace("123456", "<b>123456</b>"), false];
  const texts = await judge.look([shown("rm"), shown("<b>rm</b>"), ["<p hidden>" + shown("rm")[0], false], ...HIDINGS.map(shown)]);
  const found = texts.map((text) => verdict(answer, text));
  const expected = ["whole", "whole", "hidden", ...HIDINGS.map(() => "partly")];
  const blind = expected.flatMap((one, at) => (found[at] === one ? [] : [`${one} is ${found[at]}: ${HIDINGS[at - 3]}`]));
  blind.forEach((line) => console.log(`FAIL the judge is blind: ${line}`));
  return blind.length === 0;
}

const started = Date.now();
const judge = await Judge.start();
const counts = {};
const plainTexts = new Set();
let [total, refused, accepted, failed, passed] = [0, 0, 0, 0, 0];
if (await sees(judge)) passed += 1;
else failed += 1;

const all = [...turns()].filter((_, at) => part === undefined || at % part === first);
for (let from = 0; from < all.length; from += 500) {
  const some = all.slice(from, from + 500);
  const asked = answers(some).flatMap((asked, at) => (asked === null ? [] : [{ ...some[at], ...asked }]));
  refused += some.length - asked.length;
  total += asked.length;
  for (const { text, name, isPlain, verdict } of asked) {
    if (verdict === "Accepted") accepted += 1;
    if (isPlain) plainTexts.add(text);
    const isExpected = verdict === "Accepted" || (verdict === "Obscured" && !isPlain);
    if (isExpected) passed += 1;
    else {
      failed += 1;
      console.log(`FAIL a yes is ${verdict}: ${JSON.stringify(text.slice(0, 200))}, ${name}`);
    }
  }
  const cases = [...render(asked.map(({ answer }) => answer))].flatMap(([name, pages]) => {
    const of = (renderer, purified) => pages.map((html, at) => ({ ...asked[at], renderer, purified, html }));
    return PURIFIED.includes(name) ? [...of(name, false), ...of(`${name}, DOMPurify`, true)] : of(name, false);
  });
  const texts = await judge.look(cases.map(({ html, purified }) => [html ?? "", purified]));
  for (const [at, { renderer, html, answer, text, name, verdict: worth }] of cases.entries()) {
    const count = (counts[renderer] ??= { whole: 0, altered: 0, hidden: 0, partly: 0, void: 0, threw: 0 });
    let found = html === null ? "threw" : verdict(answer, texts[at]);
    if (found === "partly" && worth !== "Accepted") found = "void";
    count[found] += 1;
    if (found !== "partly") passed += 1;
    else {
      failed += 1;
      if (failed <= 200) console.log(`FAIL ${renderer}: ${JSON.stringify(text.slice(0, 200))}, ${name}: ${JSON.stringify(texts[at].slice(-200))}`);
    }
  }
  if (full) process.stderr.write(`${from + some.length} of ${all.length} after ${Math.round((Date.now() - started) / 1000)} s\n`);
}
await judge.close();

const sums = Object.values(counts).reduce((sums, count) => Object.fromEntries(Object.entries(count).map(([key, one]) => [key, (sums[key] ?? 0) + one])), {});
const number = (one) => one.toLocaleString("en");
console.log(`${number(total)} answers, ${refused} questions refused, ${number(accepted)} yeses accepted, ${number(plainTexts.size)} plain texts, Chromium ${judge.version}\n`);
console.log("| renderer | whole | altered | hidden | partly | partly, void | threw |\n|---|---|---|---|---|---|---|");
for (const [name, count] of [...Object.entries(counts), ["all", sums]]) console.log(`| ${name} | ${Object.values(count).map(number).join(" | ")} |`);
console.log();
const fail = (reason) => {
  failed += 1;
  console.log(`FAIL ${reason}`);
};
if (sums.void === 0) fail("no text hides a part: the judge is blind");
if (plainTexts.size < 100 && part === undefined) fail("there are too few plain texts");
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
