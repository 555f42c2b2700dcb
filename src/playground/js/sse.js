// Reads server-sent events by the rules of the HTML standard, and keeps the bytes of every block.

const [LF, CR] = [10, 13];
// `ignoreBOM` keeps the mark in the text: it is dropped once at the start of the stream, not at
// every block.
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** Returns the bytes of several pieces in one. */
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

  /** The blocks that end in `chunk`, read while they are asked for. One without data is one too. */
  *push(chunk) {
    let start = 0;
    let at = 0;
    while (at < chunk.length) {
      const byte = chunk[at];
      if (this.#half) {
        // The chunk before ended in a CR, which may have been half of a CRLF.
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

  /** Returns the rest when the body ends. The standard drops a block without its blank line. */
  *end() {
    const cut = !(this.#half && this.#line === 0);
    for (const frame of this.#block()) yield cut ? { ...frame, cut } : frame;
  }

  *#block() {
    const all = joined(this.#pieces);
    const size = all.length;
    this.#pieces = [];
    // Decoded as a whole block, so that no character is cut by the end of a chunk.
    const raw = utf8.decode(all);
    const text = this.#first ? raw.replace(/^\ufeff/, "") : raw;
    this.#first = false;
    const frame = { name: "", data: null, note: "", raw, bytes: size };
    const [data, rest] = [[], []];
    for (const line of text.split(/\r\n|\n|\r/)) {
      const colon = line.indexOf(":");
      const field = colon < 0 ? line : line.slice(0, colon);
      // One space after the colon is framing. A second one belongs to the value.
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "data") data.push(value);
      else if (field === "event") frame.name = value;
      else if (line !== "") rest.push(field === "" ? `: ${value}` : line);
    }
    if (data.length > 0) frame.data = data.join("\n");
    frame.note = rest.join(" · ");
    // Further blank lines between blocks carry nothing.
    if (/[^\r\n]/.test(text)) yield frame;
  }
}
