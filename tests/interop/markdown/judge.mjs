// What a person sees of HTML in a chat page, in Chromium, and what that says about a question.

import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";
import { DOMPURIFY, KATEX } from "./renderers.mjs";

// Colours as the usual style sheets for prose have them; what is too wide is cut, as chat columns do.
const LOOKS = `
  body { background: #fff }
  #chat { width: 760px; overflow-x: hidden; color: #374151 }
  #chat strong, #chat code, #chat del, #chat a { color: #111827 }
  .line-clamp-1 { overflow: hidden; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 1 }
  .truncate { overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
  .hidden { display: none }
  .absolute { position: absolute }
  .bg-white { background: #fff }
  .w-64 { width: 16rem }
  .h-32 { height: 8rem }
  .first-line\\:text-transparent::first-line { color: transparent }`;

/** Runs in the page: the text from the question on, `\0` for each piece that cannot be read. */
function look([html, purified]) {
  const chat = document.getElementById("chat");
  chat.innerHTML = purified ? DOMPurify.sanitize(html) : html;
  document.scrollingElement.scrollTop = 1e9;
  const nodes = [];
  const walker = document.createTreeWalker(chat, NodeFilter.SHOW_TEXT);
  // A formula stands there twice: once for screen readers.
  while (walker.nextNode()) if (!walker.currentNode.parentElement.closest(".katex-mathml:has(annotation)")) nodes.push(walker.currentNode);
  const start = nodes.map((node) => node.data).join("").lastIndexOf("Question:");
  const column = chat.getBoundingClientRect();
  const parts = (color) => (color.match(/[\d.]+/g) ?? []).map(Number);
  const unreadable = (color) => {
    const [red, green, blue, alpha = 1] = parts(color);
    return alpha < 0.1 || (red > 235 && green > 235 && blue > 235);
  };
  const boxes = new Map();
  const box = (element) => {
    if (!boxes.has(element)) {
      const style = getComputedStyle(element);
      const first = getComputedStyle(element, "::first-line");
      const fades = style.display !== "inline" && (unreadable(first.color) || parseFloat(first.fontSize) < 6);
      boxes.set(element, { area: element.getBoundingClientRect(), cuts: style.overflow !== "visible" && style.display !== "inline", fades });
    }
    return boxes.get(element);
  };
  // What lies over text, and has a paper of its own.
  const covers = (hit, parent) => {
    for (let at = hit; !at.contains(parent); at = at.parentElement) {
      const style = getComputedStyle(at);
      const [, , , alpha = 1] = parts(style.backgroundColor);
      if (alpha > 0.1 || parseFloat(style.borderTopWidth) > 3 || parseFloat(style.borderRightWidth) > 3 || ["IMG", "svg", "VIDEO", "IFRAME", "EMBED", "OBJECT", "CANVAS"].includes(at.tagName)) return true;
    }
    return false;
  };
  const seen = (parent, { left, right, top, bottom, width, height }) => {
    if (width < 0.5 || height < 4 || left < column.left - 1 || right > column.right + 1) return false;
    const y = (top + bottom) / 2;
    for (let x = left + Math.min(width, 40) / 2; y >= 0 && y <= innerHeight && x < right; x += 40) {
      const hit = document.elementFromPoint(x, y);
      if (!hit || (hit !== parent && covers(hit, parent))) return false;
    }
    for (let at = parent; at !== chat; at = at.parentElement) {
      const { area, cuts, fades } = box(at);
      if (cuts && (bottom > area.bottom + 2 || top < area.top - 2 || right > area.right + 2 || left < area.left - 2)) return false;
      if (fades && Math.abs(top - area.top) < 12) return false;
    }
    return true;
  };
  const folded = (element) => {
    for (let at = element.closest("details:not([open])"); at; at = at.parentElement?.closest("details:not([open])")) {
      if (!at.querySelector(":scope > summary")?.contains(element)) return true;
    }
    return false;
  };
  const range = document.createRange();
  const shows = (parent, node, from, to) => {
    range.setStart(node, from);
    range.setEnd(node, to);
    const areas = [...range.getClientRects()];
    return areas.length > 0 && areas.every((area) => seen(parent, area));
  };
  let text = "";
  let at = 0;
  for (const node of nodes) {
    const from = at;
    at += node.data.length;
    const parent = node.parentElement;
    if (at <= start || ["SCRIPT", "STYLE", "TEMPLATE", "TITLE", "NOSCRIPT", "OPTION"].includes(parent.tagName) || folded(parent)) continue;
    if (!parent.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true })) continue;
    const style = getComputedStyle(parent);
    if (parseFloat(style.fontSize) < 6 || unreadable(style.color) || unreadable(style.webkitTextFillColor)) continue;
    const first = Math.max(0, start - from);
    const shown = node.data.slice(first);
    if (shows(parent, node, first, node.data.length)) {
      text += shown;
      continue;
    }
    for (const match of shown.matchAll(/(?:\S\p{M}*){1,12}/gu)) {
      const at = first + match.index;
      text += shows(parent, node, at, at + match[0].length) ? match[0] : "\0";
    }
  }
  chat.replaceChildren();
  return text;
}

