// What is said before a question: by hand, and made up by a grammar.

const FENCE = "```";

const hostile = [
  "<!--", "text <!-- more", "<!-- a --> <!--", "<!--->", "<!---", "- <!--", "> <!--", "a\n\n    <!--", "<?", "a <?php", "<!X", "<!DOCTYPE", "<![CDATA[", "a <![CDATA[",
  "<script>", "<script><!--<script>", "<style>", "<textarea>", "<title>", "<xmp>", "<iframe>", "<noembed>", "<noframes>", "<noscript>", "<plaintext>", "<pre>", "<listing>",
  "<div hidden>", "<div hidden>\n\n</div", "<details>", "<details><summary>x</summary>", "<template>", "<dialog>", "<x-y hidden>", "a <span hidden>", "<b hidden>", "> <b hidden>", "> <b hidden>\n    </b>",
  "- <b hidden>\n\n      </b>", "<details>\n\n    </details>", "<select>", "<select><option>", "<datalist>", "<object>", "<video>", "<canvas>", "<table>", "<table><tr><td hidden>", "<table hidden>", "- <table hidden>",
  "<svg>", "<svg><foreignObject><div hidden>", "<svg><title>", "<svg><style>", "<math>", "<math><mtext>", "<math><annotation-xml>", "<frameset>", "<body hidden>", "<html hidden>", "<button>", "<a href=x>", "<del>",
  '<div title="', "<div title='", "<div title=", "<div ", "<div", "<d", "<", "</", "</div", '</div title="', '<a href="x', '<img alt="', "<img alt='", "a <img alt=\"", "<div/title=\"", "<div title=\"<!--\" hidden>",
  "<details<x hidden>", "<x<details hidden>", '<x"y hidden>', "<textarea><div></textarea><div hidden></div>", '<noscript><p title="</noscript><details>">', "<div hidden></p>", "<p hidden><div hidden></p></div>",
  FENCE, FENCE + "mermaid", FENCE + "mermaid\ngraph", FENCE + FENCE, "~~~", "~~~~ x", "  ```", "    ```", "- ```", "> ```", "1. x\n   ```sh\n   y", "```\n```~\n", "```\n~~~\n", "~~~\n```\n", "`````\n```\n", "```\n~~~\n```\n~~~", "<div>\n```\n",
  "<details>\n\n```\n</details>\n```\n", "```\n<details>\n   ```\n", "``` `\n<div hidden>\n```", "` <div hidden> `", "` \n<div hidden>\n`", "\\` <div hidden> `", "\\<div hidden>", "\\\\<div hidden>", "<div>\n\\<div hidden>",
  "`a <div hidden>\n\nb`", "|`a|\n|-|\n|` <div hidden> `|", "[a](b \"`\") <div hidden> `", "<https://a`b> <div hidden> `", "<details hidden>\n\n[a](</details>)", "<details hidden>\n\n[a](b \"</details>\")", "<details hidden>\n\n`a\n</details> `",
  "<details hidden>\n\n``a` </details> ``", "[a]: b \"", "[a]: b\n\"", "[a]: b\n'", "[a]: b\n(", "[a]:\n", "[a", "[a]", "[^a]: <div hidden>", "[^a]: x", "![a](b \"", "[a](<b", "[a](b (", "$$", "$$\n```", "$a", "| a |\n|-|\n| <div hidden> |",
  "**a", "__a", "~~a", "`a", "*", "- ", "1. ", "> ", "# ", "a\n=", "    a", "\ta", "- - > <div hidden>", "1. <details>", "a\\", "a\\\n", "&lt", "&", "\u0000<div hidden>", "<div\u0000hidden>", "<div\fhidden>", "<div\rhidden>", "a\r<div hidden>\r", "\r\n```\r\n",
  "<style>p,strong{display:none}</style>", '<div style="position:fixed;inset:0">x</div>', '<div class="fixed inset-0">x</div>', "<link rel=stylesheet href=x>", "<dialog open>x</dialog>",
  "<ul><li><details>", "<p><details>", "<h1 hidden>", "<b><i hidden><u>", "<a hidden><a hidden>", "<nobr hidden><nobr hidden>", "<form hidden><form hidden></form>", "<form hidden><table><form></form></table></form>", "<span hidden>\n\na</span>", "<span hidden>\n\n- <script>", "<ul hidden>\n\n- <object>", "<ul hidden>\n\n- <table>", "<x-y hidden>\n\na <button>", "<span hidden>\n\n# <textarea>", "<span hidden>\n\n> > <script>", "<blockquote hidden>\n\n> </blockquote>", "<div hidden>\n\f\n    </div>", "<font hidden>a</b></font><font hidden>", "<br><br/><hr>", "<p hidden>", "<li hidden>", "<dd hidden>", "<option hidden>", "<rt hidden>",
  "<caption hidden>", "<tr hidden>", "<td hidden>", "<tbody hidden>", "<colgroup hidden>", "<table><colgroup>", "<table><caption hidden>", "<table><select>", "<summary hidden>", "<marquee hidden>", "<applet hidden>", "<ruby><rp hidden>", "<center hidden>", "<DIV HIDDEN>", "<dIv hidden>",
  "[a\n\nb", "Vec<String>", "HashMap<K, V>", "a < b", "<https://a.example>", "<a@b.example>",
];

