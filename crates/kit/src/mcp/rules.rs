//! Rules for servers of tools, from the measured behaviour of clients.

use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::front_end::McpClient;
use crate::FrontEnd;
use crate::check::members::{all_say, elements, holds, text};
use crate::check::{Exam, Exchange, Judge, Stream, Trial, rules};
use copilot_wire::mcp::STATELESS;

rules! {
    REQUEST = Error "mcp/request",
        "a call that a real client sends is answered",
        "the client shows its model an error in place of the answer",
        "accept unknown members of `_meta`, and ids that are texts or numbers";
    FRAME = Error "mcp/frame",
        "each event is one JSON-RPC message, or has no data",
        "clients drop what they cannot read, and wait for the result",
        "send one message per event, and no batches";
    RESULT = Error "mcp/result",
        "an answer has the result of its call, with the id of the call",
        "most clients wait for minutes: Claude Code 334 s, the official clients their whole limit",
        "write a result before the stream ends, also after a panic and at a shutdown";
    AFTER_RESULT = Warning "mcp/after-result",
        "nothing follows the result",
        "clients answer at the result, and drop the rest",
        "end the stream with it";
    RESULT_TYPE = Error "mcp/result-type",
        "a result of version 2026-07-28 has a `resultType`",
        "the official clients and the AI SDK drop the result without it",
        "send `\"resultType\":\"complete\"`";
    CONTENT = Error "mcp/content",
        "the parts of a result have types that clients know",
        "all clients but the AI SDK lose the whole answer",
        "send text, and images or links as extras";
    TEXT = Warning "mcp/text",
        "a result has its answer in one text",
        "Copilot's command line drops images and links, and the AI SDK drops what is not text",
        "put everything that the reader needs into one text";
    STRUCTURED = Warning "mcp/structured",
        "a result with text has no `structuredContent`",
        "Claude Code and Codex show their model the JSON alone",
        "leave it out, or repeat the whole answer in it";
    NULL = Error "mcp/null",
        "an absent member is left out, and not `null`",
        "the official client for TypeScript and Claude Code lose the answer",
        "leave members without a value out";
    PROGRESS = Error "mcp/progress",
        "progress has the token of the call, and rises",
        "clients drop it, and give up after their limit",
        "send progress with the token, and count up; without a token send comments";
    STATE = Error "mcp/state",
        "a question has a `requestState`",
        "the server cannot know what was answered when the call is repeated",
        "send a signed state with `input_required`";
    SIZE = Warning "mcp/size",
        "a text is not longer than 40,000 bytes",
        "Claude Code and Copilot put it into a file, and Codex cuts the middle out",
        "put the important first, and leave out what nobody needs";
    LIST = Error "mcp/list",
        "`tools/list` lists tools with a name, a description and a schema that is an object",
        "clients do not offer the tool to their model",
        "answer `{\"tools\":[{\"name\":…,\"description\":…,\"inputSchema\":{\"type\":\"object\"}}]}`";
    OUTPUT_SCHEMA = Error "mcp/output-schema",
        "the result of a tool with an `outputSchema` has `structuredContent`, unless it is an error",
        "both official clients throw a good text away",
        "leave the schema out";
    INITIALIZE = Error "mcp/initialize",
        "`initialize` of 2025-06-18 is answered",
        "Codex and all older clients cannot use the server",
        "serve the versions with sessions too";
    DISCOVER = Warning "mcp/discover",
        "`server/discover` lists the versions",
        "newer clients fall back to `initialize`, at the cost of requests",
        "answer with `supportedVersions`";
    NOTIFICATION = Error "mcp/notification",
        "a notification is answered with 202",
        "clients fail at the end of `initialize`",
        "answer 202 without a body";
    VERSION = Error "mcp/version",
        "an unknown version is answered with 400 and -32022",
        "a newer client cannot fall back",
        "list the versions in `data.supported`";
    HEADER = Error "mcp/header",
        "a header that differs from the body is answered with 400 and -32020",
        "what lies in between decides by headers that are not true",
        "compare `mcp-protocol-version`, `mcp-method` and `mcp-name` with the body";
    METHOD = Error "mcp/method",
        "an unknown method is answered with -32601",
        "clients take another error for a broken server",
        "answer 404 in version 2026-07-28, and 200 in others";
}

