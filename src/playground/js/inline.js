// The content of a paragraph: emphasis, code, links. The time is linear in the length of any text.

// Sticky expressions match only at the current position and never search the text after it.
const LABEL = /(!?)\[((?:[^[\]\\]|\\.)*)\]\(/y;
const TARGET = /<[^<>\n]*>|[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*/y;
const TITLE = /"[^"]*"/y;
const SPACE = /\s*/y;
const RUN = /(.)\1*/y;
const AUTOLINK = /<((?:https?:\/\/|mailto:)[^\s<>]*)>|https?:\/\/[^\s<>"'`*|]+/y;
// Without SVG, which is a document and can load other resources.
const IMAGE = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/;
const ENTITY = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]{1,7}));/y;
const ENTITIES = new Map(Object.entries({
  amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", copy: "©", reg: "®", trade: "™", deg: "°", euro: "€", pound: "£",
  sect: "§", para: "¶", middot: "·", bull: "•", hellip: "…", ndash: "–", mdash: "—", lsquo: "‘", rsquo: "’", ldquo: "“", rdquo: "”",
  laquo: "«", raquo: "»", times: "×", divide: "÷", plusmn: "±", minus: "−", frac12: "½", larr: "←", rarr: "→", le: "≤", ge: "≥", ne: "≠",
}));
const MARKS = [
  ["***", "em"],
  ["___", "em"],
  ["**", "strong"],
  ["__", "strong"],
  ["~~", "s"],
  ["*", "em"],
  ["_", "em"],
];

/** Returns the match of a sticky expression at a place. */
function take(part, text, at) {
  part.lastIndex = at;
  return part.exec(text);
}

/** Returns the nodes of a piece of text. */
function inline(text, depth = 0) {
  if (depth > MAX_DEPTH) return [text];
  const nodes = [];
  // Marks without a partner: once none was found, later ones have no partner either.
  const alone = new Set();
  let [plain, at, runs] = ["", 0];
  const put = (node, length) => {
    if (plain) nodes.push(plain);
    plain = "";
    nodes.push(node);
    at += length;
  };
  while (at < text.length) {
    const char = text[at];
    if (char === "\\" && /[\p{P}\p{S}]/u.test(text[at + 1] ?? "")) {
      plain += text[at + 1];
      at += 2;
    } else if (char === "&") {
      const [character, length] = entity(text, at);
      plain += character;
      at += length;
    } else if (char === "\n" || (char === "\\" && text[at + 1] === "\n")) {
      const hard = char === "\\" || text.slice(Math.max(0, at - 2), at) === "  ";
      if (hard) put(el("br"), char === "\\" ? 2 : 1);
      else {
        plain += "\n";
        at += 1;
      }
    } else {
      const [node, length] =
        (char === "`" && codeSpan(text, at, (runs ??= backticks(text)))) ||
        ((char === "[" || char === "!") && linkOrImage(text, at, depth)) ||
        ((char === "<" || char === "h") && autolink(text, at)) ||
        ("*_~".includes(char) && emphasis(text, at, depth, alone)) ||
        [];
      if (node) put(node, length);
      else {
        // The remaining marks of a run do not begin anything.
        const rest = "`*_~".includes(char) ? take(RUN, text, at)[0] : char;
        plain += rest;
        at += rest.length;
      }
    }
  }
  if (plain) nodes.push(plain);
  return nodes;
}

/** Returns the character of a character reference, which is inserted as text and never read as markup. */
function entity(text, at) {
  const [whole, decimal, hex, name] = take(ENTITY, text, at) ?? ["&"];
  if (name || whole === "&") return ENTITIES.has(name) ? [ENTITIES.get(name), whole.length] : ["&", 1];
  const code = decimal ? Number(decimal) : Number.parseInt(hex, 16);
  const valid = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return [valid ? String.fromCodePoint(code) : "\ufffd", whole.length];
}

