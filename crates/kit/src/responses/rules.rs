//! Rules for clients of the Responses API: Codex, Copilot's command line, VS Code, the official
//! clients and the AI SDK.

use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::{Value, json};

use super::front_end::ResponsesClient;
use crate::check::members::{all_say, elements, holds, is_object, offers, text};
use crate::check::{Exam, Exchange, Judge, Lines, Stream, Trial, rules};
use crate::models::{ARGUMENTS, NOT_OFFERED};
use crate::{FrontEnd, Toolkit};
use copilot_wire::responses::Responses;

rules! {
    REQUEST = Error "responses/request",
        "a request that known clients send is answered",
        "the clients throw an error with the status",
        "accept unknown members, items and tools, `null`, text or items, and every role";
    MODELS = Warning "responses/models",
        "`GET /v1/models` lists the models",
        "chat applications and the clients' `models.list()` have nothing to select",
        "answer `{\"object\":\"list\",\"data\":[{\"id\":…,\"object\":\"model\"}]}`";
    WHOLE = Error "responses/whole",
        "without `stream` the answer is one response object",
        "the official clients read the body as JSON unless they request a stream",
        "collect the answer and send the object of `response.completed`";
    STORED = Error "responses/previous-response",
        "`previous_response_id` is refused with 400 and `previous_response_not_found`, or answered",
        "after that code VS Code sends the complete history; after any other it gives up",
        "refuse it unless responses are stored";
    REFUSAL = Warning "responses/refusal",
        "a refusal is `{\"error\":{\"message\":…}}`",
        "both official clients display `error.message`, and only the status without it",
        "send an object with `message`, `type`, `param` and `code`";
    JSON = Error "responses/json",
        "the data of an event is a JSON object, or `[DONE]`",
        "the official clients throw",
        "write one JSON object per event";
    NAME = Error "responses/event-name",
        "the name of an event equals its `type`",
        "Open Responses requires it; clients read one or the other",
        "write `event: ` and the type";
    NO_ID = Warning "responses/id",
        "there are no `id` lines",
        "Open Responses excludes them",
        "omit `id`: the number of an event is in its data";
    NUMBER = Error "responses/sequence-number",
        "`sequence_number` counts all events from 0 without gaps",
        "clients that resume or sort streams lose events",
        "count every event of the stream, keep-alive included";
    CREATED = Error "responses/created",
        "a stream begins with `response.created`",
        "the helpers of both official clients throw",
        "send it first, with the response in progress";
    OBJECT = Error "responses/object",
        "a response has every member of the schema",
        "Open Responses requires them, with `null` for unknown values",
        "send all of them in every response object";
    RESPONSE_ID = Warning "responses/response-id",
        "the id of a response begins with `resp_`, and stays the same",
        "VS Code strips others; clients treat a new id as a new response",
        "create the id once per response";
    ITEM = Error "responses/item",
        "the events of an item are between its `added` and its `done`, and items do not overlap",
        "the helpers of both official clients throw",
        "open an item before its first delta, close it before the next item, increment `output_index`";
    REPEAT = Error "responses/repeat",
        "complete texts equal the deltas: in the `done` events and in the output of the response",
        "Codex takes its text from the item, the official clients from the response",
        "buffer the streamed text";
    USAGE = Error "responses/usage",
        "a response that has ended has a usage",
        "version 2 of the AI SDK's provider does not recognise the event, and the answer has no finish reason",
        "send zeros if the counts are not known";
    FAILED = Error "responses/failed",
        "`response.failed` has an error with `code` and `message`",
        "clients display the message, and repeat the turn depending on the code",
        "send `invalid_prompt` if the turn must not be repeated, `server_error` if it may";
    END = Error "responses/end",
        "a stream ends with `response.completed`, `response.incomplete` or `response.failed`",
        "Codex repeats the turn up to five times",
        "send one of them, once, as the last event before `[DONE]`";
    DONE = Warning "responses/done",
        "a stream ends with `[DONE]`, and nothing follows",
        "Open Responses requires it",
        "send `data: [DONE]` and a blank line";
}