pub(super) async fn check(exam: &mut Exam<'_>) {
    let path = exam.path().unwrap_or(McpClient::PATH);
    exam.plan(9);
    let is_stateless = discover(exam, path).await;
    let tool = documents(exam, path).await;
    let session = call(&tool.name, json!(11), "");
    let trial = Trial::new(Some(&REQUEST), "a call in a session", session.to_string());
    if let Some(exchange) = exam.ask_agent(path, &trial).await {
        judge_call(exam, &trial, &exchange, &tool);
    }
    // A server without this version says so to `server/discover`, and clients use another version.
    if is_stateless {
        let name = "a call of version 2026-07-28";
        let body = call(&tool.name, json!("twelve"), STATELESS);
        let trial = Trial::new(Some(&REQUEST), name, body.to_string());
        if let Some(exchange) = exam.ask(name, headed(exam, path, &body, STATELESS)).await {
            judge_call(exam, &trial, &exchange, &tool);
        }
        errors(exam, path, &tool.name).await;
    }
    exam.rest(path, &recorded_body(&session)).await;
}

/// A tool of the endpoint.
struct Tool {
    name: String,
    has_output_schema: bool,
}

/// Judges the answer to a call, which is a stream or a document.
fn judge_call(exam: &mut Exam<'_>, trial: &Trial, exchange: &Exchange, tool: &Tool) {
    let asked = trial.json();
    let result = if exchange.is("application/json") {
        let judge = exam.judge();
        judge.expect_answer(&REQUEST, exchange.is_ok(), exchange);
        let message = [(&*exchange.body, exchange.json())];
        judge_messages(judge, exchange, Some(&asked), message)
    } else {
        let Some(stream) = exam.answered(trial, exchange) else {
            return;
        };
        judge_messages(exam.judge(), exchange, Some(&asked), messages(&stream))
    };
    if let Some(result) = result.filter(|_| tool.has_output_schema) {
        let is_error = result.get("isError") == Some(&Value::Bool(true));
        let right = is_error || result.get("structuredContent").is_some();
        exam.judge().expect_answer(&OUTPUT_SCHEMA, right, exchange);
    }
}

fn recorded_body(body: &Value) -> Bytes {
    body.to_string().into()
}

/// Creates a JSON-RPC request, with metadata unless `version` is empty.
fn message(id: Value, method: &str, mut params: Value, version: &str) -> Value {
    if !version.is_empty() {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": {"name": "check", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
            "progressToken": 1,
            "check/unknown": {"a": null},
        });
        if let Some(params) = params.as_object_mut() {
            params.insert("_meta".to_owned(), meta);
        }
    }
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn call(tool: &str, id: Value, version: &str) -> Value {
    let params = json!({
        "name": tool,
        "arguments": {"question": "hi"},
        "_meta": {"progressToken": "p1", "check/unknown": 1},
    });
    message(id, "tools/call", params, version)
}

/// Creates the HTTP request with which a client of this version sends a message.
fn headed(exam: &Exam<'_>, path: &str, body: &Value, version: &str) -> http::Request<Bytes> {
    let mut request = exam.post(path, recorded_body(body));
    let headers = request.headers_mut();
    if version != SESSION {
        headers.remove(SESSION_ID);
    }
    let mut set = |name, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    };
    set("mcp-protocol-version", version);
    if version != SESSION {
        set("mcp-method", text(body, "/method"));
        if text(body, "/method") == "tools/call" {
            set("mcp-name", text(body, "/params/name"));
        }
    }
    request
}

/// The protocol version that Codex uses.
const SESSION: &str = "2025-06-18";

