//! Rules for OpenAI clients: the official ones, VS Code, `gh models`, and programs with a
//! configurable base URL.

use std::collections::BTreeMap;

use serde_json::Value;

use super::front_end::OpenAiClient;
use crate::chat_stream::chunk::{self, Chunks, is_error};
use crate::chat_stream::{complete, lines};
use crate::check::members::{all_say, elements, holds, is_object, offers, text};
use crate::check::{Exam, Exchange, Judge, Stream, Trial, rules};
use crate::models::{ARGUMENTS, NOT_OFFERED};
use crate::{FrontEnd, Toolkit};
use copilot_wire::openai::OpenAi;

rules! {
    REQUEST = Error "openai/request",
        "a request that the official clients send is answered",
        "the clients throw an error with the status",
        "accept unknown members, `null`, content in parts, and every role";
    MODELS = Warning "openai/models",
        "`GET /v1/models` lists the models",
        "VS Code, chat applications and the clients' `models.list()` have nothing to select",
        "answer `{\"object\":\"list\",\"data\":[{\"id\":…,\"object\":\"model\"}]}`";
    WHOLE = Error "openai/whole",
        "without `stream` the answer is one `chat.completion`",
        "the official clients read the body as JSON unless they request a stream, which is not the default",
        "collect the answer: `id`, `object`, `created`, `model`, and choices with `message` and `finish_reason`";
    CONSTANT = Error "openai/constant",
        "`id`, `created` and `model` are the same in all chunks",
        "clients treat a new id as a new answer",
        "create them once per answer, also for a relayed stream";
    ROLE = Error "openai/role",
        "only the first chunk of a choice has the role",
        "the helper of the OpenAI client for Python joins them: `assistantassistant`",
        "send the role once";
    USAGE = Error "openai/usage",
        "the usage is sent only if requested",
        "other clients do not expect a chunk without choices: `choices[0]` fails",
        "check `stream_options.include_usage`";
    TOOL_CALL = Error "openai/tool-call",
        "the first fragment of a call has `id`, `type` and `function.name`, later ones neither",
        "VS Code starts a new call for every id; the helpers join repeated values",
        "send them once, then `index` and `function.arguments`";
    ONE_CALL = Error "openai/one-call-at-a-time",
        "a call is complete before the next one starts",
        "VS Code appends a fragment without id to the last call, whatever its index",
        "buffer the second call until the first is complete";
    ERROR = Error "openai/error",
        "a failure in the stream is `{\"error\":{\"message\":…}}`",
        "both official clients display `error.message`, and nothing without it",
        "send an object with `message`, `type`, `param` and `code`";
    ERROR_TYPE = Warning "openai/error-type",
        "a failure in the stream that has a code has another type than `server_error`",
        "opencode and Continue repeat the turn without end after this type, whatever the code",
        "send the type `invalid_request_error` and the code `invalid_prompt`, or no code if the turn may be repeated";
    AFTER_ERROR = Error "openai/after-error",
        "nothing follows a failure",
        "the official clients have thrown; others treat a later `stop` as success",
        "end the body after the error";
    REFUSAL = Warning "openai/refusal",
        "a refusal is `{\"error\":{\"message\":…}}`",
        "both official clients display `error.message`, and only the status without it",
        "send an object with `message`, `type`, `param` and `code`";
}

pub(super) async fn check(exam: &mut Exam<'_>) {
    let path = exam.path().unwrap_or(OpenAiClient::PATH);
    let requests = include_str!("../../fixtures/openai/requests.json");
    let requests = Trial::list(&REQUEST, requests);
    // One more request: a list instead of an object.
    exam.plan(requests.len() + 1);
    let list = OpenAi::models(path);
    let requests = exam.with_model(requests, list, Some(&MODELS)).await;
    exam.replay(path, &requests, judge, Some(whole)).await;
    let Some(Trial { body: sample, .. }) = requests.first() else {
        return;
    };
    let has_message = |answer: &Exchange| all_say(&answer.json(), MESSAGE);
    exam.refusal(path, &REFUSAL, has_message).await;
    exam.rest(path, sample).await;
}

/// Checks a stream.
pub(super) fn judge(judge: &mut Judge, stream: &Stream<'_>) {
    lines::judge(judge, stream);
    let exchange = stream.exchange;
    let asked = stream.asked.as_ref();
    let chunks = chunk::judge(judge, stream);
    complete::judge(judge, stream, &chunks);
    constant(judge, exchange, &chunks);
    roles(judge, exchange, &chunks);
    usage(judge, exchange, &chunks, asked);
    calls(judge, exchange, &chunks, asked);
    let at = &*exchange.name;
    let mut failed = false;
    for (chunk, block) in &chunks.chunks {
        if failed {
            judge.expect(&AFTER_ERROR, false, at, block.raw);
        }
        if is_error(chunk) {
            failed = true;
            // Records the rule as checked, also if nothing follows.
            judge.expect(&AFTER_ERROR, true, at, "");
            judge.expect(&ERROR, all_say(chunk, MESSAGE), at, block.raw);
            let repeats = text(chunk, "/error/type") == "server_error";
            let is_final = holds(chunk, "/error/code", Value::is_string);
            judge.expect(&ERROR_TYPE, !(repeats && is_final), at, block.raw);
        }
    }
}