/** What is said every day. */
const clean = [
  "", "Text.", "Text\n\nmore.\n", "a < b and c > d", "HashMap<K, V> and Foo<T: X>", "See <https://a.example/b> or <a@b.example>.", "- <https://a.example>\n- `Vec<String>`", "```html\n<div hidden>\n<!--\n```\n", "~~~\n```\n~~~",
  "1. Run\n   ```sh\n   a <b\n   ```\n2. Done", "Use `<div>` and `<!--`.", "a<br>b<br/>\n<hr>\n", "<details><summary>x</summary>\n\ntext **b**\n\n</details>\n", '<p align="center"><img src="x" alt="y"></p>', "| a | b |\n|---|---|\n| $5<br>x | \\<b\\> |\n",
  "**bold** _it_ ~~s~~ [a](https://b.example) ![c](d)", "> quote\n\n# Heading\n\n- [x] task\n- [ ] other", "costs $5, then $6", "$$\nx^2\n$$\n", "H<sub>2</sub>O and x<sup>2</sup>", "2 <3 and <- and <=", "a\r\n\r\n```\r\nb\r\n```\r\n",
];

/** What clients know beyond Markdown, and what bends a page. */
const clients = [
  // Depth limits, tables, definitions.
  "- ".repeat(50), "- ".repeat(20), "> ".repeat(50), "1. ".repeat(50), "[".repeat(60), "*".repeat(60), "| a | b |\n|---|---|", "| a | b |\n|---|---|\n|", "Term\n: x", "[thesis]: javascript:x", "[Question]: x", "[^1]: notes", "x[^1]\n\n[^1]: y\n\n    ", "*[thesis]: notes",
  "*[Question]: notes", "*[agree]: notes\n\n<div title=\"", "*[yes]: notes\n\n<div title=\"", "[agree]: notes\n\n<div title=\"", "*[reply]: notes\n\n<title>", "---\ntitle: x", "+++\nx", "a\n---", "!!! note", "??? note", "???+ note\n\n    x", "=== \"tab\"", "/// details | x", ">! spoiler", ">>> x", "%%", "==a", "||a", "^^a", "++a", "~a", "^a", "--8<-- \"x\"", "{: hidden }", "# x {: hidden }", "{.hidden}", "x {hidden=1}", "[a]{hidden", "$x", "`x",
  // Formulas.
  "$$", "$$\n\\text{", "see $$ x", "\\[", "\\(", "see \\[ x", "see \\( x", "\\[\n\\text{x", "$\\text{", "$`x", "```math", "\\begin{equation}", "\\begin{align}\nx", "\\pu{", "\\ce{", "see \\ce{ x", "\\[ \\color{white}\\tiny ", "\\[\n\\color{white}\\tiny", "$$\\color{white}\\tiny", "$$ \\phantom{", "$$\\def\\a{", "\\[ \\def\\?{}\\def\\-{}\\def\\.{}\\def\\/{}\\def\\+{}\\color{white}\\tiny ",
  // Directives, artifacts, thoughts, citations and templates of chat clients.
  ":::artifact{identifier=\"a\" type=\"text/markdown\" title=\"N\"}", ":::artifact{identifier=\"a\" type=\"text/html\" title=\"N\"}\n```\nx\n```", ":::thinking", ":::thinking\nx", "::::note", ":::note[x]\n:::warning", "::leaf[x", ":text[x", ":text[x]{a=\"", ":::", "::: details x", ":::spoiler x", "<think>", "<thinking>", "text <think>", "<thought>", "<Thought>", "<reason>", "<reasoning>",
  "<|begin_of_thought|>", "<|begin_of_solution|>", "◁think▷", "text ◁think▷", "<code_interpreter type=\"code\" lang=\"python\">", "<details type=\"reasoning\" done=\"false\">", "<details type=\"reasoning\" done=\"true\">\n<summary>x</summary>\n", "<antArtifact identifier=\"a\">", "<antThinking>", "<lobeThinking>", "<lobeArtifact identifier=\"a\" type=\"text/html\">", "<artifact>", "<file name=\"a\">",
  "【", "【1", "【1†", "[1†", "\ue200", "\ue200cite\ue202turn0search0", "\\ue200", "\ue203", "\\ue203 x", "{{", "{{user", "{{#if x}}", "{%", "<%", "${", "{{VIDEO_FILE_ID_", "/* x", "<!-- more -->", "%%[x", "[[", "![[", "((", "<@", "@[", ":smile", "::: {.hidden}\n:::",
  // Elements that bend a page.
  "<?x", "<div hidden title=", "<div hidden title='", "ok\n\n<div><a title='", "<div><img alt='", "<font color=white>", "<div><font color=white>", "<font color=white size=1>x", "<font color=\"#ffffff00\">", "<table width=100><tr><td>", "<table><tr><td nowrap>", "<marquee>", "<div align=right>", "<bdo dir=rtl>", "<div dir=rtl>", "<center>", "<sub><sub><sub><sub><sub><sub>", "<small><small><small><small><small><small><small><small>",
  "<span inert>", "<div inert>", "<fieldset>", "<legend>", "<map><area>", "<rt>", "<ruby>x<rt>", "<rp>", "<progress>", "<meter>", "<label>", "<output>", "<embed>", "<param>", "<portal>", "<slot>", "<search>", "<menu popover>", "<div popover>", "<div hidden=until-found>", "<img hspace=700 align=left>", "<hr width=10000>", "<pre width=10>", "<optgroup>", "<select><option selected>",
  "<details name=a open><summary>x</summary></details><details name=a><summary>y</summary>", "<div aria-hidden=true>", "<div contenteditable>", "<textarea rows=1>", "<input value='", "<input type=text value=\"", "<iframe srcdoc='", "<object data='", "<svg><text>", "<svg><desc>", "<svg width=1 height=1><foreignObject>", "<math><mphantom>", "<math><mpadded width=0>", "<math><mrow>",
];