/** The places of the runs of backticks, by their length, the last one first. */
function backticks(text) {
  const runs = new Map();
  for (const { 0: run, index } of [...text.matchAll(/`+/g)].reverse()) {
    if (!runs.has(run.length)) runs.set(run.length, []);
    runs.get(run.length).push(index);
  }
  return runs;
}

function codeSpan(text, at, runs) {
  const [{ length }] = take(RUN, text, at);
  const places = runs.get(length) ?? [];
  while (places.at(-1) <= at) places.pop();
  const end = places.at(-1);
  if (end === undefined) return null;
  const code = text.slice(at + length, end).replaceAll("\n", " ");
  return [el("code", {}, code.startsWith(" ") && code.endsWith(" ") && /[^ ]/.test(code) ? code.slice(1, -1) : code), end + length - at];
}

function linkOrImage(text, at, depth) {
  let end = at;
  // Each part is matched completely or not at all, so nothing is tried twice.
  const next = (part) => {
    const match = take(part, text, end);
    end += match?.[0].length ?? 0;
    return match;
  };
  const start = next(LABEL);
  if (!start) return null;
  next(SPACE);
  const [target] = next(TARGET);
  if (next(SPACE)[0] !== "" && next(TITLE)) next(SPACE);
  if (text[end] !== ")") return null;
  const [, image, label] = start;
  const length = end + 1 - at;
  const url = target.replace(/^<(.*)>$/, "$1");
  if (!image) return [link(url, ...inline(label, depth + 1)), length];
  if (IMAGE.test(url)) return [el("img", { src: url, alt: label }), length];
  // Loading a remote image would tell its server about the reader, so it becomes a link.
  return [link(url, `[image: ${label || url.slice(0, 80)}]`), length];
}

function autolink(text, at) {
  if (/[\p{L}\p{N}]/u.test(text[at - 1] ?? "")) return null;
  const match = take(AUTOLINK, text, at);
  if (!match) return null;
  if (match[1]) return [link(match[1], match[1]), match[0].length];
  let end = match[0].length;
  // Punctuation at the end belongs to the sentence, not to the address.
  while (".,:;!?]".includes(match[0][end - 1])) end -= 1;
  let url = match[0].slice(0, end);
  // Without an opening parenthesis, the closing one is not part of the address.
  if (url.endsWith(")") && !url.includes("(")) url = url.slice(0, -1);
  return [link(url, url), url.length];
}

function emphasis(text, at, depth, alone) {
  const found = MARKS.filter(([mark]) => text.startsWith(mark, at));
  const [first, second] = found;
  if (!first) return null;
  return marked(first, text, at, depth, alone) ?? (first[0].length === 3 ? marked(second, text, at, depth, alone) : null);
}

function marked([mark, tag], text, at, depth, alone) {
  const word = /[\p{L}\p{N}]/u;
  let behind = at + mark.length;
  while (text[behind] === mark[0] && behind < at + 64) behind += 1;
  const next = text[behind] ?? " ";
  if (alone.has(mark) || /\s/.test(next)) return null;
  // An underscore inside a word is a part of a name, such as `snake_case`.
  if (mark[0] === "_" && word.test(text[at - 1] ?? "")) return null;
  // The number of marks before `counted`.
  let [marks, counted] = [0, at + 2];
  for (let end = at + mark.length + 1; ; end += 1) {
    end = text.indexOf(mark, end);
    if (end < 0) break;
    for (; counted < end; counted += 1) marks += text[counted] === mark[0];
    const longer = text[end + mark.length] === mark[0] && mark.length === 1;
    if (longer) {
      end += 1;
      continue;
    }
    // In `**a *b***` the first of the three marks closes the inner emphasis.
    if (mark.length === 2 && text[end + 2] === mark[0] && marks % 2 === 1) end += 1;
    if (/\s/.test(text[end - 1]) || (mark[0] === "_" && word.test(text[end + mark.length] ?? ""))) continue;
    const inner = inline(text.slice(at + mark.length, end), depth + 1);
    return [el(tag, {}, mark.length === 3 ? el("strong", {}, inner) : inner), end + mark.length - at];
  }
  alone.add(mark);
  return null;
}
