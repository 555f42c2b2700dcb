// The log: every request as it was sent, and every block as it was received.

const PREVIEW = 160;

/** The requests of one conversation. */
class Log {
  constructor() {
    this.node = el("div", { class: "log" });
    this.clear();
  }

  clear() {
    const stat = (name) => {
      const value = el("dd", {}, "–");
      return [value, el("div", {}, el("dt", {}, name), value)];
    };
    const [first, firstBox] = stat("First byte");
    const [total, totalBox] = stat("Total");
    const [size, sizeBox] = stat("Received");
    const [events, eventsBox] = stat("Events");
    this.values = { first, total, size, events };
    this.list = el("div", { class: "exchanges" }, el("p", { class: "nothing" }, "Nothing has been sent yet."));
    this.end = new Follower(this.list);
    const stats = el("dl", { class: "stats" }, firstBox, totalBox, sizeBox, eventsBox);
    this.node.replaceChildren(stats, this.list);
    this.turn();
  }

  /** Begins a turn and resets all measurements. */
  turn() {
    this.sums = { start: performance.now(), first: null, bytes: 0, events: 0, total: 0 };
    this.#show();
  }

  exchange(path, headers, text) {
    this.list.querySelector(".nothing")?.remove();
    const entry = new Exchange(this, path, headers, text);
    this.list.append(entry.node);
    this.grown();
    return entry;
  }

  /** Adds received bytes to the sums of the turn. */
  received(bytes) {
    const { sums } = this;
    sums.bytes += bytes;
    sums.total = performance.now() - sums.start;
    // Only bytes of the body count, because the reader sees nothing of the head.
    if (bytes > 0) sums.first ??= sums.total;
  }

  /** Scrolls to the newest entries, unless the reader is looking at older ones. */
  grown() {
    this.#show();
    this.end.grown();
  }

  #show() {
    const { first, bytes: size, events, total } = this.sums;
    this.values.first.textContent = first === null ? "–" : duration(first);
    this.values.total.textContent = first === null ? "–" : duration(total);
    this.values.size.textContent = first === null ? "–" : bytes(size);
    this.values.events.textContent = first === null ? "–" : String(events);
  }

  follow() {
    this.end.end();
  }
}

/** One request and its answer. */
class Exchange {
  #over = false;

  constructor(log, path, headers, text) {
    this.log = log;
    this.start = performance.now();
    this.elapsed = 0;
    this.size = 0;
    this.count = 0;
    this.state = el("span", { class: "state waiting" }, "waiting");
    this.sum = el("span", { class: "sum" });
    this.rows = new Rows({
      draw: (row) => this.#draw(row),
      grown: () => {
        this.#sum();
        this.log.grown();
      },
      follows: () => this.log.end.on,
    });
    this.node = el(
      "section",
      { class: "exchange" },
      el("header", {}, el("code", {}, `POST ${path}`), this.state, this.sum),
      requestRow(path, headers, text),
      this.rows.node,
    );
  }

  head(response) {
    this.elapsed = performance.now() - this.start;
    this.state.textContent = String(response.status);
    this.state.className = response.ok ? "state open" : "state failed";
    const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
    const type = response.headers.get("content-type") ?? "";
    this.#row({ kind: "head", name: "Response", preview: type, body: () => [jsonText(headers, false)] });
  }

  /** Records bytes of the body, or its end. */
  received(size) {
    this.elapsed = performance.now() - this.start;
    this.size += size;
    this.log.received(size);
  }

  /** Shows a body that is not a stream. */
  refused(text) {
    this.received(byteLength(text));
    const value = parsed(text);
    const body = () => [value === undefined ? jsonText(text, false) : jsonView(value)];
    this.#row({ kind: "error", name: "Body", preview: text, size: byteLength(text), body });
  }

  frame(frame) {
    const counts = frame.data === null || frame.cut ? 0 : 1;
    this.count += counts;
    this.log.sums.events += counts;
    this.#row({ frame });
  }

  end(how) {
    if (this.#over) return;
    this.#over = true;
    if (how !== "complete") {
      this.state.textContent = how === "left" ? "closed" : how;
      this.state.className = `state ${how}`;
    } else {
      this.state.className = "state ok";
    }
    this.rows.flush();
  }

  #sum() {
    this.sum.textContent = [duration(this.elapsed), bytes(this.size), counted(this.count, "event")].join(" · ");
  }

