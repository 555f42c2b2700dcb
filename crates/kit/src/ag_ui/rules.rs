//! Rules for AG-UI apps, from version 0.0.59 of `@ag-ui/client` on.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::front_end::App;
use super::state::apply;
use super::verify::{Fault, Verify};
use crate::FrontEnd;
use crate::check::members::{elements, text};
use crate::check::{Exam, Judge, Stream, recorded_files, rules};
use copilot_wire::ag_ui::Event;
use copilot_wire::json::is_pointer;
use copilot_wire::protocol::FrameEvent as _;

rules! {
    REQUEST = Error "ag-ui/request",
        "a request that apps send is answered",
        "the app shows the status and the body as an error",
        "read leniently: `null` and absent members, content as text or parts, messages of any role";
    ODD = Warning "ag-ui/odd-request",
        "a request is answered, whatever stands beside the text of its last message",
        "an app with roles, parts or members of its own, or of a later version, shows the refusal as an error",
        "skip what is not known, and take `null` for absent";
    LINES = Error "ag-ui/line-feed",
        "lines end with LF",
        "the client looks for two LF in a row: with CRLF it finds no event",
        "write `data: `, the event and two LF";
    JSON = Error "ag-ui/json",
        "the data of an event is a JSON object with a `type`",
        "the run fails, at `[DONE]` as well",
        "write one JSON object an event; use comments for keep-alive";
    TYPE = Error "ag-ui/type",
        "every event has a type that apps know",
        "0.0.59 fails the run, 1.0.0 drops the event",
        "put what is your own into `CUSTOM`";
    MEMBERS = Error "ag-ui/members",
        "an event has the members that its type demands",
        "the run fails",
        "send all of them, ids and texts as strings";
    NULL = Error "ag-ui/null",
        "no optional member is `null`",
        "the run fails, at `parentRunId` for one",
        "leave out what there is none of";
    EMPTY = Warning "ag-ui/empty-delta",
        "no piece of a text is empty",
        "versions before 0.0.50 fail the run",
        "skip empty pieces";
    OUTCOME = Error "ag-ui/outcome",
        "the outcome of a run is a bare success or interrupts, unless the request has a `protocolVersion`",
        "0.0.59 fails the run at `cancelled`, and at `pendingToolCallIds`",
        "leave out what came with 1.0.0 where the request has no `protocolVersion`";
    PATCH = Error "ag-ui/patch",
        "changes of state and activities are JSON Patch operations",
        "1.0.0 fails the run",
        "write paths as JSON pointers, and `value` or `from` where the operation demands it";
    STATE = Error "ag-ui/state",
        "a change fits the state or the activity that it changes",
        "the app drops the change, and goes on with what it had",
        "send a snapshot first, and add a member before changing what is in it";
    SIZE = Error "ag-ui/size",
        "no event is larger than ten million bytes",
        "the run fails",
        "send large rows in several events";
    IDS = Warning "ag-ui/ids",
        "a run has the ids of its request",
        "apps that look at them lose track of the run",
        "send `threadId` and `runId` of the request in `RUN_STARTED` and `RUN_FINISHED`";
    FIRST = Error "ag-ui/run-started",
        "a stream begins with `RUN_STARTED`, or is `RUN_ERROR` alone",
        "the run fails",
        "write `RUN_STARTED` before the agent begins";
    AFTER = Error "ag-ui/after-end",
        "nothing follows `RUN_FINISHED` or `RUN_ERROR`",
        "the run fails, after all was said",
        "end the body there";
    TWICE = Error "ag-ui/open-twice",
        "no message, call or step starts, also by a chunk, while one of its id or name is open",
        "the run fails",
        "give each an id of its own, finish a step before the next of that name, and write no chunks between a start and an end";
    OPEN = Error "ag-ui/not-open",
        "a piece or an end belongs to a message, a call or a step that is open, and a first chunk has an id",
        "the run fails",
        "write the start first, or the id in the first chunk, with the name of the tool";
    CLOSED = Error "ag-ui/left-open",
        "everything that starts ends before `RUN_FINISHED`",
        "the run fails, after all was said",
        "end messages, calls, steps and reasoning first";
    FINISH = Error "ag-ui/finish",
        "a stream ends with `RUN_FINISHED` or `RUN_ERROR`",
        "a stream that is only cut looks finished: half an answer passes for a whole one",
        "write `RUN_ERROR` when something fails";
}

