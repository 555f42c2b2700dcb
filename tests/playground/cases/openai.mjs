// The part of an OpenAI client.

import { equal, ok, test } from "../harness.mjs";

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
  await p.page.getByRole("button", { name: "Sample tools" }).click();
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
