//! Rules for Meilisearch chat.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

use crate::chat_stream::chunk::{self, Chunks, is_error};
use crate::chat_stream::hazards::hazards;
use crate::chat_stream::{complete, lines};
use crate::check::members::{all_say, elements, holds, offers, text};
use crate::check::{Exam, Exchange, Judge, Lines, Stream, Trial, recorded_files, rules};

rules! {
    REQUEST = Error "meilisearch/request",
        "a request that Meilisearch answers is answered",
        "the clients throw an error with the status",
        "accept unknown members, `null`, and the history that clients send";
    UNDECLARED = Error "meilisearch/undeclared",
        "only notifications that the request declared are sent",
        "OpenAI libraries treat undeclared ones as calls that need results",
        "check the request's `tools` for the notification's name";
    FOREIGN_CALL = Error "meilisearch/foreign-call",
        "only notifications are sent as calls",
        "the protocol has no functions of the client: no client returns results",
        "run the tool in the agent";
    NOTIFICATION = Error "meilisearch/notification",
        "a notification is one complete call: `index`, `id`, `type`, and `arguments` with the JSON of its kind",
        "clients treat every entry with a name as complete, and drop invalid ones",
        "send it in one chunk, with `call_id`, and `function_arguments`, `sources` or `role`";
    ORDER = Error "meilisearch/order",
        "the notifications of a search are in order: progress, then sources, with the same `call_id`",
        "clients display sources without a search, or a search that never ends",
        "send the progress before the search, and the sources after it";
    ORPHAN = Error "meilisearch/orphan-call",
        "every appended call has its result directly after it",
        "the client sends both with its next request, and the model's provider refuses a call without a result",
        "append the message of the tool after that of the assistant";
    ERROR = Error "meilisearch/error",
        "a failure in the stream has `type`, `event_id`, and `error` with `type` and `message`",
        "clients display `error.message`, and continue depending on `error.type`",
        "send `{\"event_id\":…,\"type\":\"error\",\"error\":{\"type\":…,\"code\":…,\"message\":…}}`";
    REFUSAL = Warning "meilisearch/refusal",
        "a refusal has `message`, `code`, `type` and `link`",
        "the libraries of Meilisearch create their error from these",
        "send all four as JSON";
}

/// The prefix of the names of all notifications.
const PREFIX: &str = "_meili";

pub(super) async fn check(exam: &mut Exam<'_>) {
    let path = exam.path().unwrap_or("/chats/default/chat/completions");
    let requests = requests(exam.model());
    // One more request: a list instead of an object.
    exam.plan(requests.len() + 1);
    exam.replay(path, &requests, judge, None).await;
    let Some(Trial { body: sample, .. }) = requests.first() else {
        return;
    };
    exam.refusal(path, &REFUSAL, |answer| {
        let all = ["/message", "/code", "/type", "/link"];
        all.iter()
            .all(|path| holds(&answer.json(), path, Value::is_string))
    })
    .await;
    exam.rest(path, sample).await;
}

/// Returns the requests of the conformance kit, the simplest first.
fn requests(model: Option<&str>) -> Vec<Trial> {
    let rule = Some(&REQUEST);
    let mut all = Vec::from(recorded_files! {
        rule, "meilisearch": "request_minimal" "request_all_tools" "request_follow_up"
            "request_follow_up_with_nulls"
    });
    all.push(hazards(&REQUEST));
    // The server answers 501: it runs no tools of clients.
    all.extend(recorded_files! { None, "meilisearch": "request_user_tool" });
    match model {
        Some(model) => all.into_iter().map(|each| each.model(model)).collect(),
        None => all,
    }
}

/// Checks a stream.
pub(super) fn judge(judge: &mut Judge, stream: &Stream<'_>) {
    lines::judge(judge, stream);
    let exchange = stream.exchange;
    let chunks = chunk::judge(judge, stream);
    complete::judge(judge, stream, &chunks);
    let at = &*exchange.name;
    for (chunk, block) in chunks.chunks.iter().filter(|(chunk, _)| is_error(chunk)) {
        let mut texts = ["/event_id", "/type", "/error/type", "/error/message"].iter();
        let whole = texts.all(|path| holds(chunk, path, Value::is_string));
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
    for (delta, block) in complete::deltas(chunks) {
        for call in elements(delta, "/tool_calls") {
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
        let shown: Vec<_> = searches.open.iter().map(String::as_str).collect();
        let shown = shown.join(", ");
        // A call without an appended result would end the client's history.
        let answered = searches.open.is_empty();
        if searches.kept {
            judge.expect(&ORPHAN, answered, at, shown);
        }
    }
}

fn declares(asked: &Value, name: &str) -> bool {
    offers(asked, "/function/name", name)
}

/// Returns the arguments of a complete and valid notification.
fn whole(call: &Value) -> Option<Value> {
    let framed = holds(call, "/index", Value::is_u64)
        && text(call, "/type") == "function"
        && all_say(call, &["/id"]);
    let arguments: Value = serde_json::from_str(text(call, "/function/arguments")).ok()?;
    // Both the server's names and the documentation's are accepted.
    let either = |names: [&str; 2]| names.into_iter().find_map(|name| arguments.get(name));
    let right = match text(call, "/function/name") {
        "_meiliSearchProgress" => {
            let inner = either(["function_arguments", "function_parameters"]);
            let named = all_say(&arguments, &["/call_id", "/function_name"]);
            named && inner.is_some_and(Value::is_string)
        }
        "_meiliSearchSources" => {
            let documents = either(["sources", "documents"]);
            all_say(&arguments, &["/call_id"]) && documents.is_some_and(Value::is_array)
        }
        // Other members depend on the role, and none of them is in both forms.
        "_meiliAppendConversationMessage" => all_say(&arguments, &["/role"]),
        _ => arguments.is_object(),
    };
    (framed && right).then_some(arguments)
}

/// The searches of one answer, as reported by notifications.
#[derive(Default)]
struct Searches {
    /// The searches that started.
    begun: HashSet<String>,
    /// The appended calls that have no result yet.
    open: BTreeSet<String>,
    /// `true` if a call was appended.
    kept: bool,
}

impl Searches {
    fn take(
        &mut self,
        judge: &mut Judge,
        at: &str,
        name: &str,
        arguments: &Value,
        block: &Lines<'_>,
        asked: Option<&Value>,
    ) {
        let id = text(arguments, "/call_id");
        match name {
            "_meiliSearchProgress" => drop(self.begun.insert(id.to_owned())),
            "_meiliSearchSources" => {
                // Without progress notifications there is no order to check.
                let told = match asked {
                    Some(asked) => declares(asked, "_meiliSearchProgress"),
                    None => !self.begun.is_empty(),
                };
                if told {
                    let begun = self.begun.contains(id);
                    judge.expect(&ORDER, begun, at, block.raw);
                }
            }
            _ if text(arguments, "/role") == "tool" => {
                let id = text(arguments, "/tool_call_id");
                let asked = self.open.remove(id);
                judge.expect(&ORPHAN, asked, at, block.raw);
            }
            _ => {
                let calls = elements(arguments, "/tool_calls");
                self.open.extend(calls.map(|call| text(call, "/id").into()));
                self.kept |= !self.open.is_empty();
            }
        }
    }
}