/// The limit in bytes of an event in clients.
const MAX_EVENT: usize = 10_000_000;

pub(super) async fn check(exam: &mut Exam<'_>) {
    let path = exam.path().unwrap_or(App::PATH);
    let requests = recorded_files!(
        Some(&REQUEST), "ag-ui":
        "req-text-0.0.59" "req-text-1.0.0" "req-parts-0.0.59" "req-parts-1.0.0"
        "req-results-0.0.59" "req-results-1.0.0" "req-interrupt-yes-0.0.59"
        "req-interrupt-no-1.0.0" "req-interrupt-cancelled-1.0.0" "req-question-1.0.0"
    );
    let odd = recorded_files!(Some(&ODD), "ag-ui": "req-odd");
    exam.plan(requests.len() + 1);
    exam.replay(path, &requests, judge, None).await;
    exam.replay(path, &odd, judge, None).await;
    if let Some(recorded) = requests.first() {
        exam.rest(path, &recorded.body).await;
    }
}

/// Judges a stream.
pub(super) fn judge(judge: &mut Judge, stream: &Stream<'_>) {
    let at = &*stream.exchange.name;
    let mut verify = Verify::default();
    // Without its request, a stream is judged as that of an app whose state is the default one.
    let state = stream.asked.as_ref().and_then(|asked| asked.get("state"));
    let mut state = state.filter(|state| !state.is_null()).cloned();
    let state = state.get_or_insert_with(|| json!({}));
    let mut activities = BTreeMap::new();
    for block in &stream.blocks {
        judge.expect(&LINES, !block.raw.contains(&b'\r'), at, block.raw);
        if block.event.is_none() {
            continue;
        }
        let event = block.json();
        let kind = event.get("type").and_then(Value::as_str);
        judge.expect(&JSON, kind.is_some(), at, block.raw);
        judge.expect(&SIZE, block.raw.len() <= MAX_EVENT, at, block.raw);
        let Some(kind) = kind else { continue };
        let newer = stream.asked.as_ref().is_some_and(is_newer);
        shape(judge, at, kind, &event, block.raw, newer);
        // A recorded stream comes without its request, so its ids cannot be judged.
        if let (Some(asked), "RUN_STARTED" | "RUN_FINISHED") = (&stream.asked, kind) {
            let same = ["threadId", "runId"]
                .iter()
                .all(|id| asked.get(id) == event.get(id));
            judge.expect(&IDS, same, at, block.raw);
        }
        let fits = change(kind, &event, state, &mut activities);
        judge.expect(&STATE, fits, at, block.raw);
        let order = verify.take(&event);
        for (rule, fault) in [
            (&FIRST, Fault::BeforeStart),
            (&AFTER, Fault::AfterEnd),
            (&TWICE, Fault::Twice),
            (&OPEN, Fault::NotOpen),
            (&CLOSED, Fault::LeftOpen),
        ] {
            // Every rule is checked at every event: an unchecked rule would be reported as unseen.
            judge.expect(rule, order != Err(fault), at, block.raw);
        }
    }
    if stream.exchange.is_complete() {
        let end = stream.exchange.last().to_vec();
        judge.expect(&FINISH, verify.is_done(), at, end);
    }
}

