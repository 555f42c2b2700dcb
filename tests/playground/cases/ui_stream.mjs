// The part of a web page on the AI SDK.

import { equal, ok, test } from "../harness.mjs";

const STREAM = "/api/chat";
const PAGE = "AI SDK page /api/chat";
const event = (data) => `data: ${JSON.stringify(data)}\n\n`;
const START = event({ type: "start", messageId: "m1" }) + event({ type: "start-step" });
const END = event({ type: "finish-step" }) + event({ type: "finish" }) + "data: [DONE]\n\n";
const TOOL = { type: "tool-input-available", toolCallId: "c1", toolName: "search", input: {}, providerExecuted: true };

test("ui-stream: chat, and the history", async (p) => {
  await p.open(PAGE);
  await p.ask("good morning");
  equal(await p.said(), "You said: good morning");
  await p.ask("again");
  const { body } = p.posts.at(-1);
  equal(body.messages.map(({ role }) => role), ["user", "assistant", "user"]);
  equal(body.messages[1].parts.map(({ type }) => type), ["step-start", "text"]);
  ok((await p.events()).includes("text-delta"), "no names in the log");
});

test("ui-stream: steps, tables, charts and sources show", async (p) => {
  await p.open(PAGE);
  await p.ask("everything");
  const said = await p.said();
  for (const part of ["Looking at the prices", "Symbol", "iPhone", "One source could not be read.", "Annual report"]) ok(said.includes(part), part);
  ok((await p.answer().locator(".artifact.chart").count()) === 2, "no charts");
  await p.shot("ui-stream");
});

test("ui-stream: a tool of the page is answered, in two posts", async (p) => {
  await p.open(PAGE);
  await p.ask("weather");
  equal(p.posts.length, 2);
  const { messages, messageId } = p.posts.at(-1).body;
  equal([messages.length, messages[1].id], [2, messageId]);
  equal(messages[1].parts.at(-1).state, "output-available");
  ok((await p.said()).includes('"place":"Lisbon"'), await p.said());
});

for (const [button, word, state] of [["Accept", "accepted", "output-available"], ["Dismiss", "dismissed", "output-denied"]]) {
  test(`ui-stream: an approval request is ${word}`, async (p) => {
    await p.open("AI SDK page /api/approving");
    await p.ask("confirm");
    await p.page.getByRole("button", { name: button }).click();
    await p.page.locator(".answer .parts", { hasText: `You ${word} it.` }).waitFor();
    await p.ask("thanks");
    const parts = p.posts.at(-1).body.messages.flatMap((message) => message.parts);
    equal(parts.find(({ type }) => type === "dynamic-tool").state, state);
  });
}

test("ui-stream: version 5.0.0 refuses what is newer", async (p) => {
  const strict = () => p.page.getByRole("button", { name: "Version 5.0.0" }).click();
  await p.open("AI SDK page /api/approving");
  await strict();
  await p.ask("confirm");
  ok((await p.said()).includes("tool-approval-request is not known in 5.0.0"), await p.said());
  await p.answers(STREAM, START + event({ type: "finish", finishReason: "stop" }));
  await p.open(PAGE);
  await strict();
  await p.ask("hello");
  ok((await p.said()).includes("finishReason is not known in 5.0.0"), await p.said());
});

test("ui-stream: an error in the stream shows", async (p) => {
  await p.open(PAGE);
  await p.ask("fail");
  equal(await p.answer().locator(".notice.error").innerText(), "The stage collapsed.");
  ok((await p.said()).includes("It begins well."), "what came before is gone");
});

test("ui-stream: what breaks a page is said", async (p) => {
  const delta = event({ type: "text-delta", id: "t1", delta: "x" });
  for (const [stream, why] of [
    [START + delta + END, "the block t1 is not open"],
    [START, "The stream ended without finish"],
    [START + event(TOOL) + event({ type: "tool-output-available", toolCallId: "c1", output: 1 }) + END, "Stopped after 12 rounds of calls"],
  ]) {
    await p.answers(STREAM, stream);
    await p.open(PAGE);
    await p.ask("hello");
    ok((await p.said()).includes(why), `${why}: ${await p.said()}`);
    await p.page.unroute(`**${STREAM}`);
  }
});
