// One POST and the stream that answers it, with every block shown in the log.

/** The server said no before the first event. */
class Refused extends Error {
  constructor(status, body) {
    const error = parsed(body)?.error;
    const message = error?.message ?? parsed(body)?.message ?? body.slice(0, 300);
    const place = error?.path ? `${error.path}: ` : "";
    super(`HTTP ${status}${message ? ` — ${place}${asText(message)}` : ""}`);
  }
}

/** The stream broke a rule that this front end insists on. */
class Broken extends Error {}

/** Posts `body` and yields the events of the answer. */
async function* exchange(log, { path, headers, body, signal }) {
  const sent = { "content-type": "application/json", ...headers };
  const text = JSON.stringify(body);
  const entry = log.exchange(path, sent, body, text);
  let stream;
  try {
    const response = await fetch(path, {
      method: "POST",
      headers: sent,
      body: text,
      signal,
      credentials: "omit",
      redirect: "error",
      cache: "no-store",
    });
    entry.head(response);
    const type = response.headers.get("content-type") ?? "";
    if (!response.ok || !type.startsWith("text/event-stream")) {
      const answer = await response.text();
      entry.refused(answer);
      throw new Refused(response.status, answer);
    }
    const reader = new SseReader();
    stream = response.body.getReader();
    for (;;) {
      const { done, value } = await stream.read();
      if (!done) entry.received(value.length);
      const frames = done ? reader.end() : reader.push(value);
      for (const frame of frames) {
        entry.frame(frame);
        if (frame.data !== null && !frame.cut) yield { name: frame.name, data: frame.data, frame };
      }
      if (done) break;
    }
    entry.end("complete");
  } catch (error) {
    entry.end(signal.aborted ? "stopped" : "failed");
    throw error;
  } finally {
    // A reader that gives up leaves, and the agent stops.
    entry.end("left");
    stream?.cancel().catch(() => {});
  }
}