/// The members of a response object.
const MEMBERS: &str = "\
    id object created_at completed_at status incomplete_details model previous_response_id \
    instructions output error tools tool_choice truncation parallel_tool_calls text top_p \
    presence_penalty frequency_penalty top_logprobs temperature reasoning usage \
    max_output_tokens max_tool_calls store background service_tier metadata \
    safety_identifier prompt_cache_key";

pub(super) async fn check(exam: &mut Exam<'_>) {
    let path = exam.path().unwrap_or(ResponsesClient::PATH);
    let requests = include_str!("../../fixtures/responses/requests.json");
    let requests = Trial::list(&REQUEST, requests);
    // Two more requests: one that continues a response, and one that is a list.
    exam.plan(requests.len() + 2);
    let list = Responses::models(path);
    let requests = exam.with_model(requests, list, Some(&MODELS)).await;
    exam.replay(path, &requests, judge, Some(whole)).await;
    let Some(Trial { body: sample, .. }) = requests.first() else {
        return;
    };
    let name = "a request that continues a response";
    let mut body = requests.first().map(Trial::json).unwrap_or_default();
    if let Some(body) = body.as_object_mut() {
        // An id that no server assigns.
        body.insert("previous_response_id".into(), json!("resp_0"));
    }
    if let Some(answer) = exam.ask(name, exam.post(path, body.to_string())).await {
        let refused = answer.head.status == StatusCode::BAD_REQUEST
            && text(&answer.json(), "/error/code") == "previous_response_not_found";
        let right = refused || answer.is_ok();
        exam.judge().expect_answer(&STORED, right, &answer);
    }
    let has_message = |answer: &Exchange| all_say(&answer.json(), &["/error/message"]);
    exam.refusal(path, &REFUSAL, has_message).await;
    exam.rest(path, sample).await;
}

/// The state of a stream so far.
#[derive(Default)]
struct Read {
    events: u64,
    id: Option<String>,
    /// The index of the open item.
    open: Option<u64>,
    /// The joined deltas of each item, by its index: its text, or the arguments of a call.
    texts: BTreeMap<u64, String>,
    /// The items that are complete.
    items: Vec<Value>,
    ended: bool,
    failed: bool,
    done: bool,
}

/// Checks a stream.
pub(super) fn judge(judge: &mut Judge, stream: &Stream<'_>) {
    let at = &*stream.exchange.name;
    let mut read = Read::default();
    for block in &stream.blocks {
        judge.expect(&NO_ID, !block.has_field("id"), at, block.raw);
        let Some(event) = &block.event else { continue };
        judge.expect(&DONE, !read.done, at, block.raw);
        if event.data().trim() == "[DONE]" {
            read.done = true;
            continue;
        }
        let data = block.json();
        judge.expect(&JSON, data.is_object(), at, block.raw);
        if !data.is_object() {
            continue;
        }
        // Checked before the end too: an unchecked rule would be reported as unseen.
        judge.expect(&END, !read.ended, at, block.raw);
        let kind = text(&data, "/type").to_owned();
        judge.expect(&NAME, event.name() == kind, at, block.raw);
        read.event(judge, at, block, &kind, &data);
        if kind == "response.output_item.done" {
            call(judge, at, block, &data, stream.asked.as_ref());
        }
    }
    let exchange = stream.exchange;
    if exchange.is_complete() {
        // The finding is about the stream as a whole, so it has no line.
        let end = exchange.last().to_vec();
        judge.expect(&END, read.ended, at, &end);
        judge.expect(&DONE, read.done, at, &end);
    }
}

