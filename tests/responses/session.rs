//! A session writes valid streams, whatever an agent sends in whatever order.

use bytes::Bytes;
use copilot_wire::json::{Json, Wire as _};
use copilot_wire::protocol::{
    Chart, ChartKind, Citation, Completion, Failure, Framing, Notice, Part, Protocol, SendError,
    Session, Status, ToolCall, Usage,
};
use copilot_wire::responses::{
    Annotation, Ending, Event, EventKind, Item, Reply, Response, Responses, ResponsesRequest,
    Storage, StreamEvent, Tool,
};
use copilot_wire::sse::TooLarge;
use proptest::prelude::*;
use serde_json::json;

use crate::rules::{End, check};
use crate::support::{fixed, read};

fn session() -> (Session<Reply>, Vec<u8>) {
    let request = ResponsesRequest::new("m \"1\"", "hi")
        .stream(true)
        .offer(["f", "up"].map(|name| Tool::function(name, "")));
    let mut session = Responses::session(&request, &Storage::default(), &fixed());
    let mut out = Vec::new();
    session.open(&mut out);
    (session, out)
}

#[derive(Clone, Debug)]
enum Step {
    Text(String),
    Event(Box<StreamEvent>),
    Status(String),
    Reasoning(String),
    Cite(String, Option<String>),
    Notice(String),
    Chart(String),
    Usage(u64),
    KeepAlive,
    /// Not offered, so an error that leaves no trace.
    Refused,
    Calls(usize),
}

fn event() -> impl Strategy<Value = StreamEvent> {
    let of = |kind: EventKind| {
        let mut event = StreamEvent::default();
        event.kind = kind;
        event
    };
    prop_oneof![
        "\\PC{0,8}".prop_map(StreamEvent::text),
        "\\PC{0,8}".prop_map(StreamEvent::reasoning),
        "\\PC{0,8}".prop_map(|text| StreamEvent::annotation(Annotation::url_citation(
            "https://a.example",
            text
        ))),
        "\\PC{0,8}".prop_map(|text| StreamEvent::item(Item::call("call_1", "up", text))),
        "[a-z]{0,8}".prop_map(|kind| {
            let mut item = Item::default();
            item.kind = kind;
            StreamEvent::item(item)
        }),
        prop::sample::select(vec![
            "response.created",
            "response.completed",
            "response.output_item.added",
            "response.output_item.done",
            "response.content_part.added",
            "response.output_text.done",
            "response.reasoning_summary_part.added",
            "response.output_text.annotation.added",
            "response.from_tomorrow",
            "",
        ])
        .prop_map(move |kind| of(kind.into())),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => "\\PC{1,12}|[\u{0}-\u{20}\u{2028}\"\\\\]{1,4}".prop_map(Step::Text),
        3 => event().prop_map(|event| Step::Event(Box::new(event))),
        1 => "\\PC{0,8}".prop_map(Step::Status),
        1 => "\\PC{1,8}".prop_map(Step::Reasoning),
        1 => ("\\PC{0,8}", prop::option::of("https://a.example/\\PC{0,4}|x")).prop_map(|(title, url)| Step::Cite(title, url)),
        1 => "\\PC{0,8}".prop_map(Step::Notice),
        1 => "\\PC{0,8}".prop_map(Step::Chart),
        1 => (0_u64..9).prop_map(Step::Usage),
        1 => Just(Step::KeepAlive),
        1 => Just(Step::Refused),
        1 => (1_usize..3).prop_map(Step::Calls),
    ]
}

