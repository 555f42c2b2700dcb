//! Rules for Anthropic clients: Claude Code, the official libraries, the AI SDK, Copilot's command
//! line, VS Code.

use std::collections::BTreeMap;

use serde_json::Value;

use super::front_end::AnthropicClient;
use crate::check::members::{all_say, elements, holds, is_object, offers, text};
use crate::check::{Exam, Exchange, Judge, Lines, Stream, Trial, rules};
use crate::models::{ARGUMENTS, NOT_OFFERED};
use crate::{FrontEnd as _, Toolkit as _};
use copilot_wire::anthropic::{Anthropic, Event};
use copilot_wire::protocol::FrameEvent as _;

rules! {
    REQUEST = Error "anthropic/request",
        "a request that the clients send is answered",
        "the clients throw an error with the status",
        "accept unknown members and blocks, content as a text, and a system message at the end";
    WHOLE = Error "anthropic/whole",
        "without `stream` the answer is one `message`",
        "the libraries read the body as JSON unless they request a stream, which is not the default",
        "collect the answer: `id`, `type`, `role`, `model`, `content`, `stop_reason` and `usage`";
    RETRY = Warning "anthropic/should-retry",
        "a stream has the header `x-should-retry: false`",
        "Copilot's command line repeats the request six times after an error in the stream",
        "send the header with every status 200, unless a failed turn may be repeated";
    EVENT_NAME = Error "anthropic/event-name",
        "every event has an `event` line with its `type`",
        "both libraries fail without it, and Claude Code and Copilot repeat the request",
        "write `event: ` and the `type` before the data";
    EVENT = Error "anthropic/event",
        "the data of an event is a JSON object of a type that clients know",
        "the AI SDK reports an error for any other",
        "use comments or `ping` for anything else";
    START = Error "anthropic/start",
        "the first event is `message_start` with a message and its `usage`",
        "both libraries, the AI SDK and VS Code fail without it",
        "send `message_start` once, with `input_tokens` and `output_tokens`";
    BLOCK_START = Error "anthropic/block-start",
        "blocks are numbered from 0, and start after the end of the previous one",
        "the libraries use the number as the index of a list",
        "stop the open block first, and number blocks without a gap";
    BLOCK_KIND = Error "anthropic/block-kind",
        "a block is of a type that clients know, and a delta of the type of its block",
        "the AI SDK reports an error, and the libraries lose the text",
        "send `text`, `thinking` or `tool_use`, and their deltas";
    BLOCK_DELTA = Error "anthropic/block-delta",
        "a delta belongs to the open block",
        "the libraries crash on a delta of a block without a start",
        "start the block first";
    BLOCK_STOP = Error "anthropic/block-stop",
        "every block is stopped, once",
        "Claude Code loses the text of a block without a stop and repeats the request",
        "send `content_block_stop` before the next block and before `message_delta`";
    ONE_TEXT = Warning "anthropic/one-text",
        "there is one text block",
        "`claude -p` prints the last one only, and Copilot joins them without a space",
        "keep the text block open until a call; omit thinking inside the text";
    EMPTY = Error "anthropic/empty",
        "an answer has text or a call",
        "Claude Code repeats the request, and Copilot reports that there was no response",
        "send at least one text";
    STOP_REASON = Error "anthropic/stop-reason",
        "the message ends with a `stop_reason` that clients know",
        "clients treat the answer as truncated",
        "send `message_delta` with `end_turn` or `tool_use`, and `usage` with `output_tokens`";
    STOP = Error "anthropic/stop",
        "a stream ends with `message_stop`, or with an error",
        "Copilot repeats the request six times, and the library for Node throws",
        "send `message_stop` last";
    AFTER_STOP = Error "anthropic/after-stop",
        "nothing follows `message_stop` or an error",
        "clients have stopped reading",
        "end the body";
    ERROR = Error "anthropic/error",
        "a failure is `{\"type\":\"error\",\"error\":{\"type\":…,\"message\":…}}`",
        "the libraries display `error.message`, and nothing without it",
        "send `type` and `message`";
    ERROR_BLOCK = Warning "anthropic/error-block",
        "a complete block precedes a failure",
        "Claude Code repeats the request without `stream`, and the agent runs twice",
        "stop the open block before the error; if there is none, write the message as a text block";
    REFUSAL = Warning "anthropic/refusal",
        "a refusal is `{\"type\":\"error\",\"error\":{\"type\":…,\"message\":…}}`",
        "the clients display `error.message`, and only the status without it",
        "send `type` and `message`";
    COUNT = Warning "anthropic/count-tokens",
        "`POST /v1/messages/count_tokens` answers with `input_tokens`",
        "without it Claude Code counts with up to 13 requests for a single token, each of which runs the agent",
        "answer with an estimate";
}

