// Asks questions after texts that try to hide them, and looks for them in what renderers make of it.

import { spawnSync } from "node:child_process";
import { renderers, styled, visible } from "./renderers.mjs";
import { clean, generated, hostile } from "./texts.mjs";

const count = Number(process.argv[2] ?? 3000);
const title = "Delete *all* files?";
const messages = ["This cannot be undone.", "```text\nrm -r *\n```", "a) all of it\n\nb]: \"all\" 'of' it"];
const marks = [["Delete *all* files?"], ["Reply yes or no. (question "]];

const texts = [...hostile, ...clean, ...generated(count, 20261122)];
const turns = texts.map((text, at) => ({ text, title, message: messages[at % 2 === 0 ? 0 : 2] }));
const said = spawnSync(process.env.ASKER, { input: turns.map((turn) => JSON.stringify(turn)).join("\n"), maxBuffer: 1 << 30, encoding: "utf8" });
if (said.status !== 0) throw new Error(said.stderr);
const replies = said.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));

/** What keeps a question from being seen, if anything. */
function hidden(markdown, message, render) {
  let html;
  try {
    html = render(markdown);
  } catch {
    // React refuses some names of elements: then nothing of the reply is seen, whatever it is.
    return null;
  }
  const text = visible(html).replaceAll(/\s+/g, " ");
  if (styled(html)) return "a style";
  const wanted = [title, message === messages[0] ? message : "all", "Reply yes or no. (question "];
  let at = text.lastIndexOf(wanted[0]);
  for (const part of wanted) {
    at = text.indexOf(part, at);
    if (at < 0) return `no ${JSON.stringify(part)} in ${JSON.stringify(html.slice(-600))}`;
    at += part.length;
  }
  return null;
}

let [passed, failed, refused, without, shown] = [0, 0, 0, 0, 0];
const results = Object.fromEntries(Object.keys(renderers).map((name) => [name, { hidden: 0, bare: 0 }]));
for (const [at, { text, closers, question }] of replies.entries()) {
  const name = JSON.stringify(text.slice(0, 300));
  const tidy = at >= hostile.length && at < hostile.length + clean.length;
  if (tidy) {
    if (closers === "") passed += 1;
    else {
      failed += 1;
      console.log(`FAIL ${name}: closed with ${JSON.stringify(closers)}`);
    }
  }
  if (closers === null) refused += 1;
  for (const [renderer, render] of Object.entries(renderers)) {
    // What is seen where nothing is closed: the test must be able to fail.
    if (hidden(text + question, turns[at].message, render)) results[renderer].bare += 1;
    if (closers === null) continue;
    const fault = hidden(text + closers + question, turns[at].message, render);
    if (fault === null) {
      passed += 1;
      continue;
    }
    failed += 1;
    results[renderer].hidden += 1;
    if (++shown <= 40) console.log(`FAIL ${renderer}: ${name}\n     closers ${JSON.stringify(closers)}\n     ${fault}`);
  }
}

console.log(`${texts.length} texts, ${refused} of them refused`);
for (const [renderer, { hidden, bare }] of Object.entries(results)) {
  console.log(`${renderer}: hides ${bare} questions without the closers, ${hidden} with them`);
  if (bare === 0 && /marked|html|raw/.test(renderer)) failed += 1;
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
