//! The rules of the conformance kit: each is broken once by a server, and found alone.

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::ag_ui::AgUi;
use copilot_wire::async_trait;
use copilot_wire::testing::check::{
    Endpoint, EndpointBody, EndpointError, Target, check, recorded,
};
use copilot_wire::testing::kit;
use futures::executor::block_on;
use futures::{StreamExt, stream};
use http::{Request, Response};
use serde_json::{Value, json};

/// A server that is written by hand: the events of a reply, and how they become bytes.
struct Server {
    events: fn(Vec<Value>) -> Vec<Value>,
    bytes: fn(String) -> String,
    /// Whether requests that have nulls in them are refused.
    strict: bool,
}

const SERVER: Server = Server {
    events: |events| events,
    bytes: |body| body,
    strict: false,
};

/// A reply with everything in it that rules are about.
fn reply(asked: &Value) -> Vec<Value> {
    let run =
        |kind: &str| json!({"type": kind, "threadId": asked["threadId"], "runId": asked["runId"]});
    vec![
        run("RUN_STARTED"),
        json!({"type": "STEP_STARTED", "stepName": "s"}),
        json!({"type": "REASONING_START", "messageId": "r"}),
        json!({"type": "REASONING_MESSAGE_START", "messageId": "r", "role": "reasoning"}),
        json!({"type": "REASONING_MESSAGE_CONTENT", "messageId": "r", "delta": "Hm."}),
        json!({"type": "REASONING_MESSAGE_END", "messageId": "r"}),
        json!({"type": "REASONING_END", "messageId": "r"}),
        json!({"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant"}),
        json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "Hello"}),
        json!({"type": "STEP_FINISHED", "stepName": "s"}),
        json!({"type": "TEXT_MESSAGE_END", "messageId": "m"}),
        json!({"type": "STATE_DELTA", "delta": [{"op": "add", "path": "/a", "value": null}]}),
        json!({"type": "ACTIVITY_SNAPSHOT", "messageId": "a", "activityType": "t", "content": {}}),
        json!({"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "f"}),
        json!({"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "{}"}),
        json!({"type": "TOOL_CALL_END", "toolCallId": "c"}),
        json!({"type": "CUSTOM", "name": "n", "value": null}),
        run("RUN_FINISHED"),
    ]
}

fn answer(status: u16, kind: &'static str, body: String) -> Response<EndpointBody> {
    let pieces: Vec<_> = body.split_inclusive("\n\n").map(str::to_owned).collect();
    let pieces = stream::iter(pieces).map(|piece| Ok(Bytes::from(piece)));
    Response::builder()
        .status(status)
        .header("content-type", kind)
        .header("cache-control", "no-cache")
        .header("x-accel-buffering", "no")
        .header("allow", "POST")
        .body(Box::pin(pieces) as EndpointBody)
        .unwrap()
}

#[async_trait]
impl Endpoint for Server {
    async fn call(&self, request: Request<Bytes>) -> Result<Response<EndpointBody>, EndpointError> {
        let refuse = |status| answer(status, "application/json", r#"{"error":{}}"#.into());
        if request.uri().path() != "/agui" {
            return Ok(refuse(404));
        }
        if request.method() != http::Method::POST {
            return Ok(refuse(405));
        }
        if request.body().len() > 1_000_000 {
            return Ok(refuse(413));
        }
        let Ok(asked) = serde_json::from_slice::<Value>(request.body()) else {
            return Ok(refuse(400));
        };
        if !asked["messages"].is_array() || (self.strict && asked["state"].is_null()) {
            return Ok(refuse(422));
        }
        let events = (self.events)(reply(&asked)).into_iter();
        let body: String = events.map(|event| format!("data: {event}\n\n")).collect();
        Ok(answer(200, "text/event-stream", (self.bytes)(body)))
    }

    async fn sleep(&self, _: Duration) {
        futures::future::pending::<()>().await;
    }
}

fn found(server: Server) -> Vec<&'static str> {
    let report = block_on(check(&server, Target::new(kit::<AgUi>())));
    report.rules().collect()
}

/// Puts an event into a reply, before the one of a type.
fn put(mut events: Vec<Value>, before: &str, event: Value) -> Vec<Value> {
    let at = events
        .iter()
        .position(|event| event["type"] == before)
        .unwrap();
    events.insert(at, event);
    events
}

/// Leaves the events of a type out.
fn without(mut events: Vec<Value>, kind: &str) -> Vec<Value> {
    events.retain(|event| event["type"] != kind);
    events
}

/// Sets a member of the events of a type.
fn set(mut events: Vec<Value>, kind: &str, member: &str, value: &Value) -> Vec<Value> {
    for event in events.iter_mut().filter(|event| event["type"] == kind) {
        event[member] = value.clone();
    }
    events
}

type Fault = (&'static str, fn(Vec<Value>) -> Vec<Value>);

const FAULTS: &[Fault] = &[
    ("ag-ui/type", |events| {
        put(events, "CUSTOM", json!({"type": "TOMORROW"}))
    }),
    ("ag-ui/members", |events| {
        set(events, "CUSTOM", "name", &json!(7))
    }),
    ("ag-ui/members", |events| {
        set(events, "ACTIVITY_SNAPSHOT", "content", &json!([]))
    }),
    ("ag-ui/members", |events| {
        let result = json!({"type": "TOOL_CALL_RESULT", "toolCallId": "c", "content": "x"});
        put(events, "CUSTOM", result)
    }),
    ("ag-ui/null", |events| {
        set(events, "RUN_STARTED", "parentRunId", &Value::Null)
    }),
    ("ag-ui/empty-delta", |events| {
        set(events, "TEXT_MESSAGE_CONTENT", "delta", &json!(""))
    }),
    ("ag-ui/outcome", |events| {
        let outcome = json!({"type": "success", "pendingToolCallIds": ["c"]});
        set(events, "RUN_FINISHED", "outcome", &outcome)
    }),
    ("ag-ui/outcome", |events| {
        set(
            events,
            "RUN_FINISHED",
            "outcome",
            &json!({"type": "cancelled"}),
        )
    }),
    ("ag-ui/outcome", |events| {
        let outcome = json!({"type": "interrupt", "interrupts": []});
        set(events, "RUN_FINISHED", "outcome", &outcome)
    }),
    ("ag-ui/patch", |events| {
        let patch = json!([{"op": "add", "path": "a", "value": 1}]);
        set(events, "STATE_DELTA", "delta", &patch)
    }),
    ("ag-ui/ids", |events| {
        set(events, "RUN_STARTED", "runId", &json!("another"))
    }),
    ("ag-ui/run-started", |events| without(events, "RUN_STARTED")),
    ("ag-ui/after-end", |mut events| {
        events.push(json!({"type": "CUSTOM", "name": "n", "value": 1}));
        events
    }),
    ("ag-ui/open-twice", |events| {
        let start = json!({"type": "TEXT_MESSAGE_START", "messageId": "m"});
        put(events, "TEXT_MESSAGE_CONTENT", start)
    }),
    ("ag-ui/open-twice", |events| {
        put(
            events,
            "STEP_STARTED",
            json!({"type": "STEP_STARTED", "stepName": "s"}),
        )
    }),
    ("ag-ui/not-open", |events| {
        let piece = json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "x"});
        put(events, "TEXT_MESSAGE_START", piece)
    }),
    ("ag-ui/not-open", |events| {
        without(events, "TOOL_CALL_START")
    }),
    ("ag-ui/left-open", |events| {
        without(events, "TEXT_MESSAGE_END")
    }),
    ("ag-ui/left-open", |events| without(events, "TOOL_CALL_END")),
    ("ag-ui/left-open", |events| without(events, "STEP_FINISHED")),
    ("ag-ui/left-open", |events| without(events, "REASONING_END")),
    ("ag-ui/finish", |events| without(events, "RUN_FINISHED")),
];

#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    assert_eq!(found(SERVER), [""; 0]);
    // A failure leaves things open.
    let fails = |events| {
        let events = without(without(events, "RUN_FINISHED"), "TEXT_MESSAGE_END");
        let end = events.len();
        let mut events = events;
        events.insert(end, json!({"type": "RUN_ERROR", "message": "away"}));
        events
    };
    assert_eq!(
        found(Server {
            events: fails,
            ..SERVER
        }),
        [""; 0]
    );
    let only = |_| vec![json!({"type": "RUN_ERROR", "message": "away"})];
    assert_eq!(
        found(Server {
            events: only,
            ..SERVER
        }),
        [""; 0]
    );
}

