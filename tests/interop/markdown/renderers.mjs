// The renderers: from Markdown to the HTML that a page is given. `null` where one gives up.

import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import vscodeKatex from "@vscode/markdown-it-katex";
import * as commonmark from "commonmark";
import katex from "katex";
import MarkdownIt from "markdown-it";
import abbr from "markdown-it-abbr";
import attrs from "markdown-it-attrs";
import container from "markdown-it-container";
import deflist from "markdown-it-deflist";
import { full as emoji } from "markdown-it-emoji";
import footnote from "markdown-it-footnote";
import mark from "markdown-it-mark";
import sub from "markdown-it-sub";
import sup from "markdown-it-sup";
import texmath from "markdown-it-texmath";
import { compiler } from "markdown-to-jsx";
import { Marked } from "marked";
import markedKatex from "marked-katex-extension";
import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import Markdown from "react-markdown";
import rehypeKatex from "rehype-katex";
import rehypeRaw from "rehype-raw";
import rehypeSanitize from "rehype-sanitize";
import remarkBreaks from "remark-breaks";
import remarkDirective from "remark-directive";
import remarkGfm from "remark-gfm";
import remarkMath from "remark-math";
import { Remarkable } from "remarkable";
import showdown from "showdown";
import snarkdown from "snarkdown";
import { Streamdown } from "streamdown";
import { libreChat, nextChat, openWebUi } from "./clients.mjs";

// React and KaTeX talk about all that is odd.
console.error = console.warn = () => {};

const require = createRequire(import.meta.url);
export const KATEX = require.resolve("katex/dist/katex.min.css");
export const DOMPURIFY = require.resolve("dompurify/dist/purify.min.js");

const html = (element) => renderToStaticMarkup(element);
const react = (text, remarkPlugins = [], rehypePlugins = [], options = {}) => html(createElement(Markdown, { remarkPlugins: [remarkGfm, ...remarkPlugins], rehypePlugins, ...options }, text));
const markdownIt = (options, ...plugins) => {
  const reader = plugins.reduce((reader, [plugin, ...given]) => reader.use(plugin, ...given), new MarkdownIt(...[options].flat()));
  return (text) => reader.render(text);
};
const marked = (...extensions) => {
  const reader = new Marked(...extensions);
  return (text) => reader.parse(text);
};
const everything = [[abbr], [attrs], [container, "spoiler"], [container, "details"], [deflist], [emoji], [footnote], [mark], [sub], [sup]];
const commonmarkReader = new commonmark.Parser({ smart: true });
const commonmarkWriter = new commonmark.HtmlRenderer();
const show = new showdown.Converter({ ...showdown.getFlavorOptions("github"), ellipsis: true, underline: true, metadata: true, parseImgDimensions: true });
const remarkable = new Remarkable("full", { html: true, linkify: true, typographer: true });

const renderers = {
  "marked": marked(),
  "marked, breaks": marked({ breaks: true }),
  "marked, pedantic": marked({ pedantic: true, gfm: false }),
  "marked, KaTeX": marked(markedKatex({ throwOnError: false, nonStandard: true })),
  "markdown-it": markdownIt({ linkify: true }),
  "markdown-it, html": markdownIt({ html: true, linkify: true, typographer: true }),
  "markdown-it, commonmark": markdownIt("commonmark"),
  "markdown-it, zero": markdownIt("zero"),
  "markdown-it, html and KaTeX": markdownIt({ html: true }, [vscodeKatex.default ?? vscodeKatex, { throwOnError: false }]),
  "markdown-it, texmath": markdownIt({ html: true }, [texmath, { engine: katex, delimiters: ["dollars", "brackets", "beg_end", "gitlab", "julia", "kramdown", "doxygen"], katexOptions: { throwOnError: false } }]),
  "markdown-it, ten plugins": markdownIt({ html: true, linkify: true, typographer: true, breaks: true }, ...everything),
  "react-markdown": (text) => react(text),
  "react-markdown, skipHtml": (text) => react(text, [remarkBreaks], [], { skipHtml: true }),
  "react-markdown, rehype-raw": (text) => react(text, [], [rehypeRaw]),
  "react-markdown, rehype-sanitize": (text) => react(text, [], [rehypeRaw, rehypeSanitize]),
  "react-markdown, KaTeX": (text) => react(text, [remarkMath], [rehypeKatex]),
  "react-markdown, rehype-raw and KaTeX": (text) => react(text, [[remarkMath, { singleDollarTextMath: false }], remarkBreaks], [rehypeRaw, rehypeKatex]),
  "react-markdown, directives": (text) => react(text, [remarkDirective]),
  "Streamdown": (text) => html(createElement(Streamdown, { mode: "static" }, text)),
  "Streamdown, streaming": (text) => html(createElement(Streamdown, { isAnimating: true }, text)),
  "NextChat": nextChat,
  "LibreChat": libreChat,
  "Open WebUI": openWebUi,
  "commonmark.js": (text) => commonmarkWriter.render(commonmarkReader.parse(text)),
  "micromark": (text) => micromark(text, { allowDangerousHtml: true, extensions: [gfm()], htmlExtensions: [gfmHtml()] }),
  "showdown": (text) => show.makeHtml(text),
  "markdown-to-jsx": (text) => html(compiler(text)),
  "snarkdown": (text) => snarkdown(text),
  "remarkable": (text) => remarkable.render(text),
};

/** The renderers whose HTML goes through DOMPurify as well. */
export const PURIFIED = ["marked", "Open WebUI"];

/** The HTML that each renderer makes of each text. */
export function* render(texts) {
  for (const [name, one] of Object.entries(renderers)) {
    yield [name, texts.map((text) => {
      try {
        return one(text);
      } catch {
        return null;
      }
    })];
  }
  const python = spawnSync("../.venv/bin/python", ["renderers.py"], { input: JSON.stringify(texts), maxBuffer: 1 << 30, encoding: "utf8" });
  if (python.status !== 0) throw new Error(python.stderr);
  yield* Object.entries(JSON.parse(python.stdout));
}
