//! Meilisearch chat clients.

use serde_json::{Value, json};

use crate::chat_stream::chunk::{self, Chunks, deltas, is_error};
use crate::chat_stream::{complete, lines};
use crate::testing::check::{
    Block, Exam, Exchange, HAZARDS, Judge, Recorded, Stream, recorded_files, rules,
};

rules! {
    REQUEST = Error "meilisearch/request",
        "a request that Meilisearch answers is answered",
        "the clients throw an error with the status",
        "read leniently: unknown members, `null`, and the history as clients keep it";
    UNDECLARED = Error "meilisearch/undeclared",
        "only notifications that the request declared are sent",
        "the client did not ask: OpenAI libraries take them for calls that it must answer",
        "look for the notification's name in the request's `tools`";
    FOREIGN_CALL = Error "meilisearch/foreign-call",
        "nothing but notifications is sent as a call",
        "Meilisearch knows no calls for the client: no client answers them",
        "run the tool in the agent";
    NOTIFICATION = Error "meilisearch/notification",
        "a notification is one whole call: `index`, `id`, `type`, and `arguments` that are the JSON of its kind",
        "clients read every entry that has a name as finished, and drop what they cannot read",
        "send it in one chunk, with `call_id`, and `function_arguments`, `sources` or `role`";
    ORDER = Error "meilisearch/order",
        "a search is told of in order: progress, then sources, of one `call_id`",
        "clients show sources without a search, or a search that never ends",
        "send the progress before the search, and the sources when it is over";
    ORPHAN = Error "meilisearch/orphan-call",
        "every call that is to be kept gets its result, directly after it",
        "the client sends both with its next request, and the model's provider refuses a call without a result",
        "send the message of the tool after that of the assistant";
    ERROR = Error "meilisearch/error",
        "a failure in the stream has `type`, `event_id`, and `error` with `type` and `message`",
        "clients show `error.message`, and go on reading by `error.type`",
        "send `{\"event_id\":…,\"type\":\"error\",\"error\":{\"type\":…,\"code\":…,\"message\":…}}`";
    REFUSAL = Warning "meilisearch/refusal",
        "a refusal has `message`, `code`, `type` and `link`",
        "the libraries of Meilisearch make their error of these",
        "send all four as JSON";
}

/// What all notifications are called.
const PREFIX: &str = "_meili";

pub(super) async fn check(exam: &mut Exam<'_>) {
    let path = exam.path().unwrap_or("/chats/default/chat/completions");
    let requests = requests(exam.model());
    // And one that is a list.
    exam.plan(requests.len() + 1);
    for recorded in &requests {
        let Some(exchange) = exam.ask_agent(path, recorded).await else {
            continue;
        };
        if let Some(stream) = exam.answered(recorded, &exchange) {
            judge(exam.judge(), &stream);
        }
    }
    let Some(Recorded { body: sample, .. }) = requests.first() else {
        return;
    };
    let name = "a request that is a list";
    if let Some(answer) = exam.ask(name, exam.post(path, "[]")).await {
        let body = answer.json();
        let all = ["message", "code", "type", "link"];
        let whole = all
            .iter()
            .all(|name| body.get(name).is_some_and(Value::is_string));
        let refused = answer.head.status.is_client_error();
        exam.judge()
            .expect(&REFUSAL, whole || !refused, name, answer.evidence());
    }
    exam.rest(path, sample).await;
}

/// The requests that are sent. The first one is the simplest there is.
fn requests(model: Option<&str>) -> Vec<Recorded> {
    let rule = Some(&REQUEST);
    let mut all = Vec::from(recorded_files! {
        rule, "meilisearch": "request_minimal" "request_all_tools" "request_follow_up"
            "request_follow_up_with_nulls"
    });
    let hazards = json!({
        "model": "gpt-4o-mini", "stream": true, "messages": [{"role": "user", "content": HAZARDS}],
    });
    let name = "text that breaks lines";
    all.push(Recorded::new(rule, name, hazards.to_string()));
    // The server answers 501: it runs no tools of others.
    all.extend(recorded_files! { None, "meilisearch": "request_user_tool" });
    match model {
        Some(model) => all.into_iter().map(|each| each.model(model)).collect(),
        None => all,
    }
}

/// Judges a stream.
pub(super) fn judge(judge: &mut Judge, stream: &Stream<'_>) {
    lines::judge(judge, stream);
    let exchange = stream.exchange;
    let chunks = chunk::judge(judge, stream);
    complete::judge(judge, stream, &chunks);
    let at = &*exchange.name;
    for (chunk, block) in chunks.chunks.iter().filter(|(chunk, _)| is_error(chunk)) {
        let is_text = |path: &str| chunk.pointer(path).is_some_and(Value::is_string);
        let whole = ["/event_id", "/type", "/error/type", "/error/message"];
        let whole = whole.into_iter().all(is_text);
        judge.expect(&ERROR, whole, at, block.raw);
    }
    notifications(judge, exchange, &chunks, stream.asked.as_ref());
}