fn take(session: &mut Session<Reply>, step: &Step, out: &mut Vec<u8>) {
    let start = out.len();
    let call = |name: &str| ToolCall::new(name, &json!({"a": 1})).unwrap();
    let written = match step {
        Step::Text(text) => session.text(text, out),
        Step::Event(event) => session.output(event, out),
        Step::Status(text) => {
            let status = Status::new(text.as_str()).detail("a", "b");
            session.part(Part::Status(&status), out)
        }
        Step::Reasoning(text) => session.part(Part::Reasoning(text), out),
        Step::Cite(title, url) => {
            let mut citation = Citation::new(title.as_str());
            citation.url.clone_from(url);
            session.part(Part::Cite(&citation), out)
        }
        Step::Notice(text) => session.part(Part::Error(&Notice::new(text.as_str())), out),
        Step::Chart(name) => {
            let kind = ChartKind::Pie {
                angle: "a".into(),
                label: "b".into(),
            };
            let chart = Chart::new(name.as_str(), kind, &json!([{"a": 1, "b": 2}])).unwrap();
            session.part(Part::Chart(&chart), out)
        }
        Step::Usage(tokens) => session.part(Part::Usage(&Usage::new(*tokens, 1)), out),
        Step::KeepAlive => {
            session.keep_alive(Framing::Sse, out);
            Ok(())
        }
        Step::Refused => session.part(Part::Calls(&[call("f"), call("g")]), out),
        Step::Calls(count) => session.part(Part::Calls(&vec![call("f"); *count]), out),
    };
    match written {
        Ok(()) => {}
        Err(SendError::Unsupported(_)) if matches!(step, Step::Refused) => {}
        Err(SendError::Invalid(_)) if matches!(step, Step::Event(_)) => {}
        Err(error) => panic!("{step:?}: {error}"),
    }
    if !matches!(step, Step::Refused) {
        return;
    }
    // What fails writes nothing.
    assert_eq!(out.len(), start);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_stream_keeps_the_rules(steps in prop::collection::vec(step(), 0..14), fails in any::<bool>()) {
        let (mut session, mut out) = session();
        for step in &steps {
            take(&mut session, step, &mut out);
        }
        let end = if fails { End::Failed } else { End::Completed };
        match fails {
            true => session.fail(&Failure::new("away"), &mut out),
            false => session.finish(&mut out),
        }
        let text = String::from_utf8(out).unwrap();
        let checked = check(&text, end);

        // Whoever reads it gets the same events, however it is cut, and the same response.
        let events = read(text.as_bytes());
        prop_assert_eq!(events.len(), checked.events.len());
        let mut answer = Completion::new();
        for (event, value) in events.iter().zip(&checked.events) {
            prop_assert_eq!(&serde_json::to_value(event).unwrap(), value);
            prop_assert_eq!(&StreamEvent::from_json(event.to_json()).unwrap(), event);
            answer.push_event::<Responses>(&event.clone().into()).unwrap();
        }
        prop_assert_eq!(answer.text(), checked.text);
        prop_assert_eq!(answer.error().map(|error| &*error.message), fails.then_some("away"));
    }

    #[test]
    fn a_relayed_stream_says_the_same(steps in prop::collection::vec(step(), 0..10)) {
        let (mut first, mut out) = session();
        for step in &steps {
            take(&mut first, step, &mut out);
        }
        first.finish(&mut out);
        let upstream = check(std::str::from_utf8(&out).unwrap(), End::Completed);
        let (mut second, mut again) = session();
        for event in read(&out) {
            second.output(&event, &mut again).unwrap();
        }
        second.finish(&mut again);
        let relayed = check(std::str::from_utf8(&again).unwrap(), End::Completed);
        prop_assert_eq!(relayed.text, upstream.text);
        prop_assert_eq!(&relayed.response["usage"], &upstream.response["usage"]);
        let calls = |checked: &[serde_json::Value]| {
            let calls = checked.iter().filter(|item| item["type"] == "function_call");
            calls.cloned().collect::<Vec<_>>()
        };
        prop_assert_eq!(calls(&relayed.items), calls(&upstream.items));
    }
}

