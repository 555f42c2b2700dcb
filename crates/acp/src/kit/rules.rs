//! Rules for agents in editors.

use std::collections::HashMap;

use agent_client_protocol::v1::schema::SessionUpdate;
use copilot_wire::protocol::FrameEvent as _;
use copilot_wire_kit::check::members::{elements, holds, text};
use copilot_wire_kit::check::{Exam, Judge, rules};
use copilot_wire_kit::post;
use serde_json::{Value, json};

use super::program::END;
use crate::Event;

rules! {
    MESSAGE = Error "acp/message",
        "each line of standard output is one message of JSON-RPC 2.0",
        "editors drop the line, or end the agent",
        "print logs to standard error";
    UPDATE = Error "acp/update",
        "each `session/update` has a form of the schema",
        "editors drop the update",
        "send the members that the schema requires";
    TOOL = Error "acp/tool",
        "a `tool_call_update` is about a `tool_call` before it",
        "editors drop the update, or end the turn",
        "send `tool_call` first";
    OPEN_TOOL = Warning "acp/open-tool",
        "when a prompt is answered, none of its tool calls is pending or in progress",
        "editors show a spinner for ever",
        "send a last `tool_call_update`, also after a failure and when the turn is cancelled";
    PERMISSION = Error "acp/permission",
        "`session/request_permission` has options, with ids that differ",
        "the user cannot answer",
        "offer `allow_once` and `reject_once`";
    INITIALIZE = Error "acp/initialize",
        "`initialize` of version 1 is answered with version 1 and the agent's capabilities",
        "editors disconnect",
        "answer with `protocolVersion` 1, as a number";
    VERSION = Error "acp/version",
        "`initialize` of an unknown version is answered with a version that the agent has",
        "a newer editor cannot fall back",
        "answer with the latest version, and not with an error";
    METHOD = Error "acp/method",
        "an unknown request is answered with -32601",
        "editors take another error for a failure, and wait without one",
        "answer every request";
    NOTIFICATION = Error "acp/notification",
        "an unknown notification is not answered",
        "editors take the answer for that of a request",
        "answer requests only, which have an id";
    JSON = Warning "acp/json",
        "a line that is not JSON is answered with -32700, and the agent goes on",
        "one broken message ends all sessions",
        "answer with the id null";
    PATH = Warning "acp/path",
        "`session/new` with a relative folder is refused",
        "the agent works in another folder than the user thinks",
        "answer with -32602";
    SESSION = Error "acp/session",
        "`session/new` is answered with the id of a session",
        "editors cannot send a prompt",
        "answer with `sessionId`";
    UNKNOWN = Error "acp/unknown-session",
        "a prompt in an unknown session is refused",
        "the user's words go to a conversation that does not exist",
        "answer with an error";
    STOP = Error "acp/stop",
        "a prompt is answered with a reason of the schema, or with an error that has a message",
        "editors show a failure, or nothing",
        "answer with `stopReason` when the turn ends";
    CANCEL = Error "acp/cancel",
        "after `session/cancel` the prompt is answered with `cancelled`, and not with an error",
        "editors show an error that the user has caused",
        "catch the errors of what was cancelled";
    LOAD = Error "acp/load",
        "an agent with `loadSession` replays the user's messages before it answers `session/load`",
        "the editor shows an empty conversation",
        "send each message as `user_message_chunk` and `agent_message_chunk`";
    END_OF_INPUT = Error "acp/end",
        "the program ends when its standard input is closed",
        "programs of closed windows go on for ever",
        "end at the end of the input";
}

