// Markdown, as the page draws it.

import { readFileSync } from "node:fs";
import { equal, test } from "../harness.mjs";

const source = ["dom", "json", "inline", "markdown"]
  .map((name) => readFileSync(new URL(`../../../src/playground/js/${name}.js`, import.meta.url), "utf8"))
  .join("\n");

/** Runs `body` beside the page's own code, with `input`. */
const beside = (p, body, input) => p.page.evaluate(`(() => { ${source}\n const input = ${JSON.stringify(input)}; ${body} })()`);

const GROWING = [
  "- a\n- b\n\n- c\n\n1. one\n\n   more\n2. two\n\nend\n\n10 apples\n",
  "a | b\n--|--\n1 | 2\n\n- x\n\n-\n\nlast\n===\n***\n",
  "one\r\ntwo\r\n\r\nthree\r\r> quote\r\nlazy\r\n\r\n```rust\r\nlet a = 1;\r\n\r\n```\r\nend",
  "```\nopen | fence\n\n- a\n```\n| a |\n|---|\n| b |\n# h\n\n\n\n- a\n  - b\n\n    c\n\n\nd",
];

test("markdown: what grows ends as what comes at once", async (p) => {
  const pairs = await beside(p, `
    const html = (view) => {
      for (const group of view.node.querySelectorAll(".markdown")) group.replaceWith(...group.childNodes);
      return view.node.innerHTML;
    };
    return input.flatMap((text) => [1, 2, 3, 7].map((size) => {
      const growing = new MarkdownView();
      for (let at = 0; at < text.length; at += size) {
        growing.append(text.slice(at, at + size));
        growing.flush();
      }
      return [html(growing), html(new MarkdownView(text))];
    }));
  `, [...GROWING, GROWING.join("\n\n").repeat(12)]);
  for (const [growing, whole] of pairs) equal(growing, whole, "drawn piece by piece");
});
