// Reads lines of JSON, and keeps the bytes of every line.

class LineReader {
  #pieces = [];

  /** The lines that end in `chunk`, read while they are asked for. */
  *push(chunk) {
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      this.#pieces.push(chunk.subarray(start, end + 1));
      start = end + 1;
      yield* this.end();
    }
    if (start < chunk.length) this.#pieces.push(chunk.subarray(start));
  }

  /** The line so far: a last one without a line end counts. Blank ones do not. */
  *end() {
    const all = joined(this.#pieces);
    this.#pieces = [];
    // Decoded as a whole line, so that no character is cut by the end of a chunk.
    const raw = utf8.decode(all);
    const data = raw.replace(/\r?\n$/, "");
    if (data.trim() !== "") yield { name: "", data, note: "", raw, bytes: all.length };
  }
}