/** What lets a text lay out the page behind it: no substitution helps. */
const looks = [
  "/// admonition\n    attrs:\n      style: 'text-indent: -600px'", "/// details\n    open: true\n    attrs:\n      style: 'text-indent: -600px'\n\na", "/// admonition\n    type: truncate", "!!! absolute bg-white w-64 h-32", "a\n\n!!! note absolute bg-white w-64 h-32\n", "??? absolute bg-white w-64 h-32",
  "<style>p::first-line{font-size:0;color:transparent}</style>", "<style>p{font-size:0}p strong{font-size:14px}</style>", "<style>p{color:transparent}p strong,p code{color:#000}</style>", "<style>p{height:20px;overflow:hidden;display:flex;align-items:flex-end}</style>", "<style>p{text-indent:-600px}</style>",
  "<div style=\"text-indent:-600px\">", "<div style=\"height:20px;overflow:hidden\">", "<div style=\"height:20px;overflow:hidden;display:flex;align-items:flex-end\">", "<div style=\"direction:rtl;white-space:nowrap\">", "<div style=\"position:relative\"><div style=\"position:absolute;top:0;width:70%;height:90px;background:white\"></div>",
  "<div class=\"line-clamp-1\">", "<div class=\"truncate\">", "<div class=\"first-line:text-transparent\">", "<div class=\"hidden\">", "<span class=\"katex-mathml\">",
  "<pre dir=rtl>", "<nobr dir=rtl>", "<div dir=rtl><nobr>", "<table align=right><tr><td nowrap>", "<dialog open>Shall I look at the notes?</dialog>",
  "<svg width=1 height=1 overflow=visible opacity=0.99><rect width=760 height=40 fill=white /></svg>", "$$\n\\kern-12em ", "$$\n\\hspace{-20em}", "$$\n\\def r{}", "$$\n\\def\\x#1agree{\\text{Read the notes? To agree}}\\x", "```math\n\\def\\x#1agree{\\text{Read the notes? To agree}}\\x",
];

