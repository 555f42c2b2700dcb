// Markdown of a megabyte that is made to be read over and over: what took time that grows with the
// square of the length would not end within the hour.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

const LENGTH = 1 << 20;
const MINUTES = 2;

const repeated = (text) => text.repeat(LENGTH / text.length);
const texts = {
  "spaces in a heading": `# a${repeated(" ")}b`,
  "spaces before a heading's text": `#${repeated(" ")}\u2028b`,
  "marks that close a heading": `# a ${repeated("#")}b`,
  "spaces behind a fence": "```" + repeated(" ") + "`",
  "a long fence": repeated("`") + " `",
  "a long fence of tildes": repeated("~") + " `",
  "spaces in a rule": `* * *${repeated(" ")}a`,
  "spaces behind a rule of a table": `|a|\n|-${repeated(" ")}a`,
  "spaces before a link's target": `[a](${repeated(" ")}`,
  "spaces behind a link's target": `[a](b${repeated(" ")}c`,
  "spaces behind a link's title": `[a](b "c"${repeated(" ")}d`,
  "links that begin": repeated("[a]( "),
  "links with titles that begin": repeated('[a](b "'),
  "images that begin": repeated("![a](<b"),
  "addresses within words": repeated("ahttps://"),
  "stops behind an address": `https://a${repeated(".")}b`,
  "words in a code span": "` " + repeated("a ") + "b`",
  "strong marks behind spaces": `**a${repeated(" ***")}`,
  "marks that find no partner": repeated("*a _b ~~c "),
};

if (process.argv[2] === undefined) {
  let [passed, failed] = [0, 0];
  for (const name of Object.keys(texts)) {
    const { status } = spawnSync(process.execPath, [import.meta.filename ?? new URL(import.meta.url).pathname, name], { timeout: MINUTES * 60_000, stdio: "inherit" });
    if (status === 0) passed += 1;
    else failed += 1;
    console.log(`${status === 0 ? "ok  " : "FAIL"} ${name}`);
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
} else {
  const source = ["markdown", "inline"].map((name) => readFileSync(new URL(`../../src/playground/js/${name}.js`, import.meta.url), "utf8"));
  // Elements are only counted.
  const page = "let made = 0; const copyButton = () => null; const el = () => ({ tagName: 'X', childNodes: [], made: (made += 1) });";
  const render = new Function("text", `${page} ${source.join("\n")}; return renderAll(text.split("\\n"), 0).length;`);
  if (render(texts[process.argv[2]]) === 0) throw new Error("nothing was rendered");
}
