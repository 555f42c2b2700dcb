// The part of an AG-UI app.

import { equal, ok, test } from "../harness.mjs";

const STREAM = "/agui";
const frames = (...events) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
const start = { type: "RUN_STARTED", threadId: "t", runId: "r" };
const finish = { type: "RUN_FINISHED", threadId: "t", runId: "r" };

test("ag-ui: chat, and the history", async (p) => {
  await p.open("AG-UI app");
  await p.ask("good morning");
  equal(await p.said(), "You said: good morning");
  await p.ask("again");
  const { body } = p.posts.at(-1);
  equal(body.messages.map(({ role, content }) => [role, content]), [["user", "good morning"], ["assistant", "You said: good morning"], ["user", "again"]]);
  equal(body.tools.map(({ name }) => name), ["get_weather"]);
});

test("ag-ui: a tool call is answered", async (p) => {
  await p.open("AG-UI app");
  await p.ask("weather");
  const { messages } = p.posts.at(-1).body;
  equal(messages.map(({ role }) => role), ["user", "assistant", "tool"]);
  equal(messages[2].toolCallId, messages[1].toolCalls[0].id);
  ok((await p.said()).includes('"place":"Lisbon"'), await p.said());
});

test("ag-ui: steps, a chart and sources show", async (p) => {
  await p.open("AG-UI app");
  await p.ask("everything");
  const text = await p.answer().innerText();
  for (const part of ["Looking at the prices\n\nSymbol\nAAPL", "Close and open", "Annual report"]) ok(text.includes(part), `${part}: ${text}`);
});

test("ag-ui: a question in text", async (p) => {
  await p.open("AG-UI app");
  await p.ask("confirm");
  const asked = p.answer().getByRole("region", { name: "Question" });
  // A yes needs the code, which is in the text: no button has it.
  equal(await asked.getByRole("button").allInnerTexts(), ["no"]);
  await p.ask("yes");
  ok((await p.said()).startsWith("Your answer does not have the code of the question, so nothing was done."), await p.said());
  const [yes] = (await p.said()).match(/yes \d{6}/);
  await p.ask(yes);
  equal(await p.said(), "You accepted it.");
  equal(await p.page.getByRole("region", { name: "Question" }).count(), 0);
  await p.ask("confirm");
  await asked.getByRole("button", { name: "no" }).click();
  await p.page.locator(".answer .parts", { hasText: "You dismissed it." }).waitFor();
});

test("ag-ui: an interrupt is answered, and state comes back", async (p) => {
  const snapshot = { type: "STATE_SNAPSHOT", snapshot: { list: [1] } };
  const delta = { type: "STATE_DELTA", delta: [{ op: "add", path: "/list/0", value: 0 }, { op: "move", from: "/list/1", path: "/a~1b" }] };
  const interrupts = [{ id: "q1", reason: "confirm", metadata: { title: "Sure?", message: "Really?", data: { page: 7 } } }];
  await p.answers(STREAM, frames(start, snapshot, delta, { ...finish, outcome: { type: "interrupt", interrupts } }));
  await p.open("AG-UI app");
  await p.ask("delete");
  await p.answers(STREAM, frames(start, finish));
  const posted = p.posts.length;
  await p.answer().locator("button").first().click();
  await p.page.waitForTimeout(200);
  const { resume, state } = p.posts.at(-1).body;
  equal([p.posts.length - posted, resume[0].interruptId, resume[0].payload.data, state], [1, "q1", { page: 7 }, { list: [0], "a/b": 1 }]);
});

test("ag-ui: a failure shows", async (p) => {
  await p.open("AG-UI app");
  await p.ask("fail");
  equal(await p.answer().locator(".notice.error").innerText(), "The stage collapsed.");
  ok((await p.said()).includes("It begins well."), "what came before is gone");
});

test("ag-ui: what an app fails at is said", async (p) => {
  const text = { type: "TEXT_MESSAGE_START", messageId: "m" };
  for (const events of [[start, text, finish], [text], [start, { type: "TOMORROW" }], [{ ...start, parentRunId: null }], [start, finish, text]]) {
    await p.answers(STREAM, frames(...events));
    await p.open("AG-UI app");
    await p.ask("hello");
    ok((await p.answer().locator(".notice.error").innerText()).startsWith("This app fails the run"), JSON.stringify(events));
    await p.page.unroute(`**${STREAM}`);
  }
  await p.answers(STREAM, frames(start));
  await p.open("AG-UI app");
  await p.ask("hello");
  ok((await p.answer().innerText()).includes("without RUN_FINISHED"), "a stream that was cut looks complete");
});