#[test]
fn every_fault_is_found_alone() {
    for (number, (rule, events)) in FAULTS.iter().enumerate() {
        let server = Server {
            events: *events,
            ..SERVER
        };
        assert_eq!(found(server), [*rule], "{number}");
    }
}

#[test]
fn faults_of_bytes_are_found_alone() {
    let lines = |body: String| body.replace('\n', "\r\n");
    assert_eq!(
        found(Server {
            bytes: lines,
            ..SERVER
        }),
        ["ag-ui/line-feed"]
    );
    let done = |body: String| body + "data: [DONE]\n\n";
    assert_eq!(
        found(Server {
            bytes: done,
            ..SERVER
        }),
        ["ag-ui/json"]
    );
    let large = json!({"type": "RUN_ERROR", "message": "x".repeat(10_000_000)});
    let report = recorded(kit::<AgUi>(), format!("data: {large}\n\n").as_bytes());
    assert!(report.rules().eq(["ag-ui/size"]), "{report}");
    assert_eq!(
        found(Server {
            strict: true,
            ..SERVER
        }),
        ["ag-ui/request"]
    );
}

#[test]
fn every_rule_is_broken_somewhere() {
    let rules = kit::<AgUi>().rules().map(|rule| rule.id);
    let rules: BTreeSet<_> = rules.filter(|id| id.starts_with("ag-ui/")).collect();
    let elsewhere = [
        "ag-ui/line-feed",
        "ag-ui/json",
        "ag-ui/request",
        "ag-ui/size",
    ];
    let broken: BTreeSet<_> = FAULTS.iter().map(|(id, _)| *id).chain(elsewhere).collect();
    assert_eq!(rules, broken);
}
