//! Rules for pages on the AI SDK, from version 5.0.0 on.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{HeaderName, Method, StatusCode};
use serde_json::Value;

use super::chat_page::ChatPage;
use crate::FrontEnd;
use crate::check::members::{elements, text};
use crate::check::{Exam, Judge, Lines, Stream, Trial, recorded_files, rules};
use copilot_wire::protocol::FrameEvent as _;
use copilot_wire::ui_stream::Event;

rules! {
    REQUEST = Error "ui/request",
        "a request that pages send is answered",
        "the page shows the body as an error",
        "read leniently: parts of any type, tools in every state, members of the page's own";
    ODD = Warning "ui/odd-request",
        "a request is answered, whatever stands beside the text of its last message",
        "a page with parts, roles or members of its own, or of a later version, shows the refusal as an error",
        "skip what is not known";
    HEADER = Warning "ui/header",
        "a stream has the header `x-vercel-ai-ui-message-stream: v1`",
        "pages do not look at it; proxies and other readers do",
        "send it with every stream";
    JSON = Error "ui/json",
        "the data of an event is a JSON object with a `type`, or `[DONE]`",
        "the page fails the reply",
        "write one JSON object an event; use comments for keep-alive";
    TYPE = Error "ui/type",
        "every chunk has a type that pages know",
        "the page fails the reply",
        "put what is your own into `data-NAME`";
    NEWER = Warning "ui/newer",
        "every chunk has a type that version 5.0.0 knows",
        "pages on that version fail the reply",
        "let the server be told which version its pages are on";
    MEMBERS = Error "ui/members",
        "a chunk has the members that its type demands",
        "the page fails the reply",
        "send all of them, texts as strings";
    EXTRA = Warning "ui/extra",
        "a chunk has no member that its type does not name",
        "versions before 5.0.93 fail the reply",
        "put what is your own into `data-NAME`";
    START = Error "ui/start",
        "a reply begins with `start`, once",
        "parts before it go to a message with another id; a second one changes the id",
        "write `start` first";
    MESSAGE_ID = Error "ui/message-id",
        "a reply to an assistant's message continues it: under its id, or under none",
        "the page shows all of its parts twice",
        "send the id of the last message in `start` if the assistant wrote it, or leave it out";
    STEP = Error "ui/step",
        "`start-step` comes before anything else of a reply",
        "after the result of a tool the page posts again and again: its test looks at the last step",
        "write `start-step` behind `start`";
    TOOL_STEP = Error "ui/tool-step",
        "the last step of a reply that has any part does not hold finished tools alone",
        "the page posts again and again: its test looks at that step; version 5.0.0 after an error too",
        "write `finish-step`, `start-step` and a part behind the output of a tool, be it an empty text";
    OPEN = Error "ui/open-block",
        "a piece of text or reasoning names a block that is open",
        "the page fails the reply",
        "write `text-start` before the first piece, and no piece behind `text-end`";
    CLOSED = Warning "ui/closed-block",
        "every block that begins ends",
        "the page shows the text as unfinished, and does not send results of tools by itself",
        "write `text-end` before `finish-step`";
    TOOL = Error "ui/tool",
        "output and approval of a tool belong to a call, and a piece of input to one whose input is not complete",
        "the page fails the reply",
        "write `tool-input-available` before an output, and pieces of input between `tool-input-start` and it";
    FINISH = Error "ui/finish",
        "a reply ends with `finish`, or with `error`",
        "a stream that is only cut looks finished: half an answer passes for a whole one",
        "write `error` when something fails, and `finish` when all is said";
    FINISH_STEP = Warning "ui/finish-step",
        "every step ends before `finish`",
        "the page takes the step for running",
        "write `finish-step` before `finish`";
    AFTER_FINISH = Error "ui/after-finish",
        "nothing but `[DONE]` follows `finish` or `error`",
        "a page that has seen an error reads no further",
        "send `finish` or `error` last";
    DONE = Warning "ui/done",
        "a stream ends with `[DONE]`, once",
        "pages do not wait for it; readers that do take the stream for cut off",
        "send `data: [DONE]` and a blank line";
    REFUSAL = Warning "ui/refusal",
        "a refusal is one sentence in plain text",
        "the page shows the body as it is: JSON, or a whole HTML page",
        "answer with `text/plain`";
    RESUME = Warning "ui/resume",
        "`GET {api}/{chat}/stream` is answered with 204 or a stream",
        "a page that has `resume` set shows an error when it is opened",
        "answer 204 where nothing is kept";
}

/// The types of chunks that were added after version 5.0.0.
const LATER: [&str; 8] = [
    "custom",
    "reasoning-file",
    "reset-step",
    "steering-message",
    "tool-approval-request",
    "tool-approval-response",
    "tool-input-error",
    "tool-output-denied",
];

