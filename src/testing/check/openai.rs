//! OpenAI clients: the official ones, VS Code, `gh models`, and what takes a base URL.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{Method, StatusCode};
use serde_json::Value;

use super::blocks::Block;
use super::chunk::{Chunks, deltas, is_error};
use super::endpoint::Endpoint;
use super::exchange::{Asker, End, Exchange};
use super::judge::Judge;
use super::requests::{self, Recorded};
use super::rule::rules;
use super::{chunk, complete, http as head, lines, sse};

rules! {
    REQUEST = Error "openai/request",
        "a request that the official clients send is answered",
        "the clients throw an error with the status",
        "read leniently: unknown members, `null`, content in parts, and every role";
    MODELS = Warning "openai/models",
        "`GET /v1/models` lists the models",
        "VS Code, chat applications and the clients' `models.list()` find nothing to choose from",
        "answer `{\"object\":\"list\",\"data\":[{\"id\":…,\"object\":\"model\"}]}`";
    WHOLE = Error "openai/whole",
        "without `stream` the answer is one `chat.completion`",
        "the official clients read the body as JSON when they did not ask for a stream, which is their default",
        "collect the answer: `id`, `object`, `created`, `model`, and choices with `message` and `finish_reason`";
    CONSTANT = Error "openai/constant",
        "`id`, `created` and `model` are the same in all chunks",
        "clients take a new id for a new answer",
        "make them once per answer, also where a model's stream is passed on";
    ROLE = Error "openai/role",
        "the role is in the first chunk of a choice only",
        "the helper of the OpenAI client for Python joins them: `assistantassistant`",
        "send the role once";
    USAGE = Error "openai/usage",
        "the usage is sent only when it was asked for",
        "who did not ask does not expect a chunk without choices: `choices[0]` fails",
        "look at `stream_options.include_usage`";
    TOOL_CALL = Error "openai/tool-call",
        "the first fragment of a call has `id`, `type` and `function.name`, later ones neither",
        "VS Code opens a new call for every id; the helpers join what comes twice",
        "send them once, then `index` and `function.arguments`";
    ONE_CALL = Error "openai/one-call-at-a-time",
        "a call is complete before the next one begins",
        "VS Code appends a fragment without id to the last call, whatever its index",
        "hold the second call back until the first is complete";
    ARGUMENTS = Error "openai/arguments",
        "the arguments of a call are one JSON object",
        "the client cannot run the tool",
        "check what the model wrote before the call is complete, or say so in text";
    NOT_OFFERED = Error "openai/tool-not-offered",
        "only tools that the request offered are called",
        "the client cannot run the tool, and the turn is lost",
        "answer in text when the request has no `tools`";
    ERROR = Error "openai/error",
        "a failure in the stream is `{\"error\":{\"message\":…}}`",
        "both official clients show `error.message`, and nothing without it",
        "send an object with `message`, `type`, `param` and `code`";
    AFTER_ERROR = Error "openai/after-error",
        "nothing follows a failure",
        "the official clients have thrown; others take a later `stop` for success",
        "end the body after the error";
    REFUSAL = Warning "openai/refusal",
        "a refusal is `{\"error\":{\"message\":…}}`",
        "both official clients show `error.message`, and the bare status without it",
        "send an object with `message`, `type`, `param` and `code`";
}

pub(super) async fn check<E: Endpoint + ?Sized>(asker: &Asker<'_, E>, judge: &mut Judge) {
    let target = asker.target();
    let path = target.path.as_deref().unwrap_or("/v1/chat/completions");
    // The list of models, the recorded requests, and one that is a list.
    asker.plan(requests::OPENAI + 1 + head::REQUESTS);
    let listed = models(asker, judge, path).await;
    let model = target
        .model
        .clone()
        .or(listed)
        .unwrap_or_else(|| "default".to_owned());
    let requests = requests::openai(&model);
    for Recorded { name, body, .. } in &requests {
        let request = asker.post(path, body.clone());
        let Some(exchange) = head::ask_agent(asker, judge, name, request).await else {
            continue;
        };
        let answered = exchange.head.status == StatusCode::OK;
        judge.expect(&REQUEST, answered, name, exchange.evidence());
        let asked: Value = serde_json::from_slice(body).unwrap_or_default();
        if !answered {
            continue;
        }
        if asked.get("stream") == Some(&Value::Bool(true)) {
            let blocks = sse::read(judge, &exchange);
            head::stream(judge, &exchange, &blocks);
            stream(judge, &exchange, &blocks, Some(&asked));
        } else {
            whole(judge, &exchange);
        }
    }
    let Some(Recorded { body: sample, .. }) = requests.first() else {
        return;
    };
    let name = "a request that is a list";
    if let Some(answer) = head::ask(asker, judge, name, asker.post(path, "[]")).await {
        let message =
            serde_json::from_slice(&answer.body).is_ok_and(|body: Value| has_message(&body));
        let refused = answer.head.status.is_client_error();
        judge.expect(&REFUSAL, message || !refused, name, answer.evidence());
    }
    head::rest(asker, judge, path, sample).await;
}

/// The first model of the list.
async fn models<E: Endpoint + ?Sized>(
    asker: &Asker<'_, E>,
    judge: &mut Judge,
    path: &str,
) -> Option<String> {
    let base = path.strip_suffix("/chat/completions")?;
    asker.plan(1);
    let request = asker.request(Method::GET, &format!("{base}/models"), Bytes::new());
    let name = "the list of models";
    let answer = head::ask(asker, judge, name, request).await?;
    let document: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let first = document.pointer("/data/0/id").and_then(Value::as_str);
    judge.expect(&MODELS, first.is_some(), name, answer.evidence());
    first.map(str::to_owned)
}