pub(super) async fn check(exam: &mut Exam<'_>) {
    let path = exam.path().unwrap_or(AnthropicClient::PATH);
    let requests = include_str!("../../fixtures/anthropic/requests.json");
    let requests = Trial::list(&REQUEST, requests);
    // Two more requests: a count, and one that is a list.
    exam.plan(requests.len() + 2);
    // No client requests the list of models, so no rule checks it.
    let list = Anthropic::models(path);
    let requests = exam.with_model(requests, list, None).await;
    let retried = |judge: &mut Judge, stream: &Stream<'_>| {
        let retry = stream.exchange.head.headers.get("x-should-retry");
        let never = retry.is_some_and(|retry| retry == "false");
        let exchange = stream.exchange;
        judge.expect(&RETRY, never, &exchange.name, exchange.evidence());
        self::judge(judge, stream);
    };
    exam.replay(path, &requests, retried, Some(whole)).await;
    let Some(Trial { body: sample, .. }) = requests.first() else {
        return;
    };
    let name = "a count of tokens";
    let count = format!("{}/count_tokens", path.trim_end_matches('/'));
    if let Some(answer) = exam.ask(name, exam.post(&count, sample.clone())).await {
        let tokens = holds(&answer.json(), "/input_tokens", Value::is_u64);
        let right = answer.is_ok() && tokens;
        exam.judge().expect_answer(&COUNT, right, &answer);
    }
    exam.refusal(path, &REFUSAL, |answer| is_error(&answer.json()))
        .await;
    exam.rest(path, sample).await;
}

/// The state of the blocks of a stream.
#[derive(Default)]
struct Blocks {
    next: u64,
    /// The index, type and input of the open block, with the name of the tool.
    open: Option<(u64, String, String, String)>,
    /// The number of blocks of each type.
    kinds: BTreeMap<String, usize>,
}

/// Checks a stream.
pub(super) fn judge(judge: &mut Judge, stream: &Stream<'_>) {
    let exchange = stream.exchange;
    let at = &*exchange.name;
    let mut blocks = Blocks::default();
    let (mut started, mut reason, mut over, mut failed) = (false, false, false, false);
    for block in &stream.blocks {
        let Some(event) = &block.event else { continue };
        judge.expect(&AFTER_STOP, !over, at, block.raw);
        // Later events would break every other rule too: only one fault is reported.
        if over {
            break;
        }
        let data = &block.json();
        let kind = text(data, "/type");
        let known = Event::members(kind).is_some();
        judge.expect(&EVENT, known, at, block.raw);
        if !known {
            continue;
        }
        judge.expect(&EVENT_NAME, event.name() == kind, at, block.raw);
        // A `ping` may precede the start, and an error may be the only event.
        if !matches!(kind, "ping" | "error") {
            let first = kind == "message_start";
            let counted = counts(data.pointer("/message"));
            let right = if first { !started && counted } else { started };
            judge.expect(&START, right, at, block.raw);
            // A fault is reported once.
            started = true;
        }
        match kind {
            "message_delta" => {
                let stop = data.pointer("/delta/stop_reason");
                let stop = stop.and_then(Value::as_str);
                // A `message_delta` may have token counts only.
                let known = stop.is_none_or(|stop| REASONS.contains(&stop));
                let counted = holds(data, "/usage/output_tokens", Value::is_u64);
                judge.expect(&STOP_REASON, known && counted, at, block.raw);
                reason |= stop.is_some();
            }
            "message_stop" => {
                over = true;
                judge.expect(&STOP_REASON, reason, at, block.raw);
                let said = ["text", "tool_use"].iter();
                let said = said.clone().any(|kind| blocks.kinds.contains_key(*kind));
                judge.expect(&EMPTY, said, at, block.raw);
            }
            "error" => {
                (over, failed) = (true, true);
                judge.expect(&ERROR, is_error(data), at, block.raw);
                let closed = blocks.open.is_none() && blocks.next > 0;
                judge.expect(&ERROR_BLOCK, closed, at, block.raw);
            }
            "ping" | "message_start" => {}
            kind => blocks.judge(judge, stream, kind, data, block),
        }
    }
    if exchange.is_complete() {
        let end = exchange.last().to_vec();
        judge.expect(&STOP, over, at, &end);
        judge.expect(&BLOCK_STOP, blocks.open.is_none() || failed, at, &end);
    }
}

