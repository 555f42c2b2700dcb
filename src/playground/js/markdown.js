// Markdown, block by block. HTML in it stays text, links lead only to the web or to mail, and no remote resource is
// loaded.

const MAX_DEPTH = 10;

/** Returns the address of a link if it is an absolute web or mail address, or else null. */
function safeUrl(text) {
  if (!/^(https?:\/\/|mailto:)/i.test(text)) return null;
  try {
    // Parsed too, because the pattern accepts addresses that no browser can open.
    const url = new URL(text);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/** A link that opens in a new tab and sends no referrer. */
function link(url, ...children) {
  const href = safeUrl(url);
  if (href === null) return el("span", { class: "dead-link", title: url.slice(0, 200) }, ...children);
  const props = { href, title: href, target: "_blank", rel: "noopener noreferrer nofollow" };
  return el("a", props, ...children);
}

/** New lines can change at most the last two blocks; earlier blocks are never parsed again. */
const OPEN_BLOCKS = 3;
const GROUP = 100;

/** Shows Markdown while it is received: only changed blocks are built again. */
class MarkdownView {
  #blocks = [];
  #text = "";
  #more = "";
  #wanted = false;
  #cost = 0;
  #finished = [];

  constructor(text = "", ongrow = () => {}) {
    this.node = el("div", { class: "markdown" });
    this.ongrow = ongrow;
    this.#more = text;
    if (text !== "") this.flush();
  }

  append(text) {
    this.#more += text;
    if (this.#wanted) return;
    this.#wanted = true;
    // A timer, because a hidden tab has no animation frames. A slow view is drawn less often.
    setTimeout(() => this.flush(), this.#cost > 50 ? Math.min(3 * this.#cost, 250) : 16);
  }

  flush() {
    this.#wanted = false;
    if (this.#more === "") return;
    const start = performance.now();
    // A CR at the end may be the first half of a CR LF.
    this.#text = (this.#text + this.#more).replace(/\r\n|\r(?!$)/g, "\n");
    this.#more = "";
    const lines = this.#text.split("\n");
    const blocks = splitBlocks(lines);
    let same = 0;
    while (same < blocks.length && blocks[same].source === this.#blocks[same]?.source) same += 1;
    for (const old of this.#blocks.splice(same)) old.node.remove();
    const fresh = blocks.slice(same).map((block) => ({ source: block.source, node: renderBlock(block, 0) }));
    this.#blocks.push(...fresh);
    this.node.append(...fresh.map(({ node }) => node));
    const done = blocks.length - OPEN_BLOCKS;
    if (done > 0) {
      this.#text = lines.slice(blocks[done].from).join("\n");
      this.#close(this.#blocks.splice(0, done).map(({ node }) => node));
    }
    this.ongrow();
    // With the layout, which is half of the cost.
    requestAnimationFrame(() => setTimeout(() => (this.#cost = performance.now() - start)));
  }

  /** Groups finished blocks, because an element with many children is laid out slowly. */
  #close(nodes) {
    this.#finished.push(...nodes);
    while (this.#finished.length >= GROUP) {
      const group = this.#finished.splice(0, GROUP);
      const around = el("div", { class: "markdown" });
      group[0].before(around);
      around.append(...group);
    }
  }
}

// Adjacent repetitions have no character in common: else a long run would be divided in every way.
const FENCE = /^ {0,3}(`{3,}(?!`)|~{3,}(?!~))([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?!\S)(.*)$/s;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])(\s+|$)/;

/** Returns `true` for the line between the head and the body of a table. */
const divides = (line) =>
  !line.startsWith("    ") && line.trim().replace(/^\|/, "").replace(/\|$/, "").split("|").every((cell) => /^:?-+:?$/.test(cell.trim()));

/** The text of a heading, without the marks that may close it. */
function headingText(rest) {
  const text = rest.trim();
  let end = text.length;
  while (text[end - 1] === "#") end -= 1;
  return end === 0 || /\s/.test(text[end - 1]) ? text.slice(0, end).trimEnd() : text;
}

/** Groups lines into blocks; `source` is the text of a block. */
function splitBlocks(lines) {
  const blocks = [];
  const add = (kind, from, to, more) =>
    blocks.push({ kind, from, lines: lines.slice(from, to), source: kind + lines.slice(from, to).join("\n"), ...more });
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    const from = at;
    const fence = FENCE.exec(line);
    if (line.trim() === "") {
      at += 1;
    } else if (fence) {
      at += 1;
      // A closing fence is at least as long as the opening fence, and nothing follows it on its line (CommonMark,
      // section 4.5).
      const closes = (text) => text.trim().startsWith(fence[1]) && /^[`~]+$/.test(text.trim());
      while (at < lines.length && !closes(lines[at])) at += 1;
      // While the answer is received, a fence without its end is a block too.
      at = Math.min(at + 1, lines.length);
      add("code", from, at, { language: fence[2].trim().split(/\s/)[0], closed: closes(lines[at - 1]) && at - 1 > from });
    } else if (HEADING.test(line)) {
      add("heading", from, ++at);
    } else if (RULE.test(line)) {
      add("rule", from, ++at);
    } else if (QUOTE.test(line)) {
      while (at < lines.length && lines[at].trim() !== "" && (QUOTE.test(lines[at]) || !startsBlock(lines[at]))) at += 1;
      add("quote", from, at);
    } else if (ITEM.test(line)) {
      at = listEnd(lines, at);
      add("list", from, at);
    } else if (line.includes("|") && divides(lines[at + 1] ?? "")) {
      at += 2;
      while (at < lines.length && lines[at].trim() !== "" && lines[at].includes("|")) at += 1;
      add("table", from, at);
    } else {
      at += 1;
      while (at < lines.length && lines[at].trim() !== "" && !startsBlock(lines[at])) at += 1;
      add("paragraph", from, at);
    }
  }
  return blocks;
}

const startsBlock = (line) =>
  FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || ITEM.test(line);

/** Returns the end of a list, which includes its items, lines indented under them, and single blank lines. */
function listEnd(lines, from) {
  let at = from + 1;
  while (at < lines.length) {
    const line = lines[at];
    const next = lines[at + 1] ?? "";
    const inside = (text) => /^\s{2,}\S/.test(text) || ITEM.test(text);
    if (line.trim() === "" ? !inside(next) : !inside(line) && startsBlock(line)) break;
    at += 1;
  }
  return at;
}

function renderBlock(block, depth) {
  const { kind, lines } = block;
  if (depth > MAX_DEPTH) return el("p", {}, lines.join("\n"));
  switch (kind) {
    case "code":
      return codeBlock(block);
    case "heading": {
      const [, marks, text] = HEADING.exec(lines[0]);
      // The page itself uses the higher levels of headings.
      return el(`h${Math.min(6, marks.length + 2)}`, { class: `level-${marks.length}` }, inline(headingText(text)));
    }
    case "rule":
      return el("hr");
    case "quote":
      return el("blockquote", {}, renderAll(lines.map((line) => line.replace(QUOTE, "")), depth));
    case "list":
      return listBlock(lines, depth);
    case "table":
      return tableBlock(lines);
    default:
      return el("p", {}, inline(lines.map((line) => line.replace(/^\s+/, "")).join("\n")));
  }
}

const renderAll = (lines, depth) => splitBlocks(lines).map((block) => renderBlock(block, depth + 1));

function codeBlock({ lines, language, closed }) {
  const text = lines.slice(1, closed ? -1 : undefined).join("\n");
  const head = el("div", { class: "code-head" }, el("span", {}, language.slice(0, 24) || "text"), copyButton(text));
  return el("div", { class: "code" }, head, el("pre", { tabindex: "0" }, el("code", {}, text)));
}

function listBlock(lines, depth) {
  const ordered = /\d/.test(ITEM.exec(lines[0])[2]);
  const items = [];
  for (const line of lines) {
    const item = ITEM.exec(line);
    if (item && item[1].length < 2) {
      const indent = item[1].length + item[2].length + Math.min(Math.max(item[3].length, 1), 4);
      items.push({ indent, lines: [line.slice(indent)] });
    } else {
      const { indent, lines: own } = items.at(-1);
      const blanks = /^\s*/.exec(line)[0].length;
      own.push(line.slice(Math.min(blanks, indent)));
    }
  }
  const start = ordered ? Number.parseInt(lines[0].trim(), 10) : 1;
  return el(
    ordered ? "ol" : "ul",
    { start: start === 1 ? null : start },
    items.map((item) => {
      const task = /^\[([ xX])\]\s+/.exec(item.lines[0]);
      if (task) item.lines[0] = item.lines[0].slice(task[0].length);
      const children = renderAll(item.lines, depth);
      // The first paragraph of an item is shown without margins.
      const first = children[0]?.tagName === "P" ? [...children.shift().childNodes] : [];
      const box = task && el("input", { type: "checkbox", disabled: true, checked: task[1] !== " " });
      return el("li", { class: task ? "task" : null }, box, first, children);
    }),
  );
}

function tableBlock(lines) {
  const cells = (line) =>
    line.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
  const align = cells(lines[1]).map((cell) => (/^:-+:$/.test(cell) ? "center" : cell.endsWith(":") ? "number" : null));
  // Rows may have more cells than the head: the tables extension of GFM requires that cells without a column are
  // dropped.
  const row = (line, tag) =>
    el("tr", {}, cells(line).slice(0, align.length).map((cell, at) => el(tag, { class: align[at] }, inline(cell))));
  const body = lines.slice(2).map((line) => row(line, "td"));
  const table = el("table", {}, el("thead", {}, row(lines[0], "th")), el("tbody", {}, body));
  return el("div", { class: "scroll", tabindex: "0" }, table);
}
