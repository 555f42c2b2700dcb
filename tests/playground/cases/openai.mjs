// The part of an OpenAI client.

import { equal, ok, test } from "../harness.mjs";

const STREAM = "/v1/chat/completions";
const event = (data) => `data: ${JSON.stringify(data)}\n\n`;
const chunk = (delta, finish_reason = null) => event({ choices: [{ index: 0, delta, finish_reason }] });
const call = (index, name) => ({ index, id: name, function: { name, arguments: `{"${name}":1}` } });

test("openai: chat, usage, and the history", async (p) => {
  await p.open("OpenAI");
  await p.ask("good morning");
  equal(await p.said(), "You said: good morning");
  await p.ask("again");
  const { body } = p.posts.at(-1);
  equal([body.model, body.stream], ["stage", true]);
  equal(body.messages.map(({ role }) => role), ["user", "assistant", "user"]);
  ok((await p.events()).includes("finish"), "no finish in the log");
});

test("openai: a tool call is answered", async (p) => {
  await p.open("OpenAI");
  await p.ask("weather");
  const { messages } = p.posts.at(-1).body;
  equal(messages.map(({ role }) => role), ["user", "assistant", "tool"]);
  equal(messages[2].tool_call_id, messages[1].tool_calls[0].id);
  ok((await p.said()).includes('"place":"Lisbon"'), await p.said());
});

test("openai: an error in the stream shows", async (p) => {
  await p.open("OpenAI");
  await p.ask("fail");
  equal(await p.answer().locator(".notice.error").innerText(), "The stage collapsed.");
  ok((await p.said()).includes("It begins well."), "what came before is gone");
});

test("openai: a row in the log shows all calls and all parts of a chunk", async (p) => {
  await p.answers(STREAM, chunk({ tool_calls: [call(0, "one"), call(1, "two")] }) + chunk({ content: "Last words" }, "stop") + "data: [DONE]\n\n");
  await p.open("OpenAI");
  await p.send("hello");
  await p.page.locator(".exchange .state.ok").waitFor();
  const rows = (part) => p.page.locator(`.events li .${part}`).allInnerTexts();
  equal(await rows("name"), ["Response", "one + two", "delta + finish", "[DONE]"]);
  equal((await rows("preview")).slice(1, 3), ['{"one":1} · {"two":1}', "Last words · stop"]);
});

test("openai: a call that was never answered is not in the next request", async (p) => {
  await p.answers(STREAM, chunk({ content: "Let me see." }) + chunk({ tool_calls: [call(0, "get_weather"), call(1, "water")] }, "tool_calls") + "data: [DONE]\n\n");
  await p.open("OpenAI");
  await p.send("hello");
  await p.page.getByLabel("Result of water").waitFor();
  await p.page.getByRole("button", { name: "Stop" }).click();
  await p.done();
  await p.page.unroute(`**${STREAM}`);
  await p.ask("and now?");
  equal(await p.said(), "You said: and now?");
  const { messages } = p.posts.at(-1).body;
  equal(messages.map(({ role }) => role), ["user", "assistant", "tool", "user"]);
  equal(messages[1].tool_calls.map(({ id }) => id), ["get_weather"]);
  equal(messages[2].tool_call_id, "get_weather");
});

test("openai: a call in a stream that broke is not in the next request", async (p) => {
  await p.answers(STREAM, chunk({ tool_calls: [call(0, "get_weather")] }) + event({ error: { message: "Broken." } }));
  await p.open("OpenAI");
  await p.ask("hello");
  await p.page.unroute(`**${STREAM}`);
  await p.ask("and now?");
  equal(p.posts.at(-1).body.messages.map(({ role }) => role), ["user", "user"]);
});
