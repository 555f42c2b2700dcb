// Builds elements. Text of an agent is always inserted as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element; `on…` properties are listeners, children are nodes or text. */
function el(tag, props, ...children) {
  return filled(document.createElement(tag), props, children);
}

/** An SVG element. */
function svg(tag, props, ...children) {
  return filled(document.createElementNS(SVG, tag), props, children);
}

function filled(node, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== false));
  return node;
}

/** Returns a path of this server. The page is at the root of its router. */
const below = (path) => location.pathname.replace(/\/?$/, path);

const byId = (id) => document.getElementById(id);

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const asArray = (value) => (Array.isArray(value) ? value : []);
const asText = (value) =>
  typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);

/** The JSON value of a text, or undefined. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns a random UUID, also in a context that is not secure. */
function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  // The bits of version 4 and of the variant (RFC 9562, section 5.4).
  bytes[6] = (bytes[6] & 15) | 64;
  bytes[8] = (bytes[8] & 63) | 128;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

const encoder = new TextEncoder();
const byteLength = (text) => encoder.encode(text).length;

function bytes(count) {
  if (count < 1000) return `${count} B`;
  if (count < 1e6) return `${(count / 1000).toFixed(count < 1e4 ? 1 : 0)} kB`;
  return `${(count / 1e6).toFixed(1)} MB`;
}

function duration(ms) {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}

const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** The storage between visits. Some browsers deny access to it. */
const memory = {
  get(key) {
    try {
      return localStorage.getItem(`playground.${key}`);
    } catch {
      return null;
    }
  },
  set(key, value) {
    try {
      localStorage.setItem(`playground.${key}`, value);
    } catch {
      // The value is then not stored.
    }
  },
};

/** Keeps a node scrolled to its end, except while its reader has scrolled up. */
class Follower {
  #last = 0;
  #asked = false;

  constructor(node) {
    this.node = node;
    this.on = true;
    node.addEventListener("scroll", () => this.#scrolled());
  }

  /** Scrolls to the end after the content has grown. */
  grown() {
    if (!this.on || this.#asked) return;
    this.#asked = true;
    requestAnimationFrame(() => {
      this.#asked = false;
      if (this.on) this.node.scrollTop = this.node.scrollHeight;
    });
  }

  /** Scrolls to the end and follows it again. */
  end() {
    this.on = true;
    this.grown();
  }

  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.node;
    // Not an exact comparison: scroll positions are fractions on some screens.
    if (scrollHeight - scrollTop - clientHeight < 60) this.on = true;
    else if (scrollTop < this.#last) this.on = false;
    this.#last = scrollTop;
  }
}

/** Lets the browser handle pending events and draw. In a hidden tab, frames and timers are rare. */
function breath() {
  if (!document.hidden) {
    return new Promise((resolve) => {
      // For the case that the tab is hidden before the next frame.
      setTimeout(resolve, 1000);
      requestAnimationFrame(() => setTimeout(resolve));
    });
  }
  // Unlike timers, messages are not delayed in a hidden tab.
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

const ICONS = {
  send: "M8 13.5V3M3.5 7.5 8 3l4.5 4.5",
  stop: "M4.5 4.5h7v7h-7z",
  sun: "M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1.1 1.1M11.9 11.9 13 13M13 3l-1.1 1.1M4.1 11.9 3 13M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
  moon: "M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z",
  plus: "M8 3v10M3 8h10",
  check: "M3.5 8.5 6.5 11.5 12.5 5",
  sliders: "M2 5h7M13 5h1M2 11h1M7 11h7M11 3v4M5 9v4",
  alert: "M8 4.5v4M8 11v.5",
  quote: "M3 4h10M3 8h10M3 12h6",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.5 10.5 14 14",
  call: "M5 4 1.5 8 5 12M11 4l3.5 4L11 12",
  close: "M4 4l8 8M12 4l-8 8",
};

function icon(name) {
  const path = svg("path", { d: ICONS[name] });
  return svg("svg", { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true" }, path);
}
