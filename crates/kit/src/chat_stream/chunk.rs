//! Rules for chat completion chunks that apply to all clients.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::check::{Judge, Lines, Stream, rules};

rules! {
    JSON = Error "chunk/json",
        "the data of a chunk is a JSON object, or `[DONE]`",
        "the OpenAI clients and `gh models` throw; VS Code ignores it",
        "write one JSON object per event; use comments for keep-alive";
    CHOICES = Error "chunk/choices",
        "`choices` is a list",
        "the helpers of both OpenAI clients throw on `null`",
        "send the choices; send `[]` only with the usage";
    EMPTY_CHOICES = Error "chunk/empty-choices",
        "`choices` is empty only in the chunk with the usage",
        "VS Code reports that there was no response; the Meilisearch server ends the stream",
        "do not relay chunks without content, such as Azure's first one";
    DELTA = Error "chunk/delta",
        "every choice has an `index` and a `delta`",
        "the helpers of both OpenAI clients throw",
        "send `\"delta\":{}` if there is nothing to add";
    EMPTY_TOOL_CALLS = Error "chunk/empty-tool-calls",
        "`tool_calls` is never an empty list",
        "VS Code until August 2026 and others drop the text of such a chunk",
        "omit the member";
    FINISH_EMPTY = Error "chunk/finish-empty",
        "`finish_reason` is never an empty text",
        "clients treat it as the end of the answer",
        "send `null` until the last chunk of the choice";
    FINISH_VALUE = Error "chunk/finish-value",
        "`finish_reason` is a value that clients know",
        "typed clients refuse the chunk, or repeat the turn",
        "send `stop`, `length`, `tool_calls`, `content_filter` or `function_call`";
    FINISH_REASON = Error "chunk/finish-reason",
        "every choice ends with a `finish_reason`",
        "the helper of the OpenAI client for Node throws `missing finish_reason`; agents repeat the turn, or wait forever",
        "send `\"delta\":{}` with `\"finish_reason\":\"stop\"` before `[DONE]`";
    AFTER_FINISH = Error "chunk/after-finish",
        "a choice has no output after its `finish_reason`",
        "text after it is lost, and a second one creates two answers",
        "send the finish reason once, at the end";
    DONE = Error "chunk/done",
        "a stream ends with `[DONE]`",
        "`gh models` reports an incomplete stream; Meilisearch clients treat the answer as truncated",
        "send `data: [DONE]` and a blank line";
    AFTER_DONE = Error "chunk/after-done",
        "nothing follows `[DONE]`",
        "clients have stopped reading; github.com attributed such answers to Copilot",
        "drop the `[DONE]` of a relayed stream, and write one";
}

/// The chunks of a stream as JSON, for later rules.
pub(crate) struct Chunks<'a> {
    pub(crate) chunks: Vec<(Value, &'a Lines<'a>)>,
    /// `true` if a chunk is an error.
    pub(crate) failed: bool,
}

/// Checks the unnamed events of a stream.
pub(crate) fn judge<'a>(judge: &mut Judge, stream: &'a Stream<'a>) -> Chunks<'a> {
    let exchange = stream.exchange;
    let at = &*exchange.name;
    let mut read = Chunks {
        chunks: Vec::new(),
        failed: false,
    };
    let mut finished = BTreeMap::new();
    let mut done = false;
    for block in &stream.blocks {
        let Some(event) = &block.event else { continue };
        judge.expect(&AFTER_DONE, !done, at, block.raw);
        // One finding is enough: every later event also follows the end.
        if done {
            break;
        }
        // Protocols with named events of their own, such as references, use chunks without a name.
        if event.name() != "message" {
            continue;
        }
        if event.data().trim() == "[DONE]" {
            done = true;
            continue;
        }
        let chunk = block.json();
        // Several lines of data are checked by another rule.
        let whole = block.field("data").count() == 1;
        judge.expect(&JSON, chunk.is_object() || !whole, at, block.raw);
        if !chunk.is_object() {
            continue;
        }
        if is_error(&chunk) {
            read.failed = true;
        } else {
            choices(judge, at, &chunk, block, &mut finished);
        }
        read.chunks.push((chunk, block));
    }
    if exchange.is_complete() && !read.failed {
        // The finding is about the stream as a whole, so it has no line.
        let end = exchange.last().to_vec();
        let complete = !finished.is_empty() && finished.values().all(|finished| *finished);
        judge.expect(&FINISH_REASON, complete, at, &end);
        judge.expect(&DONE, done, at, end);
    }
    read
}

/// Returns `true` if a chunk is an error: to OpenAI clients, any event with a truthy `error` is
/// one.
pub(crate) fn is_error(chunk: &Value) -> bool {
    !matches!(
        chunk.get("error"),
        None | Some(Value::Null | Value::Bool(false))
    )
}

/// Checks the choices of a chunk. `finished` maps the index of every choice that started to `true` if it has ended.
fn choices(
    judge: &mut Judge,
    at: &str,
    chunk: &Value,
    block: &Lines<'_>,
    finished: &mut BTreeMap<u64, bool>,
) {
    let choices = chunk.get("choices").and_then(Value::as_array);
    judge.expect(&CHOICES, choices.is_some(), at, block.raw);
    let Some(choices) = choices else { return };
    let usage = chunk.get("usage").is_some_and(Value::is_object);
    judge.expect(&EMPTY_CHOICES, usage || !choices.is_empty(), at, block.raw);
    for choice in choices {
        let index = choice.get("index").and_then(Value::as_u64);
        let delta = choice.get("delta").filter(|delta| delta.is_object());
        judge.expect(&DELTA, index.is_some() && delta.is_some(), at, block.raw);
        let (Some(index), Some(delta)) = (index, delta) else {
            continue;
        };
        if let Some(calls) = delta.get("tool_calls") {
            let empty = calls.as_array().is_some_and(Vec::is_empty);
            judge.expect(&EMPTY_TOOL_CALLS, !empty, at, block.raw);
        }
        let reason = choice.get("finish_reason");
        let reason = reason.filter(|reason| !reason.is_null());
        // Recorded with its first chunk, so that a choice that never ends is found at the end of
        // the stream.
        let was_finished = finished.entry(index).or_default();
        let says = |member: &str| match delta.get(member) {
            Some(Value::String(text)) => !text.is_empty(),
            // An empty list is reported by its own rule, so here it is no output.
            Some(Value::Array(calls)) => !calls.is_empty(),
            _ => false,
        };
        let more = reason.is_some() || ["content", "refusal", "tool_calls"].into_iter().any(says);
        judge.expect(&AFTER_FINISH, !(*was_finished && more), at, block.raw);
        let Some(reason) = reason else { continue };
        // A value that is not a string is neither empty nor known to clients.
        let reason = reason.as_str().unwrap_or("?");
        judge.expect(&FINISH_EMPTY, !reason.is_empty(), at, block.raw);
        if reason.is_empty() {
            continue;
        }
        let known = [
            "stop",
            "length",
            "tool_calls",
            "content_filter",
            "function_call",
        ];
        judge.expect(&FINISH_VALUE, known.contains(&reason), at, block.raw);
        *was_finished = true;
    }
}
