//! Rules for agents behind the platform, VS Code and `gh debug-cli`.

use bytes::Bytes;
use http::Method;
use serde_json::Value;

use super::front_end::CopilotChat;
use super::signature;
use crate::FrontEnd;
use crate::chat_stream::hazards::hazards;
use crate::chat_stream::{chunk, lines};
use crate::check::members::{all_say, holds, text};
use crate::check::{Exam, Judge, Lines, Stream, Trial, recorded_files, rules};

rules! {
    REQUEST = Error "github/request",
        "a request that the platform or a client sends is answered",
        "the chat displays `internal agent error`",
        "accept `null` for lists, absent members, unknown references, and any role";
    PROBE = Warning "github/probe",
        "`GET` is answered with 200",
        "the platform treats the agent as unavailable",
        "answer `GET` on the agent's path with a short text";
    EVENT_NAME = Error "github/event-name",
        "an event has no name, or is `copilot_confirmation`, `copilot_references` or `copilot_errors`",
        "`gh debug-cli` fails on any other",
        "send it as text";
    EVENT_JSON = Error "github/event-json",
        "the data of a named event is JSON",
        "the platform and `gh debug-cli` cannot read it",
        "serialize the data";
    ONE_EVENT = Warning "github/one-event",
        "a response has one `copilot_*` event at most",
        "`gh debug-cli` fails on the second",
        "collect references, or errors, and send them at the end";
    ONE_ID = Error "github/one-id",
        "all chunks have the same `id`, or none has one",
        "github.com attributed answers with several ids to Copilot",
        "rewrite the ids of a relayed stream";
    MEMBER = Error "github/copilot-member",
        "chunks have no `copilot_*` members",
        "they are reserved for the platform; `gh debug-cli` fails on them",
        "send an event with that name";
    CONFIRMATION = Error "github/confirmation",
        "a confirmation has the type `action`, a title, a message, and an object that the client returns",
        "VS Code displays no dialog",
        "send `{\"type\":\"action\",\"title\":…,\"message\":…,\"confirmation\":{\"id\":…}}`";
    AFTER_CONFIRMATION = Error "github/after-confirmation",
        "there is one confirmation, and no text after it",
        "the dialog is displayed once, and the text is displayed before the user's answer",
        "end the turn with the confirmation";
    REFERENCES = Error "github/references",
        "references are a list, not empty, of objects with `type` and `id`",
        "`gh debug-cli` fails; others display nothing",
        "omit an empty list";
    DISPLAY_NAME = Error "github/display-name",
        "a reference has `metadata.display_name`",
        "the platform does not display a reference without it; `gh debug-cli` fails",
        "set a display name for every reference";
    DATA = Error "github/reference-data",
        "the `data` of a reference is an object",
        "VS Code reads `data.results` without a check, and discards the answer",
        "send at least `\"data\":{}`";
    URL = Warning "github/reference-url",
        "the `data` of a reference has neither `url` nor `html_url`",
        "VS Code displays that URL instead of the name",
        "put the URL into `metadata.display_url`";
    ICON = Warning "github/display-icon",
        "`metadata.display_icon` is a URI",
        "VS Code parses it as one; `icon`, as in the documentation, is displayed as a broken image",
        "omit it, or send a URI";
    ERRORS = Error "github/errors",
        "errors are a list, not empty, of objects with `type`, `code`, `message` and `identifier`",
        "VS Code displays `message`; `gh debug-cli` fails if one of the four is absent or empty",
        "send all four, and `reference`, `function` or `agent` as the type";
}

pub(super) async fn check(exam: &mut Exam<'_>) {
    let path = exam.path().unwrap_or(CopilotChat::PATH);
    let requests = requests();
    // One more request: a GET.
    exam.plan(requests.len() + 1 + signature::requests(exam));
    for (before, recorded) in requests.iter().enumerate() {
        let Some(exchange) = exam.ask_agent(path, recorded).await else {
            continue;
        };
        // The first request of the platform is refused, so all others would be: one finding is
        // enough.
        if before == 0 && !signature::lets_in(exam, &exchange) {
            return;
        }
        if let Some(stream) = exam.answered(recorded, &exchange) {
            judge(exam.judge(), &stream);
        }
    }
    let Some(Trial { body: sample, .. }) = requests.first() else {
        return;
    };
    let name = "GET";
    let request = exam.request(Method::GET, path, Bytes::new());
    if let Some(answer) = exam.ask(name, request).await {
        let ok = answer.is_ok();
        exam.judge().expect_answer(&PROBE, ok, &answer);
    }
    signature::check(exam, path, sample).await;
    exam.rest(path, sample).await;
}

