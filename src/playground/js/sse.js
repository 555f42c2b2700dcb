// Reads server-sent events by the rules of the HTML standard, and stores the bytes of every block.

const [LF, CR] = [10, 13];
// `ignoreBOM` keeps a byte order mark: only one at the start of the stream is removed, not one in every block.
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** Returns the bytes of several pieces as one array. */
function joined(pieces) {
  const all = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

class SseReader {
  #pieces = [];
  #line = 0;
  #half = false;
  #first = true;

  /** Yields the blocks that end in `chunk`, also blocks without data. Each is decoded when it is requested. */
  *push(chunk) {
    let start = 0;
    let at = 0;
    while (at < chunk.length) {
      const byte = chunk[at];
      if (this.#half) {
        // The previous chunk ended with a CR, which may be the first half of a CR LF.
        this.#half = false;
        at += byte === LF ? 1 : 0;
      } else {
        at += 1;
        if (byte !== LF && byte !== CR) {
          this.#line += 1;
          continue;
        }
        if (byte === CR && at === chunk.length) {
          this.#half = true;
          break;
        }
        if (byte === CR && chunk[at] === LF) at += 1;
      }
      if (this.#line === 0) {
        this.#pieces.push(chunk.subarray(start, at));
        start = at;
        yield* this.#block();
      }
      this.#line = 0;
    }
    if (start < chunk.length) this.#pieces.push(chunk.subarray(start));
  }

  /** Yields the rest when the body ends. The standard discards a block without its blank line. */
  *end() {
    const cut = !(this.#half && this.#line === 0);
    for (const frame of this.#block()) yield cut ? { ...frame, cut } : frame;
  }

  *#block() {
    const all = joined(this.#pieces);
    const size = all.length;
    this.#pieces = [];
    // The complete block is decoded at once, because a chunk may end inside a character.
    const raw = utf8.decode(all);
    const text = this.#first ? raw.replace(/^\ufeff/, "") : raw;
    this.#first = false;
    const frame = { name: "", data: null, note: "", raw, bytes: size };
    const [data, rest] = [[], []];
    for (const line of text.split(/\r\n|\n|\r/)) {
      const colon = line.indexOf(":");
      const field = colon < 0 ? line : line.slice(0, colon);
      // One space after the colon is not part of the value, but a second space is.
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "data") data.push(value);
      else if (field === "event") frame.name = value;
      else if (line !== "") rest.push(field === "" ? `: ${value}` : line);
    }
    if (data.length > 0) frame.data = data.join("\n");
    frame.note = rest.join(" · ");
    // Additional blank lines between blocks are not events.
    if (/[^\r\n]/.test(text)) yield frame;
  }
}