/// Judges a stream. `asked` is the request, where it is known.
pub(super) fn stream(
    judge: &mut Judge,
    exchange: &Exchange,
    blocks: &[Block<'_>],
    asked: Option<&Value>,
) {
    lines::judge(judge, exchange, blocks);
    let chunks = chunk::judge(judge, exchange, blocks);
    complete::judge(judge, exchange, blocks, &chunks);
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
            judge.expect(&AFTER_ERROR, true, at, "");
            judge.expect(&ERROR, has_message(chunk), at, block.raw);
        }
    }
}

fn has_message(body: &Value) -> bool {
    let message = body.pointer("/error/message").and_then(Value::as_str);
    message.is_some_and(|message| !message.is_empty())
}

fn constant(judge: &mut Judge, exchange: &Exchange, chunks: &Chunks<'_>) {
    let mut first: Option<[Option<&Value>; 3]> = None;
    for (chunk, block) in chunks.chunks.iter().filter(|(chunk, _)| !is_error(chunk)) {
        let head = ["id", "created", "model"].map(|name| chunk.get(name));
        let same = *first.get_or_insert(head) == head;
        // What is missing altogether is another fault.
        let there = head.iter().all(Option::is_some);
        judge.expect(&CONSTANT, same || !there, &exchange.name, block.raw);
    }
}

fn roles(judge: &mut Judge, exchange: &Exchange, chunks: &Chunks<'_>) {
    let mut begun = Vec::new();
    for (chunk, block) in &chunks.chunks {
        let choices = chunk.get("choices").and_then(Value::as_array);
        for choice in choices.into_iter().flatten() {
            let Some(index) = choice.get("index") else {
                continue;
            };
            let first = !begun.contains(&index);
            begun.push(index);
            let role = choice.pointer("/delta/role").is_some_and(Value::is_string);
            judge.expect(&ROLE, first || !role, &exchange.name, block.raw);
        }
    }
}

fn usage(judge: &mut Judge, exchange: &Exchange, chunks: &Chunks<'_>, asked: Option<&Value>) {
    let Some(asked) = asked else { return };
    let at = &*exchange.name;
    let wanted = asked.pointer("/stream_options/include_usage") == Some(&Value::Bool(true));
    let sent = chunks
        .chunks
        .iter()
        .find(|(chunk, _)| chunk.get("usage").is_some_and(Value::is_object));
    if let Some((_, block)) = sent {
        judge.expect(&USAGE, wanted, at, block.raw);
    }
}

/// A call as its fragments make it.
#[derive(Default)]
struct Call {
    name: String,
    arguments: String,
}

fn calls(judge: &mut Judge, exchange: &Exchange, chunks: &Chunks<'_>, asked: Option<&Value>) {
    let at = &*exchange.name;
    let mut calls: BTreeMap<u64, Call> = BTreeMap::new();
    for (delta, block) in deltas(chunks) {
        let fragments = delta.get("tool_calls").and_then(Value::as_array);
        for fragment in fragments.into_iter().flatten() {
            let text = |path: &str| fragment.pointer(path).and_then(Value::as_str);
            let index = fragment.get("index").and_then(Value::as_u64);
            let begun = index.is_some_and(|index| calls.contains_key(&index));
            let names = ["/id", "/type", "/function/name"].map(|path| text(path).is_some());
            let right = index.is_some() && names.iter().all(|there| *there != begun);
            judge.expect(&TOOL_CALL, right, at, block.raw);
            let Some(index) = index else { continue };
            let latest = calls
                .keys()
                .next_back()
                .is_none_or(|latest| *latest <= index);
            judge.expect(&ONE_CALL, latest, at, block.raw);
            let call = calls.entry(index).or_default();
            call.name
                .push_str(text("/function/name").unwrap_or_default());
            call.arguments
                .push_str(text("/function/arguments").unwrap_or_default());
        }
    }
    if !matches!(exchange.end, End::Clean) || chunks.failed {
        return;
    }
    for call in calls.values() {
        // A call without arguments may end as an empty text.
        let object = call.arguments.is_empty()
            || serde_json::from_str(&call.arguments).is_ok_and(|value: Value| value.is_object());
        judge.expect(&ARGUMENTS, object, at, &call.arguments);
        let Some(asked) = asked else { continue };
        let offered = asked.get("tools").and_then(Value::as_array);
        let known = offered
            .into_iter()
            .flatten()
            .any(|tool| tool.pointer("/function/name") == Some(&Value::from(&*call.name)));
        judge.expect(&NOT_OFFERED, known, at, &call.name);
    }
}

/// Judges an answer to a request that asked for no stream.
fn whole(judge: &mut Judge, exchange: &Exchange) {
    let body: Value = serde_json::from_slice(&exchange.body).unwrap_or_default();
    let text = |path: &str| {
        body.pointer(path)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let right = exchange.is("application/json")
        && text("/object") == "chat.completion"
        && !text("/id").is_empty()
        && body.get("created").is_some_and(Value::is_u64)
        && body.get("model").is_some_and(Value::is_string)
        && text("/choices/0/message/role") == "assistant"
        && !text("/choices/0/finish_reason").is_empty();
    judge.expect(&WHOLE, right, &exchange.name, exchange.evidence());
}
