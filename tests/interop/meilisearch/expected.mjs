// What a client must get out of each case: the recording's own outcome, as a plain object that is
// compared as JSON.
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";

const fixtures = new URL("../../../fixtures/meilisearch/", import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(name, fixtures), "utf8"));
const outcomes = read("recorded/expected.json");

export const cases = JSON.parse(readFileSync(new URL("cases.json", import.meta.url), "utf8"));
export const tools = read("tools_documented_2026.json");

/** The arguments of all notifications of a recording, in order. */
function notifications(name) {
  const stream = readFileSync(new URL(`recorded/${name}/stream.sse`, fixtures), "utf8");
  return stream
    .split("\n\n")
    .filter((frame) => frame.startsWith("data: {"))
    .map((frame) => JSON.parse(frame.slice(6)))
    .flatMap((chunk) => chunk.choices?.[0]?.delta.tool_calls ?? [])
    .map((call) => ({ name: call.function.name, arguments: JSON.parse(call.function.arguments) }));
}

export function expected(name) {
  const outcome = outcomes[name];
  const failure = outcome.errors.find((error) => error.terminal);
  const noted = outcome.errors
    .filter((error) => !error.terminal)
    // The server's own message names its indexes: users read the reason alone.
    .map(() => "\n\n**Error:** A search failed: there is no such index.\n\n");
  return {
    // A failed search is told after the first round, which says nothing in this recording.
    text: noted.join("") + outcome.text,
    refusal: outcome.refusal ?? "",
    notifications: notifications(name),
    finish: failure ? null : outcome.finish_reasons.at(-1),
    failed: failure !== undefined,
  };
}

/** `null` when `got` is what is expected, else the first member that is not. */
export function fault(name, got, leaveOut = [], adapt = (wanted) => wanted) {
  const wanted = adapt(expected(name));
  for (const key of Object.keys(wanted)) {
    if (!leaveOut.includes(key) && !isDeepStrictEqual(got[key], wanted[key])) {
      return `${key}: ${JSON.stringify(got[key])?.slice(0, 200)} is not ${JSON.stringify(wanted[key]).slice(0, 200)}`;
    }
  }
  return null;
}

export function report(client, name, fault) {
  console.log(JSON.stringify({ client, name, fault }));
}