/// The header with the id of a session, which servers with sessions send for `initialize`.
const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// Requests the supported versions. Returns `true` if version 2026-07-28 is among them.
async fn discover(exam: &mut Exam<'_>, path: &str) -> bool {
    let discover = message(json!(4), "server/discover", json!({}), STATELESS);
    let request = headed(exam, path, &discover, STATELESS);
    let Some(answer) = exam.ask("server/discover", request).await else {
        return false;
    };
    let versions = said(&answer);
    let mut versions = elements(&versions, "/result/supportedVersions");
    let is_stateless = versions.any(|version| version == STATELESS);
    exam.judge().expect_answer(&DISCOVER, is_stateless, &answer);
    is_stateless
}

/// Begins a session and requests its documents. Returns the first tool.
async fn documents(exam: &mut Exam<'_>, path: &str) -> Tool {
    let params = json!({
        "protocolVersion": SESSION,
        "capabilities": {},
        "clientInfo": {"name": "check", "version": "1"},
    });
    let initialize = message(json!(1), "initialize", params, "");
    let begun = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let list = message(json!(3), "tools/list", json!({}), "");
    let request = exam.post(path, recorded_body(&initialize));
    if let Some(answer) = exam.ask("initialize", request).await {
        let right = text(&said(&answer), "/result/protocolVersion") == SESSION;
        exam.judge().expect_answer(&INITIALIZE, right, &answer);
        if let Some(session) = answer.head.headers.get(SESSION_ID) {
            exam.add_header(SESSION_ID, session.clone());
        }
    }
    let request = headed(exam, path, &begun, SESSION);
    if let Some(answer) = exam.ask("notifications/initialized", request).await {
        let right = answer.head.status.as_u16() == 202;
        exam.judge().expect_answer(&NOTIFICATION, right, &answer);
    }
    let mut tool = Tool {
        name: "ask".to_owned(),
        has_output_schema: false,
    };
    let request = headed(exam, path, &list, SESSION);
    if let Some(answer) = exam.ask("tools/list", request).await {
        let body = said(&answer);
        let tools = || elements(&body, "/result/tools");
        let is_tool = |tool: &Value| {
            all_say(tool, &["/name", "/description"]) && text(tool, "/inputSchema/type") == "object"
        };
        let right = tools().next().is_some() && tools().all(is_tool);
        exam.judge().expect_answer(&LIST, right, &answer);
        if let Some(first) = tools().next().filter(|tool| all_say(tool, &["/name"])) {
            tool.name = text(first, "/name").to_owned();
            tool.has_output_schema = first.get("outputSchema").is_some();
        }
    }
    tool
}

/// Returns the last message of an answer, which is a document or a stream.
fn said(answer: &Exchange) -> Value {
    if !answer.is("text/event-stream") {
        return answer.json();
    }
    let body = String::from_utf8_lossy(&answer.body);
    let mut data = body.lines().filter_map(|line| line.strip_prefix("data: "));
    let message = data
        .next_back()
        .and_then(|data| serde_json::from_str(data).ok());
    message.unwrap_or_default()
}

/// Sends messages that must be refused.
async fn errors(exam: &mut Exam<'_>, path: &str, tool: &str) {
    let future = "2099-01-01";
    let unknown = call(tool, json!(21), future);
    let request = headed(exam, path, &unknown, future);
    if let Some(answer) = exam.ask("a version of the future", request).await {
        let right = is_error(&answer, 400, -32022);
        exam.judge().expect_answer(&VERSION, right, &answer);
    }
    let named = call(tool, json!(22), STATELESS);
    let mut request = headed(exam, path, &named, STATELESS);
    let other = HeaderValue::from_static("tools/list");
    request.headers_mut().insert("mcp-method", other);
    if let Some(answer) = exam.ask("a header that differs", request).await {
        let right = is_error(&answer, 400, -32020);
        exam.judge().expect_answer(&HEADER, right, &answer);
    }
    let method = message(json!(23), "there/is/none", json!({}), STATELESS);
    let request = headed(exam, path, &method, STATELESS);
    if let Some(answer) = exam.ask("an unknown method", request).await {
        let right = is_error(&answer, 404, -32601);
        exam.judge().expect_answer(&METHOD, right, &answer);
    }
}