fn notifications(
    judge: &mut Judge,
    exchange: &Exchange,
    chunks: &Chunks<'_>,
    asked: Option<&Value>,
) {
    let at = &*exchange.name;
    let mut searches = Searches::default();
    for (delta, block) in deltas(chunks) {
        let calls = delta.get("tool_calls").and_then(Value::as_array);
        for call in calls.into_iter().flatten() {
            let name = text(call, "/function/name");
            let ours = name.starts_with(PREFIX);
            judge.expect(&FOREIGN_CALL, ours, at, block.raw);
            if !ours {
                continue;
            }
            if let Some(asked) = asked {
                judge.expect(&UNDECLARED, declares(asked, name), at, block.raw);
            }
            let arguments = whole(call);
            judge.expect(&NOTIFICATION, arguments.is_some(), at, block.raw);
            if let Some(arguments) = arguments {
                searches.take(judge, at, name, &arguments, block, asked);
            }
        }
    }
    if exchange.is_complete() {
        let shown = searches.open.join(", ");
        let answered = searches.open.is_empty();
        if searches.kept {
            judge.expect(&ORPHAN, answered, at, shown);
        }
    }
}

fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    value
        .pointer(path)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn declares(asked: &Value, name: &str) -> bool {
    let tools = asked.get("tools").and_then(Value::as_array);
    tools
        .into_iter()
        .flatten()
        .any(|tool| text(tool, "/function/name") == name)
}

/// The arguments of a notification that is whole and of its kind.
fn whole(call: &Value) -> Option<Value> {
    let framed = call.get("index").is_some_and(Value::is_u64)
        && text(call, "/type") == "function"
        && !text(call, "/id").is_empty();
    let arguments: Value = serde_json::from_str(text(call, "/function/arguments")).ok()?;
    // Both spellings are read: the server's, and the one of its documentation.
    let either = |names: [&str; 2]| names.into_iter().find_map(|name| arguments.get(name));
    let right = match text(call, "/function/name") {
        "_meiliSearchProgress" => {
            let inner = either(["function_arguments", "function_parameters"]);
            let named = !text(&arguments, "/function_name").is_empty();
            has_id(&arguments) && named && inner.is_some_and(Value::is_string)
        }
        "_meiliSearchSources" => {
            let documents = either(["sources", "documents"]);
            has_id(&arguments) && documents.is_some_and(Value::is_array)
        }
        "_meiliAppendConversationMessage" => !text(&arguments, "/role").is_empty(),
        _ => arguments.is_object(),
    };
    (framed && right).then_some(arguments)
}

fn has_id(arguments: &Value) -> bool {
    !text(arguments, "/call_id").is_empty()
}

/// The searches of one answer, as far as they were told of.
#[derive(Default)]
struct Searches {
    /// Those that began.
    begun: Vec<String>,
    /// The calls to be kept that wait for their result.
    open: Vec<String>,
    /// Whether there was any.
    kept: bool,
}

impl Searches {
    fn take(
        &mut self,
        judge: &mut Judge,
        at: &str,
        name: &str,
        arguments: &Value,
        block: &Block<'_>,
        asked: Option<&Value>,
    ) {
        let id = text(arguments, "/call_id");
        match name {
            "_meiliSearchProgress" => self.begun.push(id.to_owned()),
            "_meiliSearchSources" => {
                // Without progress there is nothing to be in order with.
                let told = match asked {
                    Some(asked) => declares(asked, "_meiliSearchProgress"),
                    None => !self.begun.is_empty(),
                };
                if told {
                    let begun = self.begun.iter().any(|begun| begun == id);
                    judge.expect(&ORDER, begun, at, block.raw);
                }
            }
            _ if text(arguments, "/role") == "tool" => {
                let id = text(arguments, "/tool_call_id");
                let asked = self.open.iter().any(|open| open == id);
                judge.expect(&ORPHAN, asked, at, block.raw);
                self.open.retain(|open| open != id);
            }
            _ => {
                let calls = arguments.get("tool_calls").and_then(Value::as_array);
                let ids = calls
                    .into_iter()
                    .flatten()
                    .map(|call| text(call, "/id").to_owned());
                self.open.extend(ids);
                self.kept |= !self.open.is_empty();
            }
        }
    }
}
