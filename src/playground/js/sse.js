// Reads server-sent events by the rules of the HTML standard, and keeps the bytes of every block.

class SseReader {
  #rest = "";
  #seen = 0;
  #raw = "";
  #name = "";
  #data = [];
  #comments = [];
  #other = [];

  /** The blocks that end in `text`. A block without data is one too: comments, `retry`. */
  push(text) {
    this.#rest += text;
    const frames = [];
    const ends = /\r\n|\n|\r/g;
    ends.lastIndex = this.#seen;
    let start = 0;
    for (let end = ends.exec(this.#rest); end; end = ends.exec(this.#rest)) {
      // Half of a CRLF may stand at the end.
      if (end[0] === "\r" && ends.lastIndex === this.#rest.length) break;
      this.#raw += this.#rest.slice(start, ends.lastIndex);
      this.#line(this.#rest.slice(start, end.index), frames);
      start = ends.lastIndex;
    }
    this.#rest = this.#rest.slice(start);
    this.#seen = Math.max(0, this.#rest.length - 1);
    return frames;
  }

  /** What is left when the body ends: the standard drops a block without its blank line. */
  end() {
    const frames = this.push("\n");
    this.#raw = this.#raw.slice(0, -1);
    if (this.#raw !== "") {
      this.#dispatch(frames);
      frames.at(-1).cut = true;
    }
    return frames;
  }

  #line(line, frames) {
    if (line === "") {
      this.#dispatch(frames);
      return;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "") this.#comments.push(value);
    else if (field === "data") this.#data.push(value);
    else if (field === "event") this.#name = value;
    else this.#other.push(line);
  }

  #dispatch(frames) {
    // Further blank lines between blocks carry nothing.
    if (/^[\r\n]*$/.test(this.#raw)) {
      this.#raw = "";
      return;
    }
    frames.push({
      name: this.#name,
      data: this.#data.length > 0 ? this.#data.join("\n") : null,
      note: [...this.#comments.map((comment) => `: ${comment}`), ...this.#other].join(" · "),
      raw: this.#raw,
      bytes: byteLength(this.#raw),
    });
    this.#raw = "";
    this.#name = "";
    this.#data = [];
    this.#comments = [];
    this.#other = [];
  }
}