/// The types of chunks that only the first versions have. A page ignores them.
const EARLIER: [&str; 2] = ["reasoning", "reasoning-part-finish"];

/// The path at which pages request a reply that is still running, relative to the endpoint.
const CHAT: &str = "chat-1/stream";

pub(super) async fn check(exam: &mut Exam<'_>) {
    let path = exam.path().unwrap_or(ChatPage::PATH);
    let requests = recorded_files!(
        Some(&REQUEST), "ui-stream":
        "req-text-5.0.0" "req-text-7" "req-files-7" "req-regenerate-7"
        "req-tool-output-5.0.0" "req-tool-output-7" "req-tool-failure-6"
        "req-approval-yes-6" "req-approval-no-7"
    );
    let odd = recorded_files!(Some(&ODD), "ui-stream": "req-odd");
    exam.plan(requests.len() + 3);
    let versioned = |judge: &mut Judge, stream: &Stream<'_>| {
        let header = HeaderName::from_static("x-vercel-ai-ui-message-stream");
        let shown = stream.exchange.header(header).unwrap_or_default();
        judge.expect(&HEADER, shown == b"v1", &stream.exchange.name, shown);
        self::judge(judge, stream);
    };
    exam.replay(path, &requests, versioned, None).await;
    exam.replay(path, &odd, versioned, None).await;
    exam.refusal(path, &REFUSAL, |answer| {
        answer.is("text/plain") && !answer.body.is_empty()
    })
    .await;
    let name = "a page that would resume a reply";
    // The path that `useChat` requests when it starts with `resume`.
    let path_of_chat = format!("{}/{CHAT}", path.trim_end_matches('/'));
    let request = exam.request(Method::GET, &path_of_chat, Bytes::new());
    if let Some(answer) = exam.ask(name, request).await {
        let right = answer.head.status == StatusCode::NO_CONTENT || answer.is_ok();
        exam.judge().expect_answer(&RESUME, right, &answer);
    }
    if let Some(Trial { body, .. }) = requests.first() {
        exam.rest(path, body).await;
    }
}

/// The state of a stream.
#[derive(Default)]
struct Seen<'a> {
    /// `true` if the request shows that the page has version 6 or later.
    newer: bool,
    started: bool,
    /// `true` while a step is open.
    step: bool,
    /// `true` if the last step has no parts: pages register a step with its first part.
    hidden: bool,
    /// The tools of the last step, each with `true` if it is finished.
    tools: BTreeMap<String, bool>,
    /// The known calls, each with `true` while pieces of its input may follow.
    calls: BTreeMap<String, bool>,
    /// The open blocks, each with the event that began it.
    open: Vec<(String, &'a [u8])>,
    over: bool,
    finished: bool,
    done: bool,
}

/// Judges a stream.
pub(super) fn judge(judge: &mut Judge, stream: &Stream<'_>) {
    let at = &*stream.exchange.name;
    let asked = stream.asked.as_ref();
    let last = asked.and_then(|asked| asked.pointer("/messages")?.as_array()?.last());
    let last = last.filter(|message| text(message, "/role") == "assistant");
    let mut seen = Seen::default();
    let parts = elements(last.unwrap_or(&Value::Null), "/parts");
    // Only pages from version 6 on send such parts.
    seen.newer = parts.clone().any(|part| part.get("approval").is_some());
    for part in parts.clone() {
        if text(part, "/type") == "step-start" {
            // The SDK checks only the parts after the last `step-start`.
            seen.tools.clear();
        }
        let state = text(part, "/state");
        let finished = state.starts_with("output-") || state == "approval-responded";
        let call = part.get("toolCallId").and_then(Value::as_str);
        seen.tools
            .extend(call.map(|call| (call.to_owned(), finished)));
    }
    seen.calls = parts
        .filter_map(|part| Some((part.get("toolCallId")?.as_str()?.to_owned(), false)))
        .collect();
    for block in &stream.blocks {
        let Some(event) = &block.event else { continue };
        if event.data().trim() == "[DONE]" {
            judge.expect(&DONE, !seen.done, at, block.raw);
            seen.done = true;
            continue;
        }
        judge.expect(&AFTER_FINISH, !seen.over && !seen.done, at, block.raw);
        if seen.over || seen.done {
            continue;
        }
        let chunk = block.json();
        let kind = chunk.get("type").and_then(Value::as_str);
        judge.expect(&JSON, kind.is_some(), at, block.raw);
        let Some(kind) = kind else { continue };
        judge.expect(&NEWER, seen.newer || !LATER.contains(&kind), at, block.raw);
        if shape(judge, at, kind, &chunk, block) {
            order(judge, at, kind, &chunk, block, last, &mut seen);
        }
    }
    if !stream.exchange.is_complete() {
        return;
    }
    // The finding is about the stream as a whole.
    let end = stream.exchange.last().to_vec();
    judge.expect(&FINISH, seen.over, at, &end);
    // A truncated stream breaks one rule, not two.
    judge.expect(&DONE, seen.done || !seen.over, at, &end);
    for (_, raw) in &seen.open {
        judge.expect(&CLOSED, !seen.finished, at, raw);
    }
    if seen.finished {
        judge.expect(&FINISH_STEP, !seen.step, at, &end);
    }
    // Under this condition, pages on 5.0.0 post again by themselves, without end.
    let loops = !seen.tools.is_empty() && seen.tools.values().all(|finished| *finished);
    judge.expect(&TOOL_STEP, !loops || !seen.over, at, end);
}