fn is_error(answer: &Exchange, status: u16, code: i64) -> bool {
    let body = answer.json();
    answer.head.status.as_u16() == status
        && body.pointer("/error/code").and_then(Value::as_i64) == Some(code)
        && holds(&body, "/id", Value::is_number)
}

/// Checks a stream.
pub(super) fn judge(judge: &mut Judge, stream: &Stream<'_>) {
    let asked = stream.asked.as_ref();
    judge_messages(judge, stream.exchange, asked, messages(stream));
}

/// Returns the messages of a stream, each with its bytes.
fn messages<'a>(stream: &'a Stream<'_>) -> impl Iterator<Item = (&'a [u8], Value)> {
    stream.blocks.iter().filter_map(|block| {
        let data = block.event.as_ref()?.data();
        let message = || serde_json::from_str(data).unwrap_or_default();
        (!data.is_empty()).then(|| (block.raw, message()))
    })
}

/// Checks the messages of an answer. Returns its result, `None` if there is none.
fn judge_messages<'a>(
    judge: &mut Judge,
    exchange: &Exchange,
    asked: Option<&Value>,
    messages: impl IntoIterator<Item = (&'a [u8], Value)>,
) -> Option<Value> {
    let at = &*exchange.name;
    let member = |path| asked.and_then(|asked: &Value| asked.pointer(path));
    let is_new = member("/params/_meta/io.modelcontextprotocol~1protocolVersion").is_some();
    let mut progress = None;
    let mut is_over = false;
    let mut found = None;
    for (raw, message) in messages {
        let is_message = text(&message, "/jsonrpc") == "2.0";
        judge.expect(&FRAME, is_message, at, raw);
        judge.expect(&NULL, !has_null(&message), at, raw);
        if is_over {
            judge.expect(&AFTER_RESULT, false, at, raw);
        }
        if text(&message, "/method") == "notifications/progress" {
            let number = message.pointer("/params/progress").and_then(Value::as_f64);
            let rises = number.is_some() && number > progress;
            progress = number.or(progress);
            let token = member("/params/_meta/progressToken");
            let is_token = asked.is_none() || message.pointer("/params/progressToken") == token;
            judge.expect(&PROGRESS, rises && is_token, at, raw);
        }
        let Some(result) = message.get("result") else {
            is_over |= message.get("error").is_some();
            continue;
        };
        is_over = true;
        let is_own = member("/id").is_none_or(|id| message.get("id") == Some(id));
        judge.expect(&RESULT, is_own, at, raw);
        let kind = text(result, "/resultType");
        judge.expect(&RESULT_TYPE, !is_new || !kind.is_empty(), at, raw);
        if kind == "input_required" {
            judge.expect(&STATE, all_say(result, &["/requestState"]), at, raw);
            continue;
        }
        judge_content(judge, at, raw, result);
        found = Some(result.clone());
    }
    // A truncated stream need not have a result.
    if exchange.is_complete() {
        judge.expect(&RESULT, is_over, at, "the answer has no result");
    }
    found
}

fn judge_content(judge: &mut Judge, at: &str, raw: &[u8], result: &Value) {
    const KNOWN: [&str; 5] = ["text", "image", "audio", "resource_link", "resource"];
    let parts = || elements(result, "/content");
    let texts = || parts().filter(|part| text(part, "/type") == "text");
    let is_known = parts().all(|part| KNOWN.contains(&text(part, "/type")));
    judge.expect(&CONTENT, is_known, at, raw);
    judge.expect(&TEXT, texts().count() == 1, at, raw);
    let structured = result.get("structuredContent").is_some();
    judge.expect(&STRUCTURED, !structured, at, raw);
    let is_short = texts().all(|part| text(part, "/text").len() <= 40_000);
    judge.expect(&SIZE, is_short, at, raw);
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(values) => values.iter().any(has_null),
        Value::Object(members) => members.values().any(has_null),
        _ => false,
    }
}
