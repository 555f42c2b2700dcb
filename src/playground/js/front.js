// The base of all front ends: a conversation, a log, and one turn at a time.

/** The time in milliseconds for which a question waits for the front end's first request. */
const PATIENCE = 1000;

/** The front ends that the page emulates, by their protocols. */
const FRONTS = new Map();

/** Adds a front end, and the display of its named events in the log: the kind of each, and a function for its summary. */
function addFront(protocol, front, events = {}) {
  FRONTS.set(protocol, front);
  for (const [name, shown] of Object.entries(events)) EVENTS.set(name, shown);
}

class Front {
  constructor({ path, route }, page) {
    this.path = path;
    this.route = route;
    this.page = page;
    this.abort = null;
    this.talk = 0;
    this.agent = "Agent";
    this.log = new Log();
    this.chat = new Chat(() => this.intro(), (text) => this.send(text));
    this.forget();
  }

  get busy() {
    return this.abort !== null;
  }

  /** Starts a new conversation. A turn that is still running ends in the old conversation. */
  async reset() {
    this.talk += 1;
    this.stop();
    // The running turn still writes to the old conversation, so it must end before the state is cleared.
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

  /** Runs a turn after the current one, unless a new conversation was started meanwhile. */
  async queue(work) {
    const { talk } = this;
    // A loop, because another turn that waited for the same one may have begun first.
    while (this.busy) await this.running;
    if (this.talk === talk) await this.run(work);
  }

  async #turn(work) {
    const abort = new AbortController();
    this.abort = abort;
    const answer = this.chat.answer(this.agent);
    this.answer = answer;
    this.log.turn();
    this.page.changed();
    try {
      await this.#prepared(abort.signal);
      answer.rename(this.agent);
      this.log.turn();
      await work();
      answer.finish();
    } catch (error) {
      if (abort.signal.aborted) answer.stopped();
      else answer.failed(error instanceof TurnError ? error.message : `The page failed: ${error.message}`);
    } finally {
      const { first, total, bytes: size, events } = this.log.sums;
      if (first !== null) answer.footer([duration(total), counted(events, "event"), bytes(size), ...(answer.extra ?? [])].join(" · "));
      this.abort = null;
      this.page.changed();
    }
  }

  /** Waits for the first request of the front end, for at most `PATIENCE`. */
  async #prepared(signal) {
    if (!this.ready) return;
    const stopped = new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const late = new Promise((resolve) => setTimeout(resolve, PATIENCE, true));
    if (await Promise.race([this.ready, late, stopped])) this.answer.notice("The server does not answer; this goes out without it:", "quiet", this.first);
    this.ready = null;
  }

  post(body, headers = {}, path = this.path) {
    return exchange(this.log, { path, headers, body, signal: this.abort.signal });
  }

  /** Processes one event. An error is reported, and the turn continues. */
  async take({ name, data }, read) {
    const before = this.event;
    this.event = name || "data";
    try {
      await read(this.json(data));
    } catch (error) {
      if (error instanceof TurnError || this.abort.signal.aborted) throw error;
      this.odd(error.message);
    } finally {
      this.event = before;
    }
  }

  /** Reports a fault of the current event. */
  odd(what) {
    this.answer.notice(`The event “${this.event}” is malformed:`, "warning", what);
  }

  /** Returns `true` for an object, and reports any other value. */
  object(value, where) {
    if (!isObject(value)) this.odd(`${where} is no object`);
    return isObject(value);
  }

  /** Returns the objects of a list, and reports everything else in it. */
  objects(list, where) {
    if (!Array.isArray(list)) this.odd(`${where} is no list`);
    return asArray(list).filter((each, at) => this.object(each, `${where}[${at}]`));
  }

  /** Returns the JSON value of an event's data. Data that is not JSON fails the turn. */
  json(data) {
    const value = parsed(data);
    if (value === undefined) throw new Broken(`This front end fails the turn: an event's data is not JSON (${data.slice(0, 80)})`);
    return value;
  }

  /** Returns the buttons above the input. */
  chips() {
    return [];
  }

  /** Returns the fields of the setup. */
  settings() {
    return [];
  }
}