const REASONS: [&str; 7] = [
    "end_turn",
    "tool_use",
    "max_tokens",
    "stop_sequence",
    "pause_turn",
    "refusal",
    "model_context_window_exceeded",
];

impl Blocks {
    fn judge(
        &mut self,
        judge: &mut Judge,
        stream: &Stream<'_>,
        kind: &str,
        data: &Value,
        block: &Lines<'_>,
    ) {
        let at = &*stream.exchange.name;
        let index = data.get("index").and_then(Value::as_u64);
        let text = |path: &str| text(data, path);
        match kind {
            "content_block_start" => {
                judge.expect(&BLOCK_STOP, self.open.is_none(), at, block.raw);
                judge.expect(&BLOCK_START, index == Some(self.next), at, block.raw);
                let kind = text("/content_block/type");
                let known = matches!(kind, "text" | "thinking" | "redacted_thinking" | "tool_use");
                judge.expect(&BLOCK_KIND, known || KINDS.contains(&kind), at, block.raw);
                let number = self.kinds.entry(kind.to_owned()).or_default();
                *number += 1;
                judge.expect(&ONE_TEXT, kind != "text" || *number == 1, at, block.raw);
                let name = text("/content_block/name").to_owned();
                let index = index.unwrap_or(self.next);
                // Counted from the received index, so that one wrong index is one finding, not one for every later
                // block.
                self.next = index + 1;
                self.open = Some((index, kind.to_owned(), String::new(), name));
            }
            "content_block_delta" => {
                let open = self.open.as_mut().filter(|(open, ..)| Some(*open) == index);
                judge.expect(&BLOCK_DELTA, open.is_some(), at, block.raw);
                let Some((_, kind, input, _)) = open else {
                    return;
                };
                let fits = match text("/delta/type") {
                    "text_delta" | "citations_delta" => kind == "text",
                    "thinking_delta" | "signature_delta" => kind == "thinking",
                    "input_json_delta" => {
                        input.push_str(text("/delta/partial_json"));
                        kind == "tool_use" || KINDS.contains(&&**kind)
                    }
                    _ => false,
                };
                judge.expect(&BLOCK_KIND, fits, at, block.raw);
            }
            _ => {
                let open = self.open.take();
                let right = open.as_ref().is_some_and(|(open, ..)| Some(*open) == index);
                judge.expect(&BLOCK_STOP, right, at, block.raw);
                let Some((_, kind, input, name)) = open else {
                    return;
                };
                if kind == "tool_use" {
                    // Clients read a call without deltas as an object without members.
                    let object = input.is_empty() || is_object(&input);
                    judge.expect(&ARGUMENTS, object, at, block.raw);
                    let Some(asked) = &stream.asked else { return };
                    let known = offers(asked, "/name", &name);
                    judge.expect(&NOT_OFFERED, known, at, block.raw);
                }
            }
        }
    }
}

/// The block types of tools that run on Anthropic's servers, which clients support too.
const KINDS: [&str; 4] = [
    "server_tool_use",
    "web_search_tool_result",
    "mcp_tool_use",
    "mcp_tool_result",
];

fn is_error(body: &Value) -> bool {
    text(body, "/type") == "error" && all_say(body, &["/error/type", "/error/message"])
}

/// Returns `true` if a message has the counts of its tokens.
fn counts(message: Option<&Value>) -> bool {
    let both = ["/usage/input_tokens", "/usage/output_tokens"];
    message.is_some_and(|message| both.iter().all(|path| holds(message, path, Value::is_u64)))
}

/// Checks a response to a request without a stream.
fn whole(judge: &mut Judge, exchange: &Exchange) {
    let body = exchange.json();
    let right = exchange.is("application/json")
        && text(&body, "/type") == "message"
        && text(&body, "/role") == "assistant"
        && all_say(&body, &["/id"])
        && holds(&body, "/model", Value::is_string)
        && elements(&body, "/content").len() > 0
        && REASONS.contains(&text(&body, "/stop_reason"))
        && counts(Some(&body));
    judge.expect_answer(&WHOLE, right, exchange);
}
