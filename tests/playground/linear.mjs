// Markdown that is made to be read over and over. Four times the length may take four times the processor's time, not
// sixteen times.

import { readFileSync } from "node:fs";

/** The texts of a length, by name. */
const texts = (length) => {
  const repeated = (text) => text.repeat(length / text.length);
  // As many runs as fit, each longer by one than the one before.
  const growing = (mark) => Array.from({ length: Math.sqrt(2 * length) }, (_, at) => mark.repeat(at + 1)).join(" ");
  return {
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
    "runs of every length": growing("`"),
    "emphasis of every length": growing("*"),
  };
};

const source = ["markdown", "inline"].map((name) => readFileSync(new URL(`../../src/playground/js/${name}.js`, import.meta.url), "utf8"));
// Elements are only counted.
const page = "let made = 0; const copyButton = () => null; const el = () => ({ tagName: 'X', childNodes: [], made: (made += 1) });";
const render = new Function("text", `${page} ${source.join("\n")}; return renderAll(text.split("\\n"), 0).length;`);

/** The milliseconds of the processor that a text takes. */
function took(text) {
  const start = process.cpuUsage();
  if (render(text) === 0) throw new Error("nothing was rendered");
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

let [passed, failed] = [0, 0];
const [short, long] = [texts(1 << 18), texts(1 << 20)];
for (const name of Object.keys(short)) {
  const times = [took(short[name]), took(long[name])];
  // Below some milliseconds it is the clock that is measured. A quarter of a megabyte squared is never below.
  const linear = times[1] < 200 || times[1] < 9 * times[0];
  if (linear) passed += 1;
  else failed += 1;
  console.log(`${linear ? "ok  " : "FAIL"} ${name}: ${times.map((time) => time.toFixed()).join(" and ")} ms`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
