// Markdown, as the page draws it.

import { readFileSync } from "node:fs";
import { equal, test } from "../harness.mjs";

const source = ["dom", "json", "inline", "markdown"]
  .map((name) => readFileSync(new URL(`../../../src/playground/js/${name}.js`, import.meta.url), "utf8"))
  .join("\n");

/** Runs `body` beside the page's own code, with `input`. */
const beside = (p, body, input) => p.page.evaluate(`(() => { ${source}\n const input = ${JSON.stringify(input)}; ${body} })()`);

const INLINE = [
  ["***both***", "<em><strong>both</strong></em>"],
  ["___both___ here", "<em><strong>both</strong></em> here"],
  ["a ***b c*** d", "a <em><strong>b c</strong></em> d"],
  ["**bold *and italic***", "<strong>bold <em>and italic</em></strong>"],
  ["*italic **and bold***", "<em>italic <strong>and bold</strong></em>"],
  ["**bold** *italic* ~~gone~~", "<strong>bold</strong> <em>italic</em> <s>gone</s>"],
  ["***alone", "***alone"],
  ["2 *** 3 *** 4", "2 *** 3 *** 4"],
  ["AT&amp;T &copy; 2026 &#169; &#xA9; &lt;b&gt;", "AT&amp;T © 2026 © © &lt;b&gt;"],
  ["&lt;script&gt;hit()&lt;/script&gt; &#42;plain&#42;", "&lt;script&gt;hit()&lt;/script&gt; *plain*"],
  ["&nosuch; & &; &#0; &#xD800; &#x110000; &constructor;", "&amp;nosuch; &amp; &amp;; \ufffd \ufffd \ufffd &amp;constructor;"],
  ["`&amp;`", "<code>&amp;amp;</code>"],
  ["[a &amp; b](javascript&#58;hit())", '<span class="dead-link" title="javascript&amp;#58;hit()">a &amp; b</span>'],
];

test("markdown: marks inside of marks, and references to characters", async (p) => {
  const found = await beside(p, `return input.map((text) => new MarkdownView(text).node.innerHTML);`, INLINE.map(([text]) => text));
  for (const [at, [text, expected]] of INLINE.entries()) equal(found[at], `<p>${expected}</p>`, text);
});

test("markdown: a long run of anything is read in time", async (p) => {
  const texts = ["*a ", "**a *b ", "***a ", "&", "&#", "_a", "`", "[", "a\n", "**a***"].map((piece) => piece.repeat(20_000));
  equal(await beside(p, `return input.map((text) => new MarkdownView(text).node.textContent.length > 0);`, texts), texts.map(() => true));
});

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