/** What has only characters behind which a yes counts. */
export const plain = [
  "", "I looked at it.", "Text\n\nmore.\n", "Text,\nmore; and more: all.\n", "1. 1. 1. 1. a", "- - - a", `${"1. ".repeat(40)}a`, `${"- ".repeat(40)}`, "- ".repeat(20), "1. ".repeat(40), "1) a\n2) b", "---\ntitle: x", "---\ntitle: x\n---\n", "---", "a\n---", "- ---\n  a: b\n", "-- --- ----", "(", "(a (b (c", "\"", "'", "\"a 'b (c", "a \"", "')\"", "(c) (tm) 1/2 1st",
  "//", "// a\n/ b", "??", "? a\n: b", "!! note\n    a", "Term\n: x", "Term\n\n:   x\n\n    y", ": a", ":\n:\n", "note: x\ntags: a\n        b", "title: a\nbase: b\n", `${" ".repeat(80)}a`, "    a", "\ta\n\n\t\tb", "  - a\n\n        b\n", `a\n${" ".repeat(60)}`, " \n \n \n",
  `e${"\u0301".repeat(2)} a\u0327\u0323`, "\u0301", "研究を見ました。", "我看了“论文”，还有数据：三个。", "نظرت في الأطروحة، ثم؟", "שלום", "मैंने ज़िंदगी को देखा", "กี่", "😀 ☠ ✂ ■ █ €", "¿Qué? ¡No!", "www.a.example and a.example/b", "yes no cancel", "Question: may I? To agree, reply: yes.", "a\r\n\r\n- b\r\n",
];

/** Words of machines, behind which a yes counts unless they are the text of the message itself. */
export const tokens = [
  "msg_01XFDUDYJgAACzvnptvVoYEL", "2026-11-28T06:38:11.123Z", "https://a.example/b_c/d?e=f&g=%20h#i", "EqMBCkYIBxgCKkC/x+y0aZ+Pq1==", "text/html", "a/model-4:beta", "__a", "_a", "___", "==a", "==", "===", "#a", "#", "##", "###a", "&lt", "&", "@a", "++a", "+a", "%a",
  ":a", ":", "a:", "//", "--", "---", "-", "--a", "...", "@@a", "=", "a=b", "?a=b&c=d", "#####", "&&&", "@", "http://", "www.a.example", "a@b.example", "data:text/html,x", "javascript:x", "1.", "1", "-1", "+1", "_a_", "__a__", "==a==", "#a:b", "a,b", ",",
];

/** Where else than in its text a message may have what stands above. */
export const places = ["message", "reasoning", "refusal", "part", "annotation", "member", "key", "arguments", "result"];

/** All that is said by hand, once each. */
export const written = [...new Set([...plain, ...hostile, ...clients, ...looks, ...clean])];

function random(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * below);
  };
}

