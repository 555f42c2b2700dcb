// The part of an Anthropic client.

import { equal, ok, test } from "../harness.mjs";

const STREAM = "/v1/messages";
const event = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const start = event({ type: "message_start", message: { content: [], usage: { input_tokens: 1, output_tokens: 0 } } });
const call = (index, name) => event({ type: "content_block_start", index, content_block: { type: "tool_use", id: name, name, input: {} } });

test("anthropic: chat, and the history", async (p) => {
  await p.open("Anthropic");
  await p.ask("good morning");
  equal(await p.said(), "You said: good morning");
  await p.ask("again");
  const { body } = p.posts.at(-1);
  equal([body.stream, body.messages.map(({ role }) => role)], [true, ["user", "assistant", "user"]]);
  equal(body.messages[1].content, [{ type: "text", text: "You said: good morning" }]);
});

test("anthropic: a tool call is answered", async (p) => {
  await p.open("Anthropic");
  await p.ask("weather");
  const { messages } = p.posts.at(-1).body;
  equal(messages.map(({ role }) => role), ["user", "assistant", "user"]);
  const [{ id, input }] = messages[1].content;
  equal([input, messages[2].content[0].tool_use_id], [{ place: "Lisbon" }, id]);
  ok((await p.said()).includes('"place":"Lisbon"'), await p.said());
});

test("anthropic: thinking is a step, and goes back with the next turn", async (p) => {
  await p.open("Anthropic");
  await p.ask("everything");
  ok((await p.answer().innerText()).includes("Looking at the prices (Symbol: AAPL, Rows: 4)"), await p.answer().innerText());
  await p.ask("again");
  const [thinking] = p.posts.at(-1).body.messages[1].content;
  equal([thinking.type, thinking.signature !== ""], ["thinking", true]);
});

test("anthropic: an error in the stream shows", async (p) => {
  await p.open("Anthropic");
  await p.ask("fail");
  equal(await p.answer().locator(".notice.error").innerText(), "The stage collapsed.");
  ok((await p.said()).includes("It begins well."), "what came before is gone");
});

test("anthropic: a call in a stream that broke is not in the next request", async (p) => {
  const failed = event({ type: "error", error: { type: "api_error", message: "Broken." } });
  await p.answers(STREAM, start + call(0, "get_weather") + failed);
  await p.open("Anthropic");
  await p.ask("hello");
  await p.page.unroute(`**${STREAM}`);
  await p.ask("and now?");
  equal(p.posts.at(-1).body.messages.map(({ role }) => role), ["user", "user"]);
});