/// Judges one chunk. Returns `true` if version 5.0.0 or later defines its type and it is complete.
fn shape(judge: &mut Judge, at: &str, kind: &str, chunk: &Value, block: &Lines<'_>) -> bool {
    let later = LATER.contains(&kind);
    let Some((required, named)) = Event::members(kind) else {
        judge.expect(&TYPE, later || EARLIER.contains(&kind), at, block.raw);
        return false;
    };
    // Records the rule as checked.
    judge.expect(&TYPE, true, at, "");
    // The schema accepts any JSON in these members, and strings in all other required ones.
    let any = |name: &str| matches!(name, "input" | "output" | "data" | "messageMetadata");
    let whole = required.iter().all(|name| {
        let value = chunk.get(*name);
        value.is_some_and(|value| any(name) || value.is_string())
    });
    judge.expect(&MEMBERS, whole, at, block.raw);
    let metadata = ["text-", "reasoning-", "source-", "file"]
        .iter()
        .any(|block| kind.starts_with(block))
        || kind == "tool-input-available";
    let mut keys = chunk.as_object().into_iter().flat_map(|chunk| chunk.keys());
    let extra = keys.any(|key| {
        let known = named.contains(&key.as_str());
        !known && (!metadata || key != "providerMetadata")
    });
    // Chunks of later versions have their own rule: the schema of 5.0.0 does not list their members.
    judge.expect(&EXTRA, !extra || later, at, block.raw);
    whole
}

/// Judges the order of a chunk after the earlier ones.
fn order<'a>(
    judge: &mut Judge,
    at: &str,
    kind: &str,
    chunk: &Value,
    block: &Lines<'a>,
    last: Option<&Value>,
    seen: &mut Seen<'a>,
) {
    // The first chunk must be `start`, and no other chunk may be.
    judge.expect(&START, (kind == "start") != seen.started, at, block.raw);
    let id = text(chunk, "/id");
    let call = text(chunk, "/toolCallId");
    // These concern an earlier step, or are no part of the answer.
    let outside = matches!(
        kind,
        "start" | "start-step" | "error" | "abort" | "finish" | "message-metadata"
    ) || kind.starts_with("tool-output")
        || chunk.get("transient") == Some(&Value::Bool(true));
    judge.expect(&STEP, seen.step || outside, at, block.raw);
    if seen.hidden && (!outside || kind.starts_with("tool-output") || kind == "message-metadata") {
        seen.hidden = false;
        seen.tools.clear();
    }
    match kind {
        "start" => {
            seen.started = true;
            if let Some(last) = last {
                let id = chunk.get("messageId");
                let same = id.is_none() || id == last.get("id");
                judge.expect(&MESSAGE_ID, same, at, block.raw);
            }
        }
        "start-step" => {
            seen.step = true;
            seen.hidden = true;
        }
        "finish-step" => seen.step = false,
        "text-start" | "reasoning-start" => seen.open.push((format!("{kind} {id}"), block.raw)),
        "text-delta" | "reasoning-delta" | "text-end" | "reasoning-end" => {
            let start = kind.replace("delta", "start").replace("end", "start");
            let start = format!("{start} {id}");
            let open = seen.open.iter().any(|(open, _)| *open == start);
            judge.expect(&OPEN, open, at, block.raw);
            if kind.ends_with("-end") {
                seen.open.retain(|(open, _)| *open != start);
            }
        }
        "tool-input-start" | "tool-input-available" | "tool-input-error" => {
            let is_open = kind == "tool-input-start";
            seen.calls.insert(call.to_owned(), is_open);
            seen.tools.insert(call.to_owned(), false);
        }
        "tool-input-delta"
        | "tool-output-available"
        | "tool-output-error"
        | "tool-output-denied"
        | "tool-approval-request" => {
            let is_open = seen.calls.get(call).copied();
            let fits = is_open.is_some_and(|is_open| is_open || kind != "tool-input-delta");
            judge.expect(&TOOL, fits, at, block.raw);
            if let Some(finished) = seen.tools.get_mut(call) {
                *finished = kind.starts_with("tool-output");
            }
        }
        "finish" | "error" | "abort" => {
            seen.over = true;
            seen.finished = kind == "finish";
        }
        _ => {}
    }
}