const NAMES = ["div", "details", "b", "p", "span", "table", "tr", "td", "li", "ul", "a", "x-y", "summary", "script", "textarea", "template", "select", "option", "noscript", "h1", "font", "object", "button", "tbody", "caption"];
const ATTRIBUTES = ["", "", "", " hidden", " hidden", ' title="x"', ' title="', " title='", " title=x", " title='<b>'", ' title="`"', " title", "/"];
const LEADS = ["", "", "", "", "> ", "- ", "1. ", "  ", "    ", "\t", "  - ", "a ", "| ", "# ", "[x] ", "\\", "* `"];
const ENDS = ["\n", "\n", "\n\n", "\n\n", "", " ", "\r\n", "\n \n"];
const ODD = ["<!--", "-->", "<!-- x -->", "<?", "?>", "<!X", "<![CDATA[", "]]>", "`", "``", "```", "````", "~~~", "~~~~", "```sh", "` `", "[a](", ")", "[a]: ", "[a", "]", '"', "'", "(", "|", "\\", "$", "$$", "<", ">", "</", "<a", "*", "**", "_", "&lt;", "|-|", "=", "text", "a b", "<https://a", "<K, V>", "]("];

/** Texts from a seed. */
export function* generated(count, seed) {
  const below = random(seed);
  const one = (list) => list[below(list.length)];
  const piece = () => {
    switch (below(6)) {
      case 0:
      case 1:
        return `<${one(NAMES)}${one(ATTRIBUTES)}>`;
      case 2:
        return `</${one(NAMES)}>`;
      case 3:
        return one(["text", "word ", "`code`", "\\<b>"]);
      default:
        return one(ODD);
    }
  };
  for (let at = 0; at < count; at += 1) {
    let text = "";
    // Half of them nest well, so that they are read exactly for longer.
    const open = [];
    for (let lines = 1 + below(6); lines > 0; lines -= 1) {
      text += one(LEADS);
      for (let pieces = 1 + below(4); pieces > 0; pieces -= 1) {
        if (at % 2 === 0) {
          text += piece();
        } else if (open.length > 0 && below(2) === 0) {
          text += below(6) === 0 ? piece() : `</${open.pop()}>`;
        } else {
          const name = one(NAMES.filter((name) => !["script", "textarea", "template", "select", "noscript", "object", "option"].includes(name)));
          open.push(name);
          text += `<${name}${one([" hidden", "", ' title="x"'])}>${one(["", "text", "\\", "`", "[a](", "](", "$", ""])}`;
        }
      }
      text += one(ENDS);
    }
    yield text;
  }
}

const PLAIN_LEADS = ["", "", "1. ", "1. 1. 1. ", "- ", "- - ", "  - ", "10) ", "---\n", ": ", ":   ", "    ", "\t", "            ", "? ", "! ", "// ", "?? ", "!! ", "( ", "' ", "\" ", "-- ", "note: ", "; "];
const PLAIN = ["text", "word ", "a b", "---", "- -", "(", "(", ")", "\"", "'", "\"", "/", "//", "?", "??", "!", "!!", ": ", ", ", ". ", ".", "...", ";", "-", "--", "1", "2. ", "3) ", "title: x", "www.a.example", "e\u0301\u0323", "\u0301", "研究", "。", "، نظرت", "؟", "שלום", "ज़िंदगी", "😀", "“", "‘", "（", "［", "！", "half 1/2", "(c)"];

/** Texts with only characters behind which a yes counts, from a seed. */
export function* generatedPlain(count, seed) {
  const below = random(seed);
  const one = (list) => list[below(list.length)];
  for (let at = 0; at < count; at += 1) {
    let text = "";
    for (let lines = 1 + below(6); lines > 0; lines -= 1) {
      text += one(PLAIN_LEADS);
      for (let pieces = below(5); pieces > 0; pieces -= 1) text += one(PLAIN);
      text += one(ENDS);
    }
    // A colon stands before white space, no sign three times, and no more than three marks together.
    yield text.replace(/:(?=\S)/g, ": ").replace(/([!?/])\1(?=\1)/g, "$1$1 ").replace(/(?<=\p{M}{3})\p{M}+/gu, "");
  }
}
