// The part of an MCP client.

import { equal, ok, test } from "../harness.mjs";

const STREAM = "/mcp";
const call = (p) => p.posts.filter(({ body }) => body.method === "tools/call").at(-1).body;

test("mcp: calls go on by the handle", async (p) => {
  await p.open("MCP client");
  await p.ask("good morning");
  ok((await p.said()).startsWith("You said: good morning"), await p.said());
  const { name, arguments: args, _meta } = call(p).params;
  equal([name, args], ["stage", { question: "good morning" }]);
  equal(_meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
  await p.ask("again");
  ok(/^conv_\w+$/.test(call(p).params.arguments.conversation), JSON.stringify(call(p).params.arguments));
  ok((await p.said()).startsWith("You said: again"), await p.said());
});

test("mcp: steps, a table and sources show", async (p) => {
  await p.open("MCP client");
  await p.ask("everything");
  const text = await p.answer().innerText();
  for (const part of ["Looking at the prices", "Close and open", "Annual report", "One source could not be read."]) ok(text.includes(part), `${part}: ${text}`);
});

test("mcp: a question in a dialog, and one in text", async (p) => {
  await p.open("MCP client");
  for (const [button, said] of [["Accept", "You accepted it."], ["Dismiss", "You dismissed it."]]) {
    await p.ask("confirm");
    await p.answer().getByRole("button", { name: button, exact: true }).click();
    await p.page.locator(".answer .parts", { hasText: said }).waitFor();
  }
  await p.page.getByRole("button", { name: "Dialogs" }).click();
  await p.ask("confirm");
  const [yes] = (await p.said()).match(/yes \d{6}/);
  await p.ask(yes);
  ok((await p.said()).startsWith("You accepted it."), await p.said());
});

test("mcp: a failure shows with the text so far", async (p) => {
  await p.open("MCP client");
  await p.ask("fail");
  const text = await p.answer().innerText();
  for (const part of ["The call failed", "It begins well.", "The stage collapsed."]) ok(text.includes(part), `${part}: ${text}`);
});

test("mcp: a stream without the result is said", async (p) => {
  await p.open("MCP client");
  await p.answers(STREAM, 'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0}}\n\n');
  await p.ask("hello");
  ok((await p.answer().innerText()).includes("ended without the result"), "a stream that was cut looks complete");
});