/// The pointer to the message of an error.
const MESSAGE: &[&str] = &["/error/message"];

fn constant(judge: &mut Judge, exchange: &Exchange, chunks: &Chunks<'_>) {
    let mut first: Option<[Option<&Value>; 3]> = None;
    for (chunk, block) in chunks.chunks.iter().filter(|(chunk, _)| !is_error(chunk)) {
        let head = ["id", "created", "model"].map(|name| chunk.get(name));
        let same = *first.get_or_insert(head) == head;
        // Absent members are reported by another rule.
        let there = head.iter().all(Option::is_some);
        judge.expect(&CONSTANT, same || !there, &exchange.name, block.raw);
    }
}

fn roles(judge: &mut Judge, exchange: &Exchange, chunks: &Chunks<'_>) {
    let mut begun = Vec::new();
    for (chunk, block) in &chunks.chunks {
        for choice in elements(chunk, "/choices") {
            let Some(index) = choice.get("index") else {
                continue;
            };
            let first = !begun.contains(&index);
            begun.push(index);
            let role = holds(choice, "/delta/role", Value::is_string);
            judge.expect(&ROLE, first || !role, &exchange.name, block.raw);
        }
    }
}

fn usage(judge: &mut Judge, exchange: &Exchange, chunks: &Chunks<'_>, asked: Option<&Value>) {
    let Some(asked) = asked else { return };
    let at = &*exchange.name;
    let wanted = asked.pointer("/stream_options/include_usage") == Some(&Value::Bool(true));
    let mut chunks = chunks.chunks.iter();
    let sent = chunks.find(|(chunk, _)| holds(chunk, "/usage", Value::is_object));
    if let Some((_, block)) = sent {
        judge.expect(&USAGE, wanted, at, block.raw);
    }
}

/// A call, assembled from its fragments.
#[derive(Default)]
struct Call {
    name: String,
    arguments: String,
}

fn calls(judge: &mut Judge, exchange: &Exchange, chunks: &Chunks<'_>, asked: Option<&Value>) {
    let at = &*exchange.name;
    let mut calls: BTreeMap<u64, Call> = BTreeMap::new();
    for (delta, block) in complete::deltas(chunks) {
        for fragment in elements(delta, "/tool_calls") {
            let index = fragment.get("index").and_then(Value::as_u64);
            // The first fragment of a call has all names, later ones have none: clients append repeated values.
            let begun = index.is_some_and(|index| calls.contains_key(&index));
            let names = ["/id", "/type", "/function/name"]
                .map(|path| holds(fragment, path, Value::is_string));
            let right = index.is_some() && names.iter().all(|there| *there != begun);
            judge.expect(&TOOL_CALL, right, at, block.raw);
            let Some(index) = index else { continue };
            // Indices must not decrease: no fragment of an earlier call may follow the start of a later one.
            let latest = calls.keys().next_back();
            let latest = latest.is_none_or(|latest| *latest <= index);
            judge.expect(&ONE_CALL, latest, at, block.raw);
            let call = calls.entry(index).or_default();
            call.name += text(fragment, "/function/name");
            call.arguments += text(fragment, "/function/arguments");
        }
    }
    // A truncated stream may have incomplete arguments.
    if !exchange.is_complete() || chunks.failed {
        return;
    }
    for call in calls.values() {
        // A call without arguments may have an empty text.
        let object = call.arguments.is_empty() || is_object(&call.arguments);
        judge.expect(&ARGUMENTS, object, at, &call.arguments);
        let Some(asked) = asked else { continue };
        let known = offers(asked, "/function/name", &call.name);
        judge.expect(&NOT_OFFERED, known, at, &call.name);
    }
}

/// Checks a response to a request without a stream.
fn whole(judge: &mut Judge, exchange: &Exchange) {
    let body = exchange.json();
    let right = exchange.is("application/json")
        && text(&body, "/object") == "chat.completion"
        && all_say(&body, &["/id", "/choices/0/finish_reason"])
        && holds(&body, "/created", Value::is_u64)
        && holds(&body, "/model", Value::is_string)
        && text(&body, "/choices/0/message/role") == "assistant";
    judge.expect_answer(&WHOLE, right, exchange);
}
