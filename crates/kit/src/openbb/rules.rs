//! Rules for the stream.

use std::collections::HashSet;

use serde_json::Value;

use super::front_end::Workspace;
use super::{calls, cors, descriptor, requests};
use crate::FrontEnd;
use crate::check::members::{all_say, elements, holds, text};
use crate::check::{Exam, Judge, Lines, Stream, Trial, rules};

rules! {
    REQUEST = Error "openbb/request",
        "a request of the current Workspace is answered",
        "the message is marked as failed, without a reason",
        "accept unknown members and `null`";
    OTHER_REQUEST = Warning "openbb/other-request",
        "requests of earlier years, of drafts and of other programs are answered",
        "older installations and other front ends get a failure; openbb-ai refuses what it does not know",
        "read every form, and answer in the same form";
    LARGE_REQUEST = Error "openbb/large-request",
        "a request of nine megabytes is answered",
        "the Workspace sends whole tables: the message is marked as failed",
        "raise the limit of the body parser: 100 kB in Express, 1 MB in nginx (`client_max_body_size`)";
    UNNAMED = Error "openbb/unnamed",
        "every event has a name",
        "the Workspace uses the name of the previous event if both are in the same chunk, else none",
        "write `event: copilotMessageChunk`, or the name of the event";
    DONE = Error "openbb/done",
        "there is no `[DONE]`",
        "the Workspace reads it as JSON, and the turn fails",
        "end the body: there is no final event";
    JSON = Error "openbb/json",
        "the data of an event is a JSON object",
        "the Workspace cannot read it, and the turn fails",
        "serialize the data as JSON; `repr` or `str` of a Python object is not JSON";
    SEPARATORS = Error "openbb/line-separators",
        "U+2028 and U+2029 are escaped",
        "the Workspace ends the line there, and the turn fails; openbb-ai does not escape them",
        "write them as `\\u2028` and `\\u2029`";
    COMMENT = Error "openbb/comment",
        "a comment begins with a colon and a space",
        "the Workspace reads `:data:` as data",
        "write `: ping`";
    EVENT_NAME = Warning "openbb/event-name",
        "every event is one that the Workspace knows",
        "the Workspace ignores it",
        "check the spelling of the name; it is case-sensitive";
    EVENT = Error "openbb/event",
        "an event has the members that the Workspace reads",
        "the Workspace displays nothing, or `undefined`",
        "a chunk has `delta`; a status `eventType`, `message` and `group`; an artifact `type`, `name`, `uuid` and `content`; citations are a list with `source_info`, suggestions a list of texts";
    STATUS = Warning "openbb/status-type",
        "the `eventType` of a status is `INFO` or `WARNING`",
        "`ERROR` deletes the latest function call and its result from the chat; openbb-ai refuses others",
        "send failures as `WARNING`";
    ARTIFACT_NAME = Error "openbb/artifact-name",
        "artifacts of an answer have different names, without quotation marks",
        "the name is the artifact's key in the chat: the first one is displayed twice",
        "append a number to the name";
    ARTIFACT = Error "openbb/artifact",
        "tables and charts have a list of rows, charts also `chart_params`, and all other artifacts a text",
        "the Workspace displays an empty card",
        "send rows as objects, and `chart_params` with `chartType` and its keys";
    CITATION_ID = Error "openbb/citation-id",
        "every citation has a unique `id`",
        "the Workspace uses it for the marker in the text: citations without one are not displayed",
        "set a UUID for each";
    EMPTY = Warning "openbb/empty",
        "an answer has visible content or a call",
        "the user sees an empty message",
        "send at least one text chunk";
}

/// The event names that the Workspace knows, and those of its next release.
const KNOWN: [&str; 8] = [
    calls::EVENT,
    "copilotMessageChunk",
    "copilotStatusUpdate",
    "copilotMessageArtifact",
    "copilotCitationCollection",
    "copilotPromptSuggestions",
    "copilotTokenUsage",
    "copilotConversationSummary",
];

pub(super) async fn check(exam: &mut Exam<'_>) {
    // The descriptor, the recorded requests, and one that is not JSON.
    let requests = requests::all();
    exam.plan(1 + requests.len() + 1 + cors::REQUESTS);
    let listed = descriptor::check(exam).await;
    let path = exam.path().map(str::to_owned).or(listed);
    let path = path.as_deref().unwrap_or(Workspace::PATH);
    for recorded in &requests {
        let Some(exchange) = exam.ask_agent(path, recorded).await else {
            continue;
        };
        cors::answer(exam, &exchange);
        if let Some(stream) = exam.answered(recorded, &exchange) {
            judge(exam.judge(), &stream);
        }
    }
    let name = "no JSON";
    if let Some(answer) = exam.ask(name, exam.post(path, name)).await {
        cors::answer(exam, &answer);
    }
    cors::check(exam, path).await;
    if let Some(Trial { body: sample, .. }) = requests.first() {
        exam.rest(path, sample).await;
    }
}

