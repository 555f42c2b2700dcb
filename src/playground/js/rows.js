// The rows of one request. If there are very many, the page contains only the first and the newest.

const MOST_ROWS = 1000;

class Rows {
  #items = [];
  /** The number of rows before the gap, the index of the first row after it, and the number of processed rows. */
  #first = 0;
  #last = 0;
  #seen = 0;
  #wanted = false;

  /** `draw` creates the row of an item, `grown` is called after new rows, `follows` returns true while the end is visible. */
  constructor({ draw, grown, follows }) {
    this.draw = draw;
    this.grown = grown;
    this.follows = follows;
    this.more = el("button", { type: "button", class: "plain small", onclick: () => this.#reveal() });
    this.gap = el("p", { class: "more", hidden: true }, this.more);
    this.head = el("ol", { class: "events" });
    this.tail = el("ol", { class: "events" });
    this.node = el("div", {}, this.head, this.gap, this.tail);
  }

  add(item) {
    this.#items.push(item);
    if (this.#wanted) return;
    this.#wanted = true;
    // A timer, because a hidden tab has no animation frames.
    setTimeout(() => this.flush(), 16);
  }

  /** Draws the items added since the last call. */
  flush() {
    this.#wanted = false;
    const count = this.#items.length;
    if (this.#first < MOST_ROWS) this.#before(Math.min(count, MOST_ROWS));
    this.#last = Math.max(this.#last, this.#first);
    // While the reader looks at older rows, up to five times as many stay, so that nothing moves.
    const start = Math.max(this.#last, count - (this.follows() ? 1 : 5) * MOST_ROWS);
    for (let gone = Math.min(start, this.#seen) - this.#last; gone > 0; gone -= 1) this.tail.firstChild.remove();
    this.#last = start;
    this.tail.append(...this.#drawn(Math.max(start, this.#seen), count));
    this.#seen = count;
    this.#count();
    this.grown();
  }

  #drawn(from, to) {
    return this.#items.slice(from, to).map((item) => this.draw(item));
  }

  #before(end) {
    this.head.append(...this.#drawn(this.#first, end));
    this.#first = end;
    this.#seen = Math.max(this.#seen, end);
  }

  #reveal() {
    this.#before(Math.min(this.#first + MOST_ROWS, this.#last));
    this.#count();
  }

  #count() {
    const left = this.#last - this.#first;
    this.gap.hidden = left <= 0;
    this.more.textContent = left > MOST_ROWS ? `Show ${numberText(MOST_ROWS)} of ${numberText(left)} more` : `Show ${numberText(left)} more`;
  }
}
