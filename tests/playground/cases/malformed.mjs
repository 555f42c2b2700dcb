// Data that parses and is not what it should be: it is named, and the turn goes on.

import { equal, ok, test } from "../harness.mjs";

const event = (data, name) => `${name ? `event: ${name}\n` : ""}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
const chunk = (choice) => event({ choices: [{ index: 0, ...choice }] });
const END = chunk({ delta: { content: "The end." }, finish_reason: "stop" }) + event("[DONE]");

const item = (text, sequence_number) => event({ type: "response.output_item.done", sequence_number, item: { type: "message", content: [{ text }] } }, "response.output_item.done");

const FRONTS = {
  OpenBB: ["/v1/query", event({ delta: "The end." }, "copilotMessageChunk"), [
    [event("null", "copilotMessageChunk"), "“copilotMessageChunk” is malformed: data is no object"],
    [event({ citations: [null] }, "copilotCitationCollection"), "citations[0] is no object"],
    [event({ citations: [{ id: "1", source_info: null, quote_bounding_boxes: [[null]] }] }, "copilotCitationCollection"), null],
    [event({ eventType: "INFO", message: "Step", artifacts: [null] }, "copilotStatusUpdate"), "artifacts[0] is no object"],
    [event("7", "copilotFunctionCall"), "data is no object"],
    [event({ function: "get_params_options", input_arguments: { param_options_queries: [null] } }, "copilotFunctionCall"), "“copilotFunctionCall” is malformed"],
  ]],
  GitHub: ["/github", END, [
    [event("null"), "“data” is malformed: data is no object"],
    [event({ choices: [null] }), "choices[0] is no object"],
    [event("null", "copilot_references"), "data is no list"],
    [event([{ id: "a", data: {}, metadata: null }], "copilot_references"), null],
    [event([null], "copilot_errors"), "data[0] is no object"],
    [event("null", "copilot_confirmation"), "data is no object"],
  ]],
  OpenAI: ["/v1/chat/completions", END, [
    [event("null"), "“data” is malformed: data is no object"],
    [event({ choices: [null] }), "choices[0] is no object"],
    [event({ choices: 4 }), "choices is no list"],
    [chunk({ delta: null }), "delta is no object"],
    [chunk({ delta: { tool_calls: [null] } }), "tool_calls[0] is no object"],
    [chunk({ delta: { tool_calls: [{ index: 0, function: null }] } }), "tool_calls[].function is no object"],
  ]],
  Responses: ["/v1/responses", item("The end.", 5) + event({ type: "response.completed", sequence_number: 6, response: {} }, "response.completed"), [
    [event("null", "response.created"), "“response.created” is malformed: data is no object"],
    [event({ type: "response.other", sequence_number: 0 }, "response.created"), "its type is response.other"],
    [event({ type: "response.output_item.done", sequence_number: 1, item: null }, "response.output_item.done"), "item is no object"],
    [event({ type: "response.in_progress", sequence_number: 9 }, "response.in_progress"), "sequence_number is not 2"],
    [event({ type: "response.output_text.delta", sequence_number: 3, delta: null }, "response.output_text.delta"), null],
    [event({ type: "response.output_text.delta", sequence_number: 4, delta: "The end." }, "response.output_text.delta"), null],
  ]],
  Meilisearch: ["/chats/playground/chat/completions", END, [
    [event("null"), "data is no object"],
    [event({ choices: [null] }), "choices[0] is no object"],
    [chunk({ delta: null }), "delta is no object"],
    [chunk({ delta: { tool_calls: [{ function: null }] } }), "tool_calls[].function is no object"],
    [chunk({ delta: { tool_calls: [{ function: { name: "_meiliAppendConversationMessage", arguments: "7" } }] } }), "the arguments of _meiliAppendConversationMessage is no object"],
  ]],
};

for (const [front, [path, end, odd]] of Object.entries(FRONTS)) {
  test(`malformed: ${front} names the event and goes on`, async (p) => {
    await p.answers(path, odd.map(([data]) => data).join("") + end);
    await p.open(front);
    await p.ask("hello");
    const said = await p.said();
    ok(said.includes("The end."), said);
    equal(await p.answer().locator(".notice.error").count(), 0, "errors");
    const notices = (await p.answer().locator(".notice.warning").allInnerTexts()).filter((text) => text.includes("malformed"));
    const expected = odd.map(([, what]) => what).filter(Boolean);
    equal(notices.length, expected.length, notices.join(" | "));
    for (const [at, what] of expected.entries()) ok(notices[at].includes(what), `${notices[at]} instead of ${what}`);
    // Every one of them is in the log, and opens.
    const rows = p.page.locator(".events li:not(.head)");
    ok((await rows.count()) > odd.length, "rows in the log");
    for (const summary of await rows.locator("summary").all()) await summary.click();
    await p.ask("and on?");
    ok((await p.said()).includes("The end."), "the next turn");
  });
}

test("malformed: only the network is the network", async (p) => {
  await p.page.route("**/v1/query", (route) => route.abort());
  await p.open("OpenBB");
  await p.ask("hello");
  ok((await p.said()).startsWith("The connection broke: "), await p.said());
});
