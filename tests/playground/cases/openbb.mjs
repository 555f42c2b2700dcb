// The part of the OpenBB Workspace.

import { equal, ok, test } from "../harness.mjs";

test("openbb: chat, and the history of the next request", async (p) => {
  await p.open("OpenBB");
  await p.ask("good morning");
  equal(await p.said(), "You said: good morning");
  await p.ask("and again");
  const [first, second] = p.posts;
  ok(first.url.endsWith("/v1/query"), first.url);
  equal(first.body.messages, [{ role: "human", content: "good morning" }]);
  equal(
    second.body.messages.map(({ role, content }) => [role, content]),
    [["human", "good morning"], ["ai", "You said: good morning"], ["human", "and again"]],
  );
  equal(second.body.messages[1].agent_id, "stage");
  equal(second.headers["x-trace-id"], first.headers["x-trace-id"], "trace id");
  equal(first.body.widgets.primary.map(({ widget_id }) => widget_id), ["stock_price"], "in context");
  equal(first.body.widgets.secondary.length, 2, "on the dashboard");
  equal(typeof first.body.timezone, "string", "timezone");
});

test("openbb: every kind of event shows", async (p) => {
  await p.open("OpenBB");
  await p.ask("everything");
  const answer = p.answer();
  equal(await answer.locator(".steps li").count(), 4, "steps");
  equal(await answer.locator(".card.table tbody tr").count(), 4, "rows");
  equal(await answer.locator(".card.chart polyline").count(), 2, "lines");
  equal(await answer.locator(".card.chart path.sector").count(), 4, "sectors");
  ok(await answer.frameLocator("iframe").getByText("Quarter at a glance").isVisible(), "the page in the frame");
  equal(await answer.locator(".sources a").getAttribute("href"), "https://example.com/report");
  equal(await answer.locator(".markdown h4, .markdown .level-2").first().innerText(), "In short");
  equal(await answer.locator(".markdown li").count(), 4, "list items");
  const events = await p.events();
  for (const name of ["copilotStatusUpdate", "copilotMessageChunk", "copilotMessageArtifact", "copilotCitationCollection", "copilotPromptSuggestions"]) {
    ok(events.includes(name), `no ${name} in the log`);
  }
  // A suggestion is a question; what the agent made goes along with it.
  await answer.getByRole("button", { name: "Draw the volume" }).click();
  await p.done();
  const { body } = p.posts.at(-1);
  equal(body.messages.at(-1), { role: "human", content: "Draw the volume" });
  equal(body.context.map(({ name }) => name), ["Prices", "Close and open", "Revenue", "Report"], "context");
  ok(body.messages[1].content.includes("<|start_artifact_id|>Prices<|end_artifact_id|>"), "no marker in the history");
});

test("openbb: a widget call is answered and the turn goes on", async (p) => {
  await p.open("OpenBB");
  await p.ask("data");
  equal(p.posts.length, 2, "requests");
  const [, ai, tool] = p.posts[1].body.messages;
  equal(JSON.parse(ai.content).function, "get_widget_data");
  equal([tool.role, tool.function], ["tool", "get_widget_data"]);
  const rows = JSON.parse(tool.data[0].items[0].content);
  equal([rows.length, rows[0].symbol], [12, "AAPL"]);
  ok(Object.keys(tool.extra_state).length > 0, "no extra_state");
  equal(p.posts[1].body.timezone, undefined, "timezone of the second request");
  ok((await p.said()).includes("66901300"), "the agent did not see the rows");
});

test("openbb: data that the user edited is what the agent gets", async (p) => {
  await p.open("OpenBB");
  await p.page.getByRole("button", { name: "Setup" }).click();
  await p.page.locator(".widget").first().getByText("Data").click();
  await p.page.getByLabel("Data", { exact: true }).first().fill("[{\"date\": ");
  ok(await p.page.locator(".fault:not(:empty)").isVisible(), "bad JSON is not marked");
  await p.page.getByLabel("Data", { exact: true }).first().fill('[{"date": "today", "close": 7}]');
  await p.page.getByRole("button", { name: "Done" }).click();
  await p.ask("data");
  equal(p.posts[1].body.messages[2].data[0].items[0].content, '[{"date":"today","close":7}]');
});

test("openbb: a widget goes in and out of context", async (p) => {
  await p.open("OpenBB");
  await p.page.getByRole("button", { name: "AAPL prices", exact: true }).click();
  await p.ask("data");
  equal(await p.said(), "There is no widget in context.");
  await p.page.getByRole("button", { name: "Company news", exact: true }).click();
  await p.ask("data");
  equal(p.posts.at(-1).body.messages.at(-1).data[0].items[0].data_format.parse_as, "text");
});

test("openbb: a function that nobody knows waits for the user's result", async (p) => {
  await p.open("OpenBB");
  await p.send("unknown");
  const input = p.page.getByLabel("Result of water_the_plants");
  await input.fill('[{"status": "success", "message": "wet"}]');
  await p.page.getByRole("button", { name: "Send result" }).click();
  await p.done();
  equal(p.posts.at(-1).body.messages.at(-1).data, [{ status: "success", message: "wet" }]);
});

test("openbb: requests in the forms of earlier years", async (p) => {
  await p.open("OpenBB");
  for (const [form, check] of [
    ["2025-05", ({ workspace_options: options }) => Array.isArray(options)],
    ["2025-01", ({ widgets, timezone }) => Array.isArray(widgets.primary) && timezone === undefined],
    ["2024", ({ widgets, use_docs: docs }) => Array.isArray(widgets) && widgets[0].metadata.symbol === "AAPL" && docs === false],
  ]) {
    await p.page.getByRole("button", { name: "Setup" }).click();
    await p.page.getByLabel("Form").selectOption(form);
    await p.page.getByRole("button", { name: "Done" }).click();
    await p.ask("hello");
    ok(check(p.posts.at(-1).body), `form ${form}`);
    equal(await p.said(), "You said: hello", form);
  }
});

test("openbb: a failed agent says so in text", async (p) => {
  await p.open("OpenBB");
  await p.ask("fail");
  ok((await p.said()).includes("The stage collapsed."), await p.said());
});