impl Read {
    fn event(&mut self, judge: &mut Judge, at: &str, block: &Lines<'_>, kind: &str, data: &Value) {
        let number = data.get("sequence_number").and_then(Value::as_u64);
        judge.expect(&NUMBER, number == Some(self.events), at, block.raw);
        // The first event must be `response.created`, and no other event may be.
        let right = (self.events == 0) == (kind == "response.created");
        judge.expect(&CREATED, right, at, block.raw);
        self.events += 1;
        if let Some(response) = data.get("response") {
            self.response(judge, at, block, kind, response);
        } else if kind == "error" {
            (self.ended, self.failed) = (true, true);
        }
        let index = data.get("output_index").and_then(Value::as_u64);
        match kind {
            "response.output_item.added" => {
                // No two items are open at once, so an index is the number of complete items.
                let next = index == Some(self.items.len() as u64) && self.open.is_none();
                judge.expect(&ITEM, next, at, block.raw);
                self.open = index;
            }
            "response.output_item.done" => {
                judge.expect(&ITEM, index.is_some() && self.open == index, at, block.raw);
                self.open = None;
                let item = data.get("item").cloned().unwrap_or_default();
                let said = self.said(index.unwrap_or(0));
                judge.expect(&REPEAT, whole_text(&item) == said, at, block.raw);
                self.items.push(item);
            }
            _ if index.is_some() => {
                judge.expect(&ITEM, self.open == index, at, block.raw);
                let said = self.texts.entry(index.unwrap_or(0)).or_default();
                if let Some(delta) = data.get("delta").and_then(Value::as_str) {
                    said.push_str(delta);
                }
                for member in ["text", "arguments"] {
                    if let Some(whole) = data.get(member).and_then(Value::as_str) {
                        judge.expect(&REPEAT, whole == said, at, block.raw);
                    }
                }
            }
            _ => {}
        }
    }

    fn said(&self, index: u64) -> &str {
        self.texts.get(&index).map_or("", String::as_str)
    }

    fn response(
        &mut self,
        judge: &mut Judge,
        at: &str,
        block: &Lines<'_>,
        kind: &str,
        response: &Value,
    ) {
        let complete = is_whole(response);
        judge.expect(&OBJECT, complete, at, block.raw);
        let id = text(response, "/id");
        // Later responses are compared with the id of the first one.
        let same = id == self.id.get_or_insert_with(|| id.to_owned());
        let right = same && id.starts_with("resp_");
        judge.expect(&RESPONSE_ID, right, at, block.raw);
        let ends = ["completed", "incomplete", "failed"];
        let end = kind
            .strip_prefix("response.")
            .filter(|end| ends.contains(end));
        let Some(end) = end else { return };
        self.ended = true;
        judge.expect(&END, text(response, "/status") == end, at, block.raw);
        let counted = holds(response, "/usage/input_tokens", Value::is_u64);
        judge.expect(&USAGE, counted, at, block.raw);
        if end == "failed" {
            self.failed = true;
            let right = all_say(response, &["/error/code", "/error/message"]);
            judge.expect(&FAILED, right, at, block.raw);
            return;
        }
        judge.expect(&ITEM, self.open.is_none(), at, block.raw);
        let output = response.get("output").and_then(Value::as_array);
        let same = output.is_some_and(|output| *output == self.items);
        judge.expect(&REPEAT, same, at, block.raw);
    }
}

/// Returns the text of a complete item, or the arguments of a call.
fn whole_text(item: &Value) -> String {
    if let Some(arguments) = item.get("arguments").and_then(Value::as_str) {
        return arguments.to_owned();
    }
    let parts = elements(item, "/content").chain(elements(item, "/summary"));
    parts.map(|part| text(part, "/text")).collect()
}

/// Returns `true` if a response has all of its members.
fn is_whole(response: &Value) -> bool {
    MEMBERS.split(' ').all(|name| response.get(name).is_some())
}

fn call(judge: &mut Judge, at: &str, block: &Lines<'_>, data: &Value, asked: Option<&Value>) {
    if text(data, "/item/type") != "function_call" {
        return;
    }
    let object = is_object(text(data, "/item/arguments"));
    judge.expect(&ARGUMENTS, object, at, block.raw);
    let Some(asked) = asked else { return };
    let known = offers(asked, "/name", text(data, "/item/name"));
    judge.expect(&NOT_OFFERED, known, at, block.raw);
}

/// Checks a response to a request without a stream.
fn whole(judge: &mut Judge, exchange: &Exchange) {
    let body = exchange.json();
    let right = exchange.is("application/json")
        && text(&body, "/object") == "response"
        && text(&body, "/id").starts_with("resp_")
        && text(&body, "/status") == "completed"
        && body.get("output").is_some_and(Value::is_array)
        && is_whole(&body);
    judge.expect_answer(&WHOLE, right, exchange);
}