/// Checks a stream.
pub(super) fn judge(judge: &mut Judge, stream: &Stream<'_>) {
    let (exchange, blocks) = (stream.exchange, &stream.blocks);
    let at = &*exchange.name;
    let mut answer = Answer::default();
    for block in blocks {
        for line in &block.lines {
            // The Workspace matches fields without an anchor, so `:data: x` is data for it.
            let spaced = !line.starts_with(b":") || line.len() == 1 || line.starts_with(b": ");
            judge.expect(&COMMENT, spaced, at, line);
        }
        if let Some(event) = &block.event {
            answer.take(judge, at, block, event.name(), event.data());
        }
    }
    calls::judge(judge, at, blocks, stream.asked.as_ref());
    let visible = answer.is_visible || blocks.iter().any(calls::is_call);
    judge.expect(&EMPTY, visible, at, &exchange.body);
}

/// The state of an answer so far.
#[derive(Default)]
struct Answer {
    is_visible: bool,
    artifacts: Vec<String>,
    citations: HashSet<String>,
}

impl Answer {
    fn take(&mut self, judge: &mut Judge, at: &str, block: &Lines<'_>, name: &str, data: &str) {
        let raw = block.raw;
        let done = data.trim() == "[DONE]";
        judge.expect(&DONE, !done, at, raw);
        if done {
            return;
        }
        // WHATWG HTML, section 9.2.6: an event without a name is a `message`.
        let named = name != "message";
        judge.expect(&UNNAMED, named, at, raw);
        let escaped = !data.contains(['\u{2028}', '\u{2029}']);
        judge.expect(&SEPARATORS, escaped, at, raw);
        let value = block.json();
        judge.expect(&JSON, value.is_object(), at, raw);
        if !named || !value.is_object() {
            return;
        }
        judge.expect(&EVENT_NAME, KNOWN.contains(&name), at, raw);
        let is_text = |path: &&str| holds(&value, path, Value::is_string);
        let valid = match name {
            "copilotMessageChunk" => is_text(&"/delta"),
            "copilotStatusUpdate" => {
                let kind = text(&value, "/eventType");
                judge.expect(&STATUS, matches!(kind, "INFO" | "WARNING"), at, raw);
                ["/message", "/group"].iter().all(is_text) && !kind.is_empty()
            }
            "copilotMessageArtifact" => {
                self.artifact(judge, at, raw, &value);
                ["/type", "/name", "/uuid"].iter().all(is_text)
            }
            "copilotCitationCollection" => self.citations(judge, at, raw, &value),
            "copilotPromptSuggestions" => {
                let list = value.get("suggestions").and_then(Value::as_array);
                list.is_some_and(|list| list.iter().all(Value::is_string))
            }
            _ => true,
        };
        judge.expect(&EVENT, valid, at, raw);
        let visible = !is_text(&"/delta") || all_say(&value, &["/delta"]);
        self.is_visible |= visible && KNOWN.contains(&name) && name != "copilotTokenUsage";
    }

    fn artifact(&mut self, judge: &mut Judge, at: &str, raw: &[u8], artifact: &Value) {
        let name = text(artifact, "/name").to_owned();
        let free = !name.is_empty() && !name.contains('"') && !self.artifacts.contains(&name);
        judge.expect(&ARTIFACT_NAME, free, at, raw);
        // Names are compared in the whole answer: the Workspace stores artifacts by name for the whole chat.
        self.artifacts.push(name);
        let rows = holds(artifact, "/content", Value::is_array)
            && elements(artifact, "/content").all(Value::is_object);
        let right = match text(artifact, "/type") {
            "table" => rows,
            "chart" => rows && is_drawable(artifact),
            "app" => holds(artifact, "/app", Value::is_object),
            _ => holds(artifact, "/content", Value::is_string),
        };
        judge.expect(&ARTIFACT, right, at, raw);
    }

    /// Returns `true` if the collection is valid.
    fn citations(&mut self, judge: &mut Judge, at: &str, raw: &[u8], collection: &Value) -> bool {
        let Some(citations) = collection.get("citations").and_then(Value::as_array) else {
            return false;
        };
        for citation in citations {
            let id = text(citation, "/id");
            let own = !id.is_empty() && self.citations.insert(id.to_owned());
            judge.expect(&CITATION_ID, own, at, raw);
        }
        let mut citations = citations.iter();
        citations.all(|citation| holds(citation, "/source_info/type", Value::is_string))
    }
}

fn is_drawable(artifact: &Value) -> bool {
    let is_text = |path: &&str| holds(artifact, path, Value::is_string);
    match text(artifact, "/chart_params/chartType") {
        "line" | "bar" | "scatter" => {
            is_text(&"/chart_params/xKey") && elements(artifact, "/chart_params/yKey").len() > 0
        }
        "pie" | "donut" => {
            is_text(&"/chart_params/angleKey") && is_text(&"/chart_params/calloutLabelKey")
        }
        _ => false,
    }
}
