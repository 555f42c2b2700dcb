// What chat clients do to a text before they render it, by their own rules.

import katex from "katex";
import { Marked } from "marked";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import Markdown from "react-markdown";
import rehypeKatex from "rehype-katex";
import remarkDirective from "remark-directive";
import remarkGfm from "remark-gfm";
import remarkMath from "remark-math";
import { visit } from "unist-util-visit";

const react = (text, remarkPlugins) => renderToStaticMarkup(createElement(Markdown, { remarkPlugins, rehypePlugins: [rehypeKatex] }, text));

/** NextChat and LobeChat: formulas in brackets. */
const dollars = (text) =>
  text.replace(/(```[\s\S]*?```|`.*?`)|\\\[([\s\S]*?[^\\])\\\]|\\\((.*?)\\\)/g, (whole, code, display, inline) => code ?? (display ? `$$${display}$$` : inline ? `$${inline}$` : whole));

export const nextChat = (text) => {
  // A thought at the start becomes a quotation.
  const thought = text.match(/^<think>([\s\S]*?)(<\/think>|$)/);
  const shown = thought ? `${thought[1].split("\n").map((line) => `> ${line}`).join("\n")}\n\n${text.slice(thought[0].length)}` : text;
  return react(dollars(shown), [remarkMath, remarkGfm]);
};

// LibreChat: citations are taken out, directives but artifacts become text, thoughts are folded.
const COMPOSITE = /((?:\\ue200|\ue200).*?(?:\\ue201|\ue201))/g;
const STANDALONE = /(?:\\ue202|\ue202)turn(\d+)(search|image|news|video|ref|file)(\d+)/g;
const MARKS = /\\ue20[0-46]|[\ue200-\ue204\ue206]/g;
const citations = () => (tree) => visit(tree, "text", (node) => {
  node.value = node.value.replace(COMPOSITE, "").replace(STANDALONE, "").replace(MARKS, "");
});
const artifacts = () => (tree) => visit(tree, ["textDirective", "leafDirective", "containerDirective"], (node, index, parent) => {
  if (node.type === "textDirective") parent.children[index] = { type: "text", value: `:${node.name}` };
  else if (node.name === "artifact") parent.children[index] = { type: "paragraph", children: [{ type: "text", value: "Artifact" }] };
});

/** Takes parts out, changes the rest and puts them back. */
function around(text, pattern, name, change) {
  const parts = [];
  const rest = text.replace(pattern, (part) => `<<${name}_${parts.push(part) - 1}>>`);
  return change(rest).replace(new RegExp(`<<${name}_(\\d+)>>`, "g"), (_, at) => parts[at]);
}

export const libreChat = (text) => {
  const thoughtless = text.replace(/^\s*:::thinking\n([\s\S]*?)(\n:::|$)/, "");
  const escaped = around(thoughtless, /(```[\s\S]*?```|`[^`\n]+`)/g, "CODE_BLOCK", (rest) =>
    around(rest, /(\$\$[\s\S]*?\$\$|\\\[[\s\S]*?\\\]|\\\(.*?\\\))/g, "LATEX", (prose) => prose.replace(/\$(?=\d)/g, "\\$")));
  return react(dollars(escaped), [remarkGfm, remarkDirective, artifacts, [remarkMath, { singleDollarTextMath: false }], citations]);
};

// Open WebUI: the server folds thoughts and code, the page has templates and formulas.
const FOLDED = [
  ["<think>", "</think>"], ["<thinking>", "</thinking>"], ["<reason>", "</reason>"], ["<reasoning>", "</reasoning>"], ["<thought>", "</thought>"], ["<Thought>", "</Thought>"],
  ["<|begin_of_thought|>", "<|end_of_thought|>"], ["◁think▷", "◁/think▷"], ["<code_interpreter", "</code_interpreter>"],
];
function fold(text) {
  for (const [open, close] of FOLDED) {
    for (let at = text.indexOf(open); at >= 0; at = text.indexOf(open, at)) {
      const end = text.indexOf(close, at);
      text = text.slice(0, at) + (end < 0 ? "" : text.slice(end + close.length));
    }
  }
  return text.replaceAll("<|begin_of_solution|>", "").replaceAll("<|end_of_solution|>", "").replace(/<details\s+type="(reasoning|code_interpreter|tool_calls)"[^>]*>[\s\S]*?(<\/details>|$)/g, "");
}

const DELIMITERS = [["$$", "$$", true], ["$", "$"], ["\\pu{", "}"], ["\\ce{", "}"], ["\\(", "\\)"], ["\\[", "\\]", true], ["\\begin{equation}", "\\end{equation}", true]];
const AROUND = "[\\s?。，!-\\/:-@[-`{-~\\u2E80-\\u9FFF\\uF900-\\uFAFF\\uFF00-\\uFFEF]";
const literal = (text) => text.replace(/[-/\\^$*+?.()|[\]{}]/g, "\\$&");
const alternatives = (content, of) => `^(${of.map(([left, right]) => literal(left) + content + literal(right)).join("|")})(?=${AROUND}|$)`;
const RULES = {
  inlineKatex: new RegExp(alternatives("((?:\\\\[^]|[^\\\\])+?)", DELIMITERS), "u"),
  blockKatex: new RegExp(alternatives("([\\s\\S]+?)", DELIMITERS.filter(([, , display]) => display)), "us"),
};
const extension = (name, displayMode) => ({
  name,
  level: displayMode ? "block" : "inline",
  start(source) {
    for (let at = 0; at < source.length; at += 1) {
      if ((at === 0 || new RegExp(AROUND, "u").test(source[at - 1])) && DELIMITERS.some(([left]) => source.startsWith(left, at)) && RULES[name].test(source.slice(at))) return at;
    }
    return undefined;
  },
  tokenizer(source) {
    const match = source.match(RULES[name]);
    return match ? { type: name, raw: match[0], text: match.slice(2).find(Boolean), displayMode } : undefined;
  },
  renderer: (token) => katex.renderToString(token.text ?? "", { displayMode, throwOnError: false }),
});
const page = new Marked({ breaks: true });
page.use({ extensions: [extension("inlineKatex", false), extension("blockKatex", true)] });

export const openWebUi = (text) => page.parse(fold(text).replaceAll(/{{user}}/gi, "Ann").replaceAll(/{{char}}/gi, "bot"));
