// Reads lines of JSON, and stores the bytes of every line.

class LineReader {
  #pieces = [];

  /** Yields the lines that end in `chunk`. Each is decoded when it is requested. */
  *push(chunk) {
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      this.#pieces.push(chunk.subarray(start, end + 1));
      start = end + 1;
      yield* this.end();
    }
    if (start < chunk.length) this.#pieces.push(chunk.subarray(start));
  }

  /** Yields the open line, because a last line without a line end counts. Blank lines do not count. */
  *end() {
    const all = joined(this.#pieces);
    this.#pieces = [];
    // The complete line is decoded at once, because a chunk may end inside a character.
    const raw = utf8.decode(all);
    const data = raw.replace(/\r?\n$/, "");
    if (data.trim() !== "") yield { name: "", data, note: "", raw, bytes: all.length };
  }
}
