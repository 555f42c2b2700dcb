// One POST and the stream of its answer. Every block is shown in the log.

/** An error that ends the turn. Any other error only discards the event that caused it. */
class TurnError extends Error {}

/** The server refused the request before the first event. */
class Refused extends TurnError {
  constructor(status, body) {
    const error = parsed(body)?.error;
    const message = error?.message ?? parsed(body)?.message ?? body.slice(0, 300);
    const place = error?.path ? `${error.path}: ` : "";
    super(`HTTP ${status}${message ? ` — ${place}${asText(message)}` : ""}`);
  }
}

/** The stream broke a rule that this front end enforces. */
class Broken extends TurnError {}

/** The network failed. */
class Lost extends TurnError {
  constructor({ message }) {
    super(`The connection broke: ${message}`);
  }
}

/** Awaits a network operation. Its failures become `Lost`, unless the reader stopped the turn. */
async function reached(promise, signal) {
  try {
    return await promise;
  } catch (error) {
    throw signal.aborted ? error : new Lost(error);
  }
}

/** Returns the reader of a stream of this content type. */
function readerOf(type) {
  if (type.startsWith("text/event-stream")) return new SseReader();
  if (type.startsWith("application/x-ndjson")) return new LineReader();
  return null;
}

/** Posts `body` and yields the events of the answer. */
async function* exchange(log, { path, headers, body, signal }) {
  const sent = { "content-type": "application/json", ...headers };
  const text = JSON.stringify(body);
  const entry = log.exchange(path, sent, text);
  let stream;
  try {
    // Real front ends send no cookies of the page, and a redirect would send the request to another server.
    const options = { credentials: "omit", redirect: "error", cache: "no-store" };
    const response = await reached(fetch(path, { method: "POST", headers: sent, body: text, signal, ...options }), signal);
    entry.head(response);
    const type = response.headers.get("content-type") ?? "";
    const reader = readerOf(type);
    if (!response.ok || !reader) {
      const answer = await reached(response.text(), signal);
      entry.refused(answer);
      throw new Refused(response.status, answer);
    }
    let busy = performance.now();
    stream = response.body.getReader();
    for (;;) {
      const asked = performance.now();
      const { done, value } = await reached(stream.read(), signal);
      // Waiting does not count as busy: a slow stream is never delayed, and its times are exact.
      if (performance.now() - asked > 1) busy = performance.now();
      entry.received(done ? 0 : value.length);
      const frames = done ? reader.end() : reader.push(value);
      for (const frame of frames) {
        entry.frame(frame);
        if (frame.data !== null && !frame.cut) yield { name: frame.name, data: frame.data };
        // However many events arrive at once, the page stays responsive, and Stop works.
        if (performance.now() - busy < 10) continue;
        await breath();
        signal.throwIfAborted();
        busy = performance.now();
      }
      if (done) break;
    }
    entry.end("complete");
  } catch (error) {
    entry.end(signal.aborted ? "stopped" : "failed");
    throw error;
  } finally {
    // If the front end stops reading, the connection is closed and the agent stops.
    entry.end("left");
    stream?.cancel().catch(() => {});
  }
}
