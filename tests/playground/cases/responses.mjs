// The part of a client of the Responses API.

import { equal, ok, test } from "../harness.mjs";

const STREAM = "/v1/responses";
const stream = (...events) => events.map((data, sequence_number) => `event: ${data.type}\ndata: ${JSON.stringify({ ...data, sequence_number })}\n\n`).join("");
const done = (item) => ({ type: "response.output_item.done", item });
const call = (call_id, name) => done({ type: "function_call", call_id, name, arguments: `{"${name}":1}` });
const COMPLETED = { type: "response.completed", response: { usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 } } };

test("responses: chat, and the history", async (p) => {
  await p.open("Responses");
  await p.ask("good morning");
  equal(await p.said(), "You said: good morning");
  await p.ask("again");
  const { body } = p.posts.at(-1);
  equal([body.model, body.stream, body.store], ["stage", true, false]);
  equal(body.input.map(({ role }) => role), ["user", "assistant", "user"]);
  ok((await p.events()).includes("response.completed"), "no end in the log");
});

test("responses: a tool call is answered", async (p) => {
  await p.open("Responses");
  await p.ask("weather");
  const { input } = p.posts.at(-1).body;
  const kinds = input.map(({ type }) => type).filter((type) => type !== "reasoning" && type !== "message");
  equal(kinds, ["function_call", "function_call_output"]);
  equal(new Set(input.map(({ call_id }) => call_id).filter(Boolean)).size, 1);
  ok((await p.said()).includes('"place":"Lisbon"'), await p.said());
});

test("responses: a failed response shows", async (p) => {
  await p.open("Responses");
  await p.ask("fail");
  equal(await p.answer().locator(".notice.error").innerText(), "The stage collapsed.");
  ok((await p.said()).includes("It begins well."), "what came before is gone");
});

test("responses: reasoning is a step, usage is in the footer, and gaps are told", async (p) => {
  const delta = { type: "response.output_text.delta", delta: "Hi" };
  await p.answers(STREAM, stream(
    { type: "response.created" }, { type: "response.reasoning_summary_text.done", text: "Looking" },
    delta, done({ type: "message", content: [{ text: "Other" }] }), COMPLETED,
  ) + "data: [DONE]\n\n");
  await p.open("Responses");
  await p.ask("hello");
  equal(await p.answer().locator(".steps li p").innerText(), "Looking");
  ok((await p.answer().locator(".foot").innerText()).includes("3 + 4 tokens"), "no usage");
  ok((await p.said()).includes("do not have the text"), await p.said());
});

test("responses: a stream without its end is told", async (p) => {
  await p.answers(STREAM, stream({ type: "response.created" }));
  await p.open("Responses");
  await p.ask("hello");
  ok((await p.said()).includes("without response.completed"), await p.said());
});

test("responses: a call that was never answered is not in the next request", async (p) => {
  await p.answers(STREAM, stream(call("one", "get_weather"), call("two", "water"), COMPLETED));
  await p.open("Responses");
  await p.send("hello");
  await p.page.getByLabel("Result of water").waitFor();
  await p.page.getByRole("button", { name: "Stop" }).click();
  await p.done();
  await p.page.unroute(`**${STREAM}`);
  await p.ask("and now?");
  equal(await p.said(), "You said: and now?");
  const { input } = p.posts.at(-1).body;
  equal(input.map(({ type }) => type), ["message", "function_call", "function_call_output", "message"]);
  equal(input[1].call_id, "one");
});