/// Applies an event to the shared state and the activities. Returns `true` if it fits.
fn change(
    kind: &str,
    event: &Value,
    state: &mut Value,
    activities: &mut BTreeMap<String, Value>,
) -> bool {
    let patched = |document: &mut Value, name: &str| {
        let patch = event.get(name).and_then(Value::as_array);
        // Anything else is against the rule for patches.
        let patch = patch.filter(|patch| patch.iter().all(is_operation));
        patch.is_none_or(|patch| apply(document, patch).is_some())
    };
    let id = || text(event, "/messageId").to_owned();
    match kind {
        "STATE_SNAPSHOT" => *state = event.get("snapshot").cloned().unwrap_or_default(),
        "STATE_DELTA" => return patched(state, "delta"),
        "ACTIVITY_SNAPSHOT" => {
            let content = event.get("content").cloned().unwrap_or_default();
            let replaces = event.get("replace") != Some(&Value::Bool(false));
            if replaces || !activities.contains_key(&id()) {
                activities.insert(id(), content);
            }
        }
        // An activity of an earlier run is known to the app alone.
        "ACTIVITY_DELTA" => {
            let activity = activities.get_mut(&id());
            return activity.is_none_or(|activity| patched(activity, "patch"));
        }
        _ => {}
    }
    true
}

/// Returns `true` if an app that sends this request has version 1.0.0 or later.
fn is_newer(asked: &Value) -> bool {
    asked.get("protocolVersion").is_some()
}

/// Judges one event. `newer` apps support what version 1.0.0 added.
fn shape(judge: &mut Judge, at: &str, kind: &str, event: &Value, raw: &[u8], newer: bool) {
    // The names of reasoning events before 0.0.46, which apps still translate.
    let required = Event::members(kind).map(|(required, _)| required);
    let known = required.or_else(|| kind.starts_with("THINKING_").then_some(&[][..]));
    judge.expect(&TYPE, known.is_some(), at, raw);
    let Some(known) = known else { return };
    let whole = known.iter().all(|name| {
        let value = event.get(*name);
        value.is_some_and(|value| is_right(kind, name, value))
    });
    judge.expect(&MEMBERS, whole, at, raw);
    let members = event.as_object().into_iter().flatten();
    let mut nulls = members.filter(|(name, value)| {
        // In these three members, `null` is a value.
        value.is_null() && !matches!(name.as_str(), "snapshot" | "value" | "event")
    });
    judge.expect(&NULL, nulls.next().is_none(), at, raw);
    if kind.ends_with("_CONTENT") {
        let empty = event.get("delta") == Some(&Value::from(""));
        judge.expect(&EMPTY, !empty, at, raw);
    }
    let patch = event.get(match kind {
        "STATE_DELTA" => "delta",
        _ => "patch",
    });
    if let Some(patch) = patch.and_then(Value::as_array) {
        judge.expect(&PATCH, patch.iter().all(is_operation), at, raw);
    }
    if let Some(outcome) = event.get("outcome").filter(|_| kind == "RUN_FINISHED") {
        let right = match text(outcome, "/type") {
            "success" => newer || outcome.get("pendingToolCallIds").is_none(),
            "cancelled" => newer,
            "interrupt" => elements(outcome, "/interrupts").len() > 0,
            _ => outcome.is_null(),
        };
        judge.expect(&OUTCOME, right, at, raw);
    }
}

/// Returns `true` if a member that an event must have is of the right type.
fn is_right(kind: &str, name: &str, value: &Value) -> bool {
    match (kind, name) {
        ("STATE_DELTA", "delta") | (_, "patch" | "messages") => value.is_array(),
        ("ACTIVITY_SNAPSHOT", "content") => value.is_object(),
        (_, "snapshot" | "value" | "event") => true,
        _ => value.is_string(),
    }
}

fn is_operation(operation: &Value) -> bool {
    let text = |name: &str| operation.get(name).and_then(Value::as_str);
    let pointer = |name: &str| text(name).is_some_and(is_pointer);
    let whole = match text("op") {
        Some("add" | "replace" | "test") => operation.get("value").is_some(),
        Some("move" | "copy") => pointer("from"),
        op => op == Some("remove"),
    };
    whole && pointer("path")
}