// A typographer's dashes, dots and quotation marks are as good; so are accents that stand beside their letters.
const SHAPES = [[/[\p{M}\p{Lm}\p{Sk}\s]/gu, ""], [/[\u2010-\u2015\u2212]/g, "-"], [/-+/g, "-"], [/\?{3,}/g, "???"], [/,+/g, ","], [/\.{2,}/g, "..."], [/[“”"„‟]/g, "”"], [/[‘’'′‚]/g, "’"]];
const same = (text) => SHAPES.reduce((text, [from, to]) => text.replace(from, to), text.normalize("NFKD"));
const letters = (text) => same(text).replace(/[^\p{L}\p{N}\0]/gu, "");

/** What a person who sees `text` knows of the question that an answer ends with. */
export function verdict(answer, text) {
  const [, question, code] = answer.match(/\n\n(Question: .*? To agree, reply: yes (\d{6})\.) To refuse, reply: no\. \([^()]* cw[0-9a-z]+\)$/su);
  const seen = same(text);
  if (!seen.includes(code)) return "hidden";
  if (seen.includes(same(question))) return "whole";
  return letters(text).includes(letters(question)) ? "altered" : "partly";
}

/** Two pages, each in a process of its own. */
export class Judge {
  static async start() {
    const browser = await chromium.launch({
      executablePath: process.env.CHROMIUM,
      // No sandbox: CI runs as root. The rest stops the browser's own requests.
      args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
    });
    return Object.assign(new Judge(), { browser, version: browser.version(), pages: await Promise.all([open(browser), open(browser)]) });
  }

  /** What is seen of each `[HTML, whether it is purified]`; the same one is looked at once. */
  async look(all) {
    const unique = [...new Set(all.map((one) => JSON.stringify(one)))];
    const texts = new Map();
    const queue = Array.from({ length: Math.ceil(unique.length / 100) }, (_, at) => unique.slice(at * 100, at * 100 + 100));
    const work = async (page) => {
      for (let some; (some = queue.pop()); ) {
        const found = await page.evaluate((list) => list.map((one) => window.look(JSON.parse(one))), some);
        some.forEach((one, at) => texts.set(one, found[at]));
      }
    };
    await Promise.all(this.pages.map(work));
    return all.map((one) => texts.get(JSON.stringify(one)));
  }

  close() {
    return this.browser.close();
  }
}

async function open(browser) {
  const context = await browser.newContext({ viewport: { width: 900, height: 3000 } });
  const page = await context.newPage();
  await page.route("**", (route) => route.abort());
  const fonts = /@font-face\{[^}]*\}/g;
  await page.setContent(`<!doctype html><style>${readFileSync(KATEX, "utf8").replace(fonts, "")}${LOOKS}</style><div id=chat></div>`);
  await page.addScriptTag({ path: DOMPURIFY });
  await page.evaluate(`window.look = ${look}`);
  return page;
}