#[test]
fn an_ending_of_another_server_is_passed_on() {
    for (event, end) in [
        (
            r#"{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}"#,
            End::Incomplete,
        ),
        (
            r#"{"type":"response.failed","response":{"error":{"code":"server_error","message":"x"}}}"#,
            End::Failed,
        ),
        (
            r#"{"type":"error","code":"x","message":"y","param":null}"#,
            End::Failed,
        ),
        (r#"{"error":{"message":"y"}}"#, End::Failed),
    ] {
        let (mut session, mut out) = session();
        session.text("Half", &mut out).unwrap();
        let frame = format!("data: {event}\n\ndata: [DONE]\n\n");
        for event in read(frame.as_bytes()) {
            session.output(&event, &mut out).unwrap();
        }
        session.finish(&mut out);
        let checked = check(std::str::from_utf8(&out).unwrap(), end);
        if end == End::Failed {
            assert!(
                !checked.response["error"]["message"]
                    .as_str()
                    .unwrap()
                    .is_empty()
            );
        } else {
            let reason = &checked.response["incomplete_details"]["reason"];
            assert_eq!(reason, "content_filter");
        }
    }
}

#[test]
fn a_written_response_is_read_again() {
    let request = ResponsesRequest::new("m", "hi");
    let mut session = Responses::session(&request, &Storage::default(), &fixed());
    let mut out = Vec::new();
    session.open(&mut out);
    session.text("Hi", &mut out).unwrap();
    session.keep_alive(Framing::Sse, &mut out);
    assert!(out.is_empty(), "all of it comes at the end");
    session.finish(&mut out);
    let response = Response::from_json(&out).unwrap();
    assert_eq!(response.to_json().len(), out.len());
    assert_eq!(Response::from_json(response.to_json()).unwrap(), response);
    assert_eq!(response.created_at, 1_764_000_000);
    assert_eq!(response.text(), "Hi");
}

/// The output that is repeated at the end is limited, whatever its kind.
#[test]
fn the_limit_is_that_of_all_that_is_kept() {
    let piece = "x".repeat(1 << 20);
    let large = |event: StreamEvent| {
        let (mut session, mut out) = session();
        for round in 0..9 {
            let len = out.len();
            match session.output(&event, &mut out) {
                Ok(()) => assert!(round < 8),
                Err(SendError::TooLarge(TooLarge { limit, .. })) => {
                    assert_eq!((round >= 7, limit), (true, 8 << 20));
                    assert_eq!(out.len(), len);
                    return;
                }
                Err(error) => panic!("{error}"),
            }
        }
        panic!("no limit");
    };
    large(StreamEvent::text(piece.as_str()));
    large(StreamEvent::reasoning(piece.as_str()));
    large(StreamEvent::item(Item::call("c", "f", piece.as_str())));
    large(StreamEvent::annotation(Annotation::url_citation(
        "https://a.example",
        piece.as_str(),
    )));
}

/// What is kept is written again and again, so it counts as it is written.
#[test]
fn the_limit_counts_text_with_its_escapes() {
    let piece = "\u{1}".repeat(1 << 20);
    let (mut session, mut out) = session();
    session.text(&piece, &mut out).unwrap();
    let len = out.len();
    let refused = session.text(&piece, &mut out);
    assert!(matches!(refused, Err(SendError::TooLarge(_))));
    let status = Status::new(piece);
    let refused = session.part(Part::Status(&status), &mut out);
    assert!(matches!(refused, Err(SendError::TooLarge(_))));
    assert_eq!(out.len(), len, "what fails writes nothing");
}

/// A value that was read is a slice of its event. The limit counts what is kept, so no more than that may be.
#[test]
fn an_event_is_not_kept_for_a_member_of_it() {
    let frame = Bytes::from(format!(
        r#"{{"mark":1,"response":{{"id":"r"}},"padding":"{}"}}"#,
        "x".repeat(1 << 10)
    ));
    let member = |name| Json::parse(frame.clone()).unwrap().get(name).unwrap();
    let mark = || member("mark");
    let mut began = StreamEvent::usage(copilot_wire::responses::Usage::default());
    began.response = Some(member("response"));
    let mut answer = Completion::new();
    answer
        .push_event::<Responses>(&Event::Stream(Box::new(began)))
        .unwrap();
    let mut annotation = Annotation::url_citation("https://a.example", "A");
    annotation.unknown.push("mark", mark());
    let mut item = Item::default();
    item.kind = "web_search_call".into();
    item.unknown.push("mark", mark());
    let events = [
        StreamEvent::text("Hi"),
        StreamEvent::annotation(annotation),
        StreamEvent::item(item),
    ];
    let (mut session, mut out) = session();
    for event in events {
        session.output(&event, &mut out).unwrap();
    }
    assert!(frame.is_unique(), "slices of the event are kept");
    session.finish(&mut out);
    let checked = check(std::str::from_utf8(&out).unwrap(), End::Completed);
    let output = &checked.response["output"];
    assert_eq!(output[0]["content"][0]["annotations"][0]["mark"], 1);
    assert_eq!(output[1]["mark"], 1);
}

/// An agent may still be at work when it has ended its response. Clients read nothing behind the end.
#[test]
fn a_keep_alive_behind_the_end_is_no_event() {
    let (mut session, mut out) = session();
    let ending = Ending::Incomplete("content_filter".into());
    session.ending(&ending, &mut out).unwrap();
    session.keep_alive(Framing::Sse, &mut out);
    let stream = String::from_utf8(out).unwrap();
    let (_, behind) = stream.split_once("data: [DONE]\n\n").unwrap();
    assert_eq!(behind, ": ping\n\n");
}
