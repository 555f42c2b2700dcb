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
  /** The name of the agent while none is known. */
  static unnamed = "Agent";

  constructor({ path, route }, page) {
    this.path = path;
    this.route = route;
    this.page = page;
    this.abort = null;
    this.talk = 0;
    this.choose("");
    this.log = new Log();
    this.chat = new Chat(() => this.intro(), (text) => this.send(text));
    this.forget();
  }

  /** Sets the name of the model or tool that requests ask for. */
  choose(name) {
    this.chosen = name;
    this.agent = name || this.constructor.unnamed;
  }

  /** Requests the names to choose from. A server without a list takes any name. */
  async list(path, options, names) {
    this.first = path;
    try {
      const response = await fetch(path, { credentials: "omit", ...options });
      this.listed = names(await response.json()).map(asText);
      this.choose(this.chosen || (this.listed[0] ?? ""));
      this.page.changed();
    } catch {
      // The turn shows the reason.
    }
  }

  nameField(label) {
    const set = (name) => this.choose(name);
    return this.listed?.length > 0 ? selectField(label, this.chosen, this.listed.map((name) => [name, name]), set) : textField(label, this.chosen, set);
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

  /** Sends requests while `round` returns `true`, because results of calls must follow. */
  async rounds() {
    for (let count = 0; count < MOST_CALLS; count += 1) {
      if (!(await this.round())) return;
    }
    throw new Broken(`Stopped after ${MOST_CALLS} rounds of calls.`);
  }

  post(body, headers = {}, path = this.path) {
    return exchange(this.log, { path, headers, body, signal: this.abort.signal });
  }

  /** Posts a request and reads the objects of its answer, up to `[DONE]`. Returns `true` if there was one. */
  async stream(read, body, headers, path) {
    let done = false;
    for await (const event of this.post(body, headers, path)) {
      // An event without data has only an id. Everything after the end is ignored.
      if (done || event.data === "") continue;
      if (event.data.startsWith("[DONE]")) done = true;
      else await this.take(event, (value) => this.object(value, "data") && read(value, event.name));
    }
    return done;
  }

  /** Reads a chunk of chat completions: shows its text, passes its calls on, and returns the text and the reason of the end. */
  chunk({ choices }, called) {
    // Clients show one choice, which is the first.
    const choice = this.objects(choices ?? [], "choices").find(({ index }) => !(index > 0)) ?? {};
    const { delta = {}, finish_reason: finish } = choice;
    if (!this.object(delta, "delta")) return { said: "", finish };
    const said = asText(delta.content) + asText(delta.refusal);
    this.answer.text(said);
    for (const call of this.objects(delta.tool_calls ?? [], "tool_calls")) {
      const { function: part = {} } = call;
      if (this.object(part, "tool_calls[].function")) called({ ...call, function: part });
    }
    return { said, finish };
  }

  /** Shows a call and returns its result: of a sample tool by itself, of any other one as the reader writes it. */
  result(name, args, why = "This tool has no result of its own here: write one.") {
    const sample = name === WEATHER.name;
    const result = sample ? { place: asText(args?.place), temperature: 19, unit: "°C", sky: "clear" } : {};
    return callCard(this.answer, { name, args, result, why: sample ? "" : why }, this.abort.signal);
  }

  /** Shows the numbers of tokens below the answer. */
  counted(...tokens) {
    const known = tokens.filter((count) => count !== undefined && count !== null);
    if (known.length > 0) this.answer.extra = [`${known.map(asText).join(" + ")} tokens`];
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