/// Returns the requests of the conformance kit, the simplest first.
fn requests() -> Vec<Trial> {
    let rule = Some(&REQUEST);
    let mut all = Vec::from(recorded_files! {
        rule, "github-copilot": "req-docs-minimal" "req-web-genuine" "req-web-session-history"
            "req-vscode-editor-context" "req-exclusion-markers" "req-redacted" "req-gh-debug-cli"
            "req-confirmation-accepted" "req-confirmation-dismissed" "req-tool-messages"
            "req-nulls" "req-unknown-extras"
    });
    all.push(hazards(&REQUEST));
    all
}

/// Checks a stream.
pub(super) fn judge(judge: &mut Judge, stream: &Stream<'_>) {
    lines::judge(judge, stream);
    let chunks = chunk::judge(judge, stream);
    let at = &*stream.exchange.name;
    let blocks = &stream.blocks;
    let mut first: Option<Option<&Value>> = None;
    for (chunk, block) in &chunks.chunks {
        let id = chunk.get("id").filter(|id| !id.is_null());
        // No id at all is fine, as in the SDK's short form; a mixture is not.
        let same = *first.get_or_insert(id) == id;
        judge.expect(&ONE_ID, same, at, block.raw);
        let mut members = chunk.as_object().into_iter().flat_map(|chunk| chunk.keys());
        let clean = !members.any(|member| member.starts_with("copilot_"));
        judge.expect(&MEMBER, clean, at, block.raw);
    }
    let named = |block: &&Lines<'_>| is_named(block);
    for (before, block) in blocks.iter().filter(named).enumerate() {
        judge.expect(&ONE_EVENT, before == 0, at, block.raw);
        event(judge, at, block);
    }
    let asks = |block: &Lines<'_>| name(block) == "copilot_confirmation";
    if let Some(first) = blocks.iter().position(asks) {
        let after = blocks.iter().skip(first + 1);
        // A second question would replace the first one, and text after a question has no place in the dialog.
        let more = after.clone().find(|block| asks(block) || has_text(block));
        let raw = more.map_or(&b""[..], |block| block.raw);
        judge.expect(&AFTER_CONFIRMATION, more.is_none(), at, raw);
    }
}

fn name<'a>(block: &'a Lines<'_>) -> &'a str {
    block.event.as_ref().map_or("", |event| event.name())
}

fn is_named(block: &Lines<'_>) -> bool {
    !matches!(name(block), "" | "message")
}

/// Returns `true` if a block adds text to the answer.
fn has_text(block: &Lines<'_>) -> bool {
    all_say(&block.json(), &["/choices/0/delta/content"])
}

/// Checks a named event.
fn event(judge: &mut Judge, at: &str, block: &Lines<'_>) {
    let Some(event) = &block.event else { return };
    let kind = event.name().strip_prefix("copilot_").unwrap_or_default();
    let is_known = ["confirmation", "references", "errors"].contains(&kind);
    judge.expect(&EVENT_NAME, is_known, at, block.raw);
    if !is_known {
        return;
    }
    let data: Result<Value, _> = serde_json::from_str(event.data());
    judge.expect(&EVENT_JSON, data.is_ok(), at, block.raw);
    let Ok(data) = data else { return };
    let list = data.as_array().filter(|list| !list.is_empty());
    match kind {
        "confirmation" => {
            let right = text(&data, "/type") == "action"
                && holds(&data, "/title", Value::is_string)
                && holds(&data, "/message", Value::is_string)
                && holds(&data, "/confirmation", Value::is_object);
            judge.expect(&CONFIRMATION, right, at, block.raw);
        }
        "references" => {
            let named = |one: &Value| all_say(one, &["/type", "/id"]);
            let right = list.is_some_and(|list| list.iter().all(named));
            judge.expect(&REFERENCES, right, at, block.raw);
            for reference in list.into_iter().flatten() {
                self::reference(judge, at, reference);
            }
        }
        _ => {
            let right = list.is_some_and(|list| list.iter().all(is_whole_error));
            judge.expect(&ERRORS, right, at, block.raw);
        }
    }
}

fn reference(judge: &mut Judge, at: &str, reference: &Value) {
    let raw = reference.to_string();
    let named = all_say(reference, &["/metadata/display_name"]);
    judge.expect(&DISPLAY_NAME, named, at, &raw);
    let data = reference.get("data").and_then(Value::as_object);
    judge.expect(&DATA, data.is_some(), at, &raw);
    let bare = data.is_some_and(|data| data.contains_key("url") || data.contains_key("html_url"));
    judge.expect(&URL, !bare, at, &raw);
    if holds(reference, "/metadata/display_icon", Value::is_string) {
        let icon = text(reference, "/metadata/display_icon");
        // An empty value, mirrored from a request, is accepted.
        let uri = icon.is_empty() || icon.contains(':');
        judge.expect(&ICON, uri, at, &raw);
    }
}

fn is_whole_error(error: &Value) -> bool {
    let known = ["reference", "function", "agent"].contains(&text(error, "/type"));
    known && all_say(error, &["/code", "/message", "/identifier"])
}
