// What all front ends have in common: a conversation, a log, and one turn at a time.

class Front {
  constructor({ path }, page) {
    this.path = path;
    this.page = page;
    this.abort = null;
    this.agent = "Agent";
    this.log = new Log();
    this.chat = new Chat(() => this.intro(), (text) => this.send(text));
    this.forget();
  }

  get busy() {
    return this.abort !== null;
  }

  /** Starts a new conversation. A turn that still runs writes its end into the old one. */
  async reset() {
    this.stop();
    await this.running;
    this.forget();
    this.page.changed();
  }

  forget() {
    this.messages = [];
    this.chat.clear();
    this.log.clear();
  }

  send(text) {
    if (this.busy || text.trim() === "") return Promise.resolve();
    this.chat.user(text);
    return this.run(() => this.ask(text));
  }

  stop() {
    this.abort?.abort();
  }

  /** Runs one turn to its end. */
  run(work) {
    if (!this.busy) this.running = this.#turn(work);
    return this.running;
  }

  async #turn(work) {
    const abort = new AbortController();
    this.abort = abort;
    await this.ready;
    this.answer = this.chat.answer(this.agent);
    this.log.turn();
    this.page.changed();
    const { answer } = this;
    try {
      await work();
      answer.finish();
    } catch (error) {
      if (abort.signal.aborted) answer.stopped();
      else answer.failed(error instanceof TypeError ? `The connection broke: ${error.message}` : error.message);
    } finally {
      const { first, total, bytes: size, events } = this.log.sums;
      if (first !== null) answer.footer([duration(total), counted(events, "event"), bytes(size), ...(answer.extra ?? [])].join(" · "));
      this.abort = null;
      this.page.changed();
    }
  }

  post(body, headers = {}, path = this.path) {
    return exchange(this.log, { path, headers, body, signal: this.abort.signal });
  }

  /** The value of an event's data; this front end fails a turn whose data is no JSON. */
  json(data) {
    const value = parsed(data);
    if (value === undefined) throw new Broken(`This front end fails the turn: an event's data is not JSON (${data.slice(0, 80)})`);
    return value;
  }

  /** Buttons over the input. */
  chips() {
    return [];
  }

  /** What the setup shows. */
  settings() {
    return [];
  }
}