  #row(row) {
    this.rows.add({ ...row, time: this.elapsed });
  }

  #draw({ frame, time, ...row }) {
    const { kind, name, preview, size, body } = frame ? framed(frame) : row;
    const summary = el(
      "summary",
      {},
      el("span", { class: "time" }, `+${duration(time)}`),
      el("span", { class: "name" }, name),
      el("span", { class: "preview" }, oneLine(preview)),
      el("span", { class: "size" }, size === undefined ? "" : bytes(size)),
    );
    return el("li", { class: kind }, opens(summary, body));
  }
}

/** The row of a block. */
function framed(frame) {
  const value = frame.data === null ? undefined : parsed(frame.data);
  const body = () => [
    value === undefined || value === null ? null : jsonView(value),
    el("p", { class: "fine" }, "Bytes", copyButton(frame.raw)),
    jsonText(frame.raw.replaceAll("\r", "␍"), false),
  ];
  const row = { ...describe(frame, value), size: frame.bytes, body };
  return frame.cut ? { ...row, kind: "error", name: "cut off" } : row;
}

/** The beginning of a text on one line. */
const oneLine = (text) => text.slice(0, PREVIEW).replaceAll(/\r?\n|\r/g, "↵");

/** Details whose content is built when they are first opened. */
function opens(summary, body) {
  const details = el("details", {}, summary);
  details.addEventListener("toggle", () => details.append(el("div", { class: "body" }, body())), { once: true });
  return details;
}

function requestRow(path, headers, text) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const curl = () =>
    [`curl -N '${location.origin}${path}'`, ...lines.map((line) => `-H ${quoted(line)}`), `-d ${quoted(text)}`].join(" \\\n  ");
  const summary = el(
    "summary",
    {},
    el("span", { class: "time" }, "sent"),
    el("span", { class: "name" }, "Request"),
    el("span", { class: "preview" }, oneLine(text)),
    el("span", { class: "size" }, bytes(byteLength(text))),
  );
  const content = () => [
    jsonText(lines.join("\n"), false),
    el("p", { class: "fine" }, "Body", copyButton(text)),
    // Not the object that was sent: the conversation has grown since.
    jsonView(JSON.parse(text)),
    el("p", { class: "fine" }, "As a command", copyButton(curl)),
  ];
  return el("div", { class: "request" }, opens(summary, content));
}

// Within single quotes a shell takes everything literally, except a single quote.
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** The display of named events: `{ kind, gist }` by name. */
const EVENTS = new Map();

/** Returns a summary of a named event. */
function gist(name, value) {
  const own = EVENTS.get(name)?.gist;
  if (own) return own(value);
  return typeof value?.message === "string" ? value.message : undefined;
}

/** Returns the one-line display of an event. */
function describe({ name: field, data, note }, value) {
  // In protocols without event names, the data may contain a type.
  const name = field || (typeof value?.type === "string" ? value.type : "");
  if (data === null) return { kind: "silent", name: "no data", preview: note };
  if (data === "[DONE]") return { kind: "done", name: "[DONE]", preview: "" };
  if (name) return { kind: EVENTS.get(name)?.kind ?? "other", name, preview: gist(name, value) ?? data };
  if (value?.error) return { kind: "error", name: "error", preview: asText(value.error.message ?? value.error) };
  const parts = [...asArray(value?.choices).flatMap(choiceParts), ...(value?.usage ? [{ kind: "done", name: "usage", preview: asText(value.usage) }] : [])];
  if (parts.length === 0) return { kind: "other", name: "data", preview: data };
  const kind = parts.find((part) => part.kind !== "text")?.kind ?? "text";
  const names = [...new Set(parts.map(({ name }) => name))].join(" + ");
  return { kind, name: names, preview: parts.map(({ preview }) => preview).filter(Boolean).join(" · ") };
}

/** Returns the parts of one choice of a chunk. */
function choiceParts(choice) {
  const { content, refusal, tool_calls: calls } = choice?.delta ?? {};
  const said = asText(content) + asText(refusal);
  const called = asArray(calls).map((call) => {
    const name = asText(call?.function?.name);
    return { kind: EVENTS.get(name)?.kind ?? "call", name: name || "tool_calls", preview: asText(call?.function?.arguments) };
  });
  const finish = choice?.finish_reason ? [{ kind: "done", name: "finish", preview: asText(choice.finish_reason) }] : [];
  const bare = called.length + finish.length === 0;
  return [...(said || bare ? [{ kind: "text", name: "delta", preview: said || asText(content ?? refusal ?? choice?.delta) }] : []), ...called, ...finish];
}