fn request(id: i64, method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

fn notification(method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
}

/// The answer to messages: all messages of the agent, and the response to the last request.
struct Said {
    messages: Vec<Value>,
    response: Value,
    bytes: Vec<u8>,
}

impl Said {
    fn code(&self) -> i64 {
        let code = self.response.pointer("/error/code");
        code.and_then(Value::as_i64).unwrap_or_default()
    }
}

/// Sends messages, and judges what comes until the last one is answered.
async fn say(exam: &mut Exam<'_>, name: &str, messages: &[String]) -> Option<Said> {
    let exchange = exam.ask(name, post("/", messages.join("\n"))).await?;
    let lines = || exchange.body.split_inclusive(|byte| *byte == b'\n');
    judge(exam.judge(), name, lines());
    let messages: Vec<Value> = lines()
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    let response = messages.last().filter(|it| it.get("method").is_none());
    Some(Said {
        response: response.cloned().unwrap_or_default(),
        messages,
        bytes: exchange.last().to_vec(),
    })
}

pub(super) async fn check(exam: &mut Exam<'_>) {
    exam.plan(12);
    let forms = json!({"elicitation": {"form": {}}});
    let hello = |version: i64| json!({"protocolVersion": version, "clientCapabilities": forms});
    let name = "initialize with version 99";
    if let Some(said) = say(exam, name, &[request(1, "initialize", hello(99))]).await {
        let holds = holds(&said.response, "/result/protocolVersion", Value::is_u64);
        exam.judge().expect(&VERSION, holds, name, &said.bytes);
    }
    let name = "initialize";
    let mut can_load = false;
    if let Some(said) = say(exam, name, &[request(2, name, hello(1))]).await {
        let result = said.response.get("result").cloned().unwrap_or_default();
        let holds = result.get("protocolVersion") == Some(&json!(1));
        can_load = result.pointer("/agentCapabilities/loadSession") == Some(&json!(true));
        exam.judge().expect(&INITIALIZE, holds, name, &said.bytes);
    }
    let name = "an unknown method";
    let unknown = [request(3, "there/is/none", json!({}))];
    if let Some(said) = say(exam, name, &unknown).await {
        exam.judge()
            .expect(&METHOD, said.code() == -32601, name, &said.bytes);
    }
    let name = "an unknown notification";
    let unknown = [
        notification("_check/unknown", json!({})),
        request(4, "_check/unknown", json!({})),
    ];
    if let Some(said) = say(exam, name, &unknown).await {
        let responses = said.messages.iter().filter(|it| it.get("method").is_none());
        let holds = responses.count() == 1;
        exam.judge().expect(&NOTIFICATION, holds, name, &said.bytes);
    }
    let name = "a line that is not JSON";
    // Its answer has the id null.
    if let Some(said) = say(exam, name, &["{\"jsonrpc\":".to_owned()]).await {
        exam.judge()
            .expect(&JSON, said.code() == -32700, name, &said.bytes);
    }
    let name = "a relative folder";
    let relative = json!({"cwd": "folder", "mcpServers": []});
    if let Some(said) = say(exam, name, &[request(5, "session/new", relative)]).await {
        exam.judge()
            .expect(&PATH, said.code() != 0, name, &said.bytes);
    }
    let prompt = |id, session: &Value| {
        let words = json!([{"type": "text", "text": "Hello"}]);
        request(
            id,
            "session/prompt",
            json!({"sessionId": session, "prompt": words}),
        )
    };
    let name = "a prompt in an unknown session";
    let unknown = [prompt(6, &json!("there-is-none"))];
    if let Some(said) = say(exam, name, &unknown).await {
        exam.judge()
            .expect(&UNKNOWN, said.code() != 0, name, &said.bytes);
    }
    let folders = json!({"cwd": "/", "mcpServers": []});
    if let Some(session) = begin(exam, 7, &folders).await {
        turns(exam, &session, prompt).await;
        if can_load {
            let mut folders = folders;
            if let Some(params) = folders.as_object_mut() {
                params.insert("sessionId".to_owned(), session);
            }
            let name = "session/load";
            if let Some(said) = say(exam, name, &[request(10, name, folders)]).await {
                let kinds = said.messages.iter();
                let mut kinds = kinds.map(|it| text(it, "/params/update/sessionUpdate"));
                let holds = kinds.any(|kind| kind == "user_message_chunk") && said.code() == 0;
                exam.judge().expect(&LOAD, holds, name, &said.bytes);
            }
        }
    }
    let name = "the end of the input";
    if let Some(exchange) = exam.ask(name, post(END, "")).await {
        let holds = exchange.is_complete();
        exam.judge()
            .expect(&END_OF_INPUT, holds, name, exchange.last());
    }
}

/// Creates a session, and returns its id.
async fn begin(exam: &mut Exam<'_>, id: i64, folders: &Value) -> Option<Value> {
    let name = "session/new";
    let said = say(exam, name, &[request(id, name, folders.clone())]).await?;
    let session = said.response.pointer("/result/sessionId");
    let session = session.filter(|id| id.as_str().is_some_and(|id| !id.is_empty()));
    exam.judge()
        .expect(&SESSION, session.is_some(), name, &said.bytes);
    session.cloned()
}

async fn turns(exam: &mut Exam<'_>, session: &Value, prompt: impl Fn(i64, &Value) -> String) {
    const REASONS: [&str; 5] = [
        "end_turn",
        "max_tokens",
        "max_turn_requests",
        "refusal",
        "cancelled",
    ];
    let cancel = || notification("session/cancel", json!({"sessionId": session}));
    for (name, messages) in [
        ("session/prompt", vec![prompt(8, session)]),
        ("session/cancel", vec![prompt(9, session), cancel()]),
    ] {
        let Some(said) = say(exam, name, &messages).await else {
            continue;
        };
        let reason = text(&said.response, "/result/stopReason");
        let is_error = !text(&said.response, "/error/message").is_empty();
        let judge = exam.judge();
        judge.expect(
            &STOP,
            REASONS.contains(&reason) || is_error,
            name,
            &said.bytes,
        );
        let open = open_calls(&said.messages);
        judge.expect(&OPEN_TOOL, open == 0, name, &said.bytes);
        if messages.len() > 1 {
            // A turn may end before it can be cancelled.
            judge.expect(&CANCEL, said.code() == 0, name, &said.bytes);
        }
    }
}

/// Returns the number of tool calls that have not ended.
fn open_calls(messages: &[Value]) -> usize {
    let mut calls = HashMap::new();
    for update in messages
        .iter()
        .filter_map(|it| it.pointer("/params/update"))
    {
        if text(update, "/sessionUpdate").starts_with("tool_call") {
            let status = text(update, "/status");
            let is_new = text(update, "/sessionUpdate") == "tool_call";
            if is_new || !status.is_empty() {
                let is_open = ["", "pending", "in_progress"].contains(&status);
                calls.insert(text(update, "/toolCallId"), is_open);
            }
        }
    }
    calls.into_values().filter(|is_open| *is_open).count()
}

/// Judges messages of an agent, each with its line end.
pub(super) fn judge<'a>(judge: &mut Judge, at: &str, lines: impl Iterator<Item = &'a [u8]>) {
    let mut calls = std::collections::HashSet::new();
    for line in lines {
        let raw: Value = serde_json::from_slice(line).unwrap_or_default();
        let read = std::str::from_utf8(line).ok();
        let read = read.and_then(|line| Event::read(line).ok().flatten());
        let is_message = text(&raw, "/jsonrpc") == "2.0";
        judge.expect(&MESSAGE, is_message && read.is_some(), at, line);
        let Some(event) = read else { continue };
        match event {
            Event::Update(update) => {
                judge.expect(&UPDATE, true, at, line);
                match update.update {
                    SessionUpdate::ToolCall(call) => drop(calls.insert(call.tool_call_id)),
                    SessionUpdate::ToolCallUpdate(change) => {
                        judge.expect(&TOOL, calls.contains(&change.tool_call_id), at, line);
                    }
                    _ => {}
                }
            }
            Event::Question(..) if text(&raw, "/method") == "session/request_permission" => {
                // A permission may be the first that is said of its call.
                if let Some(id) = raw.pointer("/params/toolCall/toolCallId") {
                    calls.extend(serde_json::from_value(id.clone()));
                }
                let ids = || elements(&raw, "/params/options").map(|it| text(it, "/optionId"));
                let distinct: std::collections::HashSet<_> = ids().collect();
                let holds = ids().count() > 0 && distinct.len() == ids().count();
                judge.expect(&PERMISSION, holds, at, line);
            }
            Event::Other(_) if text(&raw, "/method") == "session/update" => {
                judge.expect(&UPDATE, false, at, line);
            }
            _ => {}
        }
    }
}
