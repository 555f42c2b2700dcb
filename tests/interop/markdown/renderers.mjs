// The renderers: from Markdown to the HTML that a page is given.

import * as commonmark from "commonmark";
import createDOMPurify from "dompurify";
import { JSDOM } from "jsdom";
import MarkdownIt from "markdown-it";
import { marked } from "marked";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import Markdown from "react-markdown";
import rehypeRaw from "rehype-raw";
import remarkGfm from "remark-gfm";

// React talks about every odd element.
console.error = () => {};

const { window } = new JSDOM("");
const purify = createDOMPurify(window);
const markdownIt = new MarkdownIt({ html: true, linkify: true });
const escaping = new MarkdownIt();
const commonmarkReader = new commonmark.Parser();
const commonmarkWriter = new commonmark.HtmlRenderer();
const react = (text, options) => renderToStaticMarkup(createElement(Markdown, { remarkPlugins: [remarkGfm], ...options }, text));

export const renderers = {
  "marked and DOMPurify": (text) => purify.sanitize(marked.parse(text)),
  "marked": (text) => marked.parse(text),
  "markdown-it, html": (text) => markdownIt.render(text),
  "markdown-it": (text) => escaping.render(text),
  "react-markdown, skipHtml": (text) => react(text, { skipHtml: true }),
  "react-markdown and rehype-raw": (text) => react(text, { rehypePlugins: [rehypeRaw] }),
  "commonmark.js": (text) => commonmarkWriter.render(commonmarkReader.parse(text)),
};

const HIDING = new Set([
  "SCRIPT", "STYLE", "TEMPLATE", "TEXTAREA", "TITLE", "SELECT", "IFRAME", "NOSCRIPT", "NOEMBED", "NOFRAMES", "XMP", "SVG", "MATH",
  "DIALOG", "OBJECT", "AUDIO", "VIDEO", "CANVAS", "PROGRESS", "METER", "BUTTON", "DATALIST", "PRE", "CODE", "DETAILS", "HEAD", "A", "DEL",
]);

/** Whether an element, or one that it stands in, could keep its text from being read. */
function hides(node) {
  for (let at = node; at && at.nodeType === 1; at = at.parentNode) {
    if (HIDING.has(at.tagName.toUpperCase()) || at.hasAttribute("hidden") || at.hasAttribute("style") || at.hasAttribute("popover")) {
      return true;
    }
  }
  return false;
}

/** The visible text of a page that is given this HTML. */
export function visible(html) {
  const root = window.document.createElement("div");
  root.innerHTML = html;
  const walker = window.document.createTreeWalker(root, window.NodeFilter.SHOW_TEXT);
  let text = "";
  while (walker.nextNode()) if (!hides(walker.currentNode.parentNode)) text += walker.currentNode.data;
  return text;
}

/** Whether a page has a style that could hide anything. */
export const styled = (html) => /<style\b|stylesheet/i.test(html);
