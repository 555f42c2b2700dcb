//! Events, written and read.

use copilot_wire::event_name;
use copilot_wire::json::{Json, Members, Wire as _};
use copilot_wire::openbb::{
    Artifact, ArtifactType, BoundingBox, Citation, CitationCollection, ConversationSummary, Event,
    EventType, FunctionCall, OpenBb, Output, PromptSuggestions, QueryDataSource, RawEvent,
    SourceInfo, StatusUpdate, TokenUsage,
};
use copilot_wire::protocol::{ChartKind, EventError, Protocol, SendError};
use copilot_wire::sse::EventName;
use serde_json::json;

use crate::{data, decode, encode, fixture, fixtures, output_event, plain, workspace};

#[test]
fn every_recorded_stream_is_read() {
    for name in fixtures("streams/", ".sse") {
        let events = decode(&fixture(&name));
        if name == "streams/legacy_python_repr_NOT_JSON.sse" {
            assert!(matches!(events, Err(EventError::Data(_))), "{events:?}");
            continue;
        }
        let events = events.unwrap();
        assert!(!events.is_empty());
        let unknown = |event: &&Event| matches!(event, Event::Output(Output::Raw(_)));
        assert_eq!(events.iter().find(unknown), None, "{name}");
        // Events that were read are written in the same form, and read as equal.
        let written = encode(&plain(), events.clone()).unwrap();
        assert_eq!(decode(&written).unwrap(), events, "{name}");
    }
}

#[test]
fn what_the_recorded_streams_say() {
    let text: String = decode(&fixture("streams/full_turn_with_ping.sse"))
        .unwrap()
        .into_iter()
        .filter_map(|event| match event {
            Event::Output(Output::MessageChunk(text)) => Some(text),
            _ => None,
        })
        .collect();
    assert_eq!(text, "The answer.");
    let drafts = decode(&fixture("streams/draft_events.sse")).unwrap();
    let Event::Output(Output::TokenUsage(usage)) = &drafts[0] else {
        panic!()
    };
    assert_eq!((usage.total, usage.breakdown.len()), (Some(120), 2));
    let Event::Output(Output::ConversationSummary(summary)) = &drafts[1] else {
        panic!()
    };
    assert_eq!(summary.covered_through_message_id, "m2");
    let legacy = decode(&fixture("streams/legacy_function_call_widget_uuid.sse")).unwrap();
    let Event::FunctionCall(call) = &legacy[0] else {
        panic!()
    };
    assert!(call.copilot_function_call_arguments.is_some() && call.extra_state.is_none());
    let newer = decode(&fixture("streams/newer_client_functions_lf.sse")).unwrap();
    let Event::Output(Output::StatusUpdate(status)) = &newer[0] else {
        panic!()
    };
    assert_eq!(
        (status.group.as_str(), status.details.is_none()),
        ("planning", true)
    );
}

#[test]
fn events_that_break_their_promise() {
    let event =
        |name: &str, data: &str| decode(format!("event: {name}\ndata: {data}\n\n").as_bytes());
    for (name, text) in [
        ("copilotMessageChunk", "{}"),
        ("copilotMessageChunk", r#"{"delta":7}"#),
        ("copilotFunctionCall", r#"{"function":"f"}"#),
        (
            "copilotFunctionCall",
            r#"{"function":"f","input_arguments":[]}"#,
        ),
        ("copilotStatusUpdate", "7"),
        ("copilotCitationCollection", r#"{"citations":7}"#),
        ("copilotPromptSuggestions", "{}"),
    ] {
        assert!(
            matches!(event(name, text), Err(EventError::Invalid(_))),
            "{name} {text}"
        );
    }
    assert!(matches!(
        event("copilotMessageChunk", "[DONE]"),
        Err(EventError::Data(_))
    ));
    let raw = event("copilotNews", "[1]").unwrap();
    let Event::Output(Output::Raw(raw)) = &raw[0] else {
        panic!()
    };
    assert_eq!((raw.name(), raw.data().text()), ("copilotNews", "[1]"));
    let tolerant = event(
        "copilotStatusUpdate",
        r#"{"eventType":"SUCCESS","message":null,"new":1}"#,
    );
    let tolerant = tolerant.unwrap();
    let Event::Output(Output::StatusUpdate(status)) = &tolerant[0] else {
        panic!()
    };
    assert_eq!(status.event_type, EventType::Other("SUCCESS".into()));
    assert_eq!(status.unknown.len(), 1 + 1);
}

fn rows() -> serde_json::Value {
    json!([{"x": 1, "y": 2.5, "s": "a", "n": null}, {"x": 2, "y": 3}])
}

fn line() -> ChartKind {
    ChartKind::Line {
        x: "x".into(),
        y: vec!["y".into()],
    }
}

/// Returns the result of every constructor.
pub(crate) fn constructors() -> Vec<Event> {
    let axes = |make: fn(String, Vec<String>) -> ChartKind| make("x".into(), vec!["y".into()]);
    let kinds = [
        axes(|x, y| ChartKind::Line { x, y }),
        axes(|x, y| ChartKind::Bar { x, y }),
        axes(|x, y| ChartKind::Scatter { x, y }),
        ChartKind::Pie {
            angle: "y".into(),
            label: "s".into(),
        },
        ChartKind::Donut {
            angle: "y".into(),
            label: "s".into(),
        },
    ];
    let mut events: Vec<Event> = vec![
        output_event("text \u{2028}\u{2029}\r\n\"\\\0"),
        output_event(StatusUpdate::info("one")),
        output_event(
            StatusUpdate::warning("two")
                .detail("a text")
                .unwrap()
                .detail(&rows()[0])
                .unwrap(),
        ),
        output_event(StatusUpdate::error_deleting_last_call("three").hidden()),
        output_event(StatusUpdate::info("four").artifact(Artifact::table(&rows()).unwrap())),
        output_event(
            Artifact::table(&rows())
                .unwrap()
                .name("A \"table\"")
                .description("of mine"),
        ),
        output_event(Artifact::table(&json!([])).unwrap()),
        output_event(Artifact::text("note", "# Title")),
        output_event(Artifact::html("page", "<p>\u{2028}</p>")),
        output_event(Artifact::snowflake_query(
            "q",
            "select 1",
            QueryDataSource::new("sf", "t", "u"),
        )),
        output_event(Artifact::snowflake_python("p", "print()")),
        output_event(Artifact::app("app", &json!({"name": "n", "tabs": {}}), &json!([])).unwrap()),
        output_event(Artifact::raw("newest", "r", crate::json("[1]"))),
        output_event(CitationCollection::new([
            Citation::web("https://example.com")
                .description("page")
                .detail(&json!({"Name": "E"}))
                .unwrap()
                .quote([BoundingBox::new("q", 1, [1.0, 2.5, 3.0, 4.0])]),
            Citation::artifact("3fa85f64-5717-4562-b3fc-2c963f66afa6", "T"),
        ])),
        output_event(PromptSuggestions::new(["a", "b"])),
        output_event(TokenUsage::new([("input", 100), ("output", 20)])),
        output_event(ConversationSummary::new("short", "m2")),
        output_event(RawEvent::new(&event_name!("copilotNews"), &json!({"a": null})).unwrap()),
    ];
    events.extend(
        kinds
            .iter()
            .map(|kind| output_event(Artifact::chart(kind, &rows()).unwrap())),
    );
    events
}

/// The Workspace accepts the events of all constructors, and they are read as equal.
#[test]
fn every_constructor() {
    let mut events = constructors();
    events.push(FunctionCall::new("save_skill", &json!({})).unwrap().into());
    let written = encode(&plain(), events.clone()).unwrap();
    assert_eq!(decode(&written).unwrap(), events);
    let turn = workspace::read(&written).unwrap();
    assert_eq!((turn.artifacts.len(), turn.citations.len()), (8 + 5, 2));
    assert_eq!(
        turn.unknown,
        [
            "copilotTokenUsage",
            "copilotConversationSummary",
            "copilotNews"
        ]
    );
}

/// The official SDK plots such rows too.
#[test]
fn charts_of_rows_that_lack_a_column() {
    let (x, z) = (|| "x".to_owned(), || "z".to_owned());
    for kind in [
        ChartKind::Line {
            x: x(),
            y: vec![z()],
        },
        ChartKind::Bar {
            x: z(),
            y: vec![x()],
        },
        ChartKind::Scatter {
            x: x(),
            y: vec![z()],
        },
        ChartKind::Donut {
            angle: z(),
            label: z(),
        },
    ] {
        let chart = Artifact::chart(&kind, &rows()).unwrap();
        let chart = String::from_utf8(chart.to_json().to_vec()).unwrap();
        assert!(chart.contains("\"z\""), "{chart}");
    }
}

#[test]
fn details_of_which_nothing_is_left_give_no_row() {
    let details = json!({"id": 1, "URL": "u"});
    let status = StatusUpdate::info("Loaded").detail(&details).unwrap();
    let status = status.detail(&json!({})).unwrap().detail("text").unwrap();
    assert_eq!(status.details.map(|details| details.len()), Some(1));
    let source = SourceInfo::new("widget");
    let citation = Citation::new(source).detail(&json!({"uuid": "u"})).unwrap();
    assert_eq!(citation.details, None);
}

#[test]
fn artifacts_that_cannot_be_made() {
    let invalid = |made: Result<Artifact, SendError>| match made {
        Err(SendError::Invalid(reason)) => reason,
        other => panic!("{other:?}"),
    };
    for rows in [json!({"a": 1}), json!([1])] {
        assert_eq!(
            invalid(Artifact::table(&rows)),
            "rows must be an array of objects"
        );
    }
    let chart = |kind: ChartKind| invalid(Artifact::chart(&kind, &rows()));
    let x = || "x".to_owned();
    for (x, y) in [(x(), vec![]), (String::new(), vec![x()])] {
        assert_eq!(
            chart(ChartKind::Line { x, y }),
            "a chart needs members for its axes"
        );
    }
    let number = "member \"s\" must be a number in every row";
    let (s, y) = ("s".to_owned(), vec![x()]);
    assert_eq!(chart(ChartKind::Scatter { x: s.clone(), y }), number);
    assert_eq!(
        chart(ChartKind::Pie {
            angle: s,
            label: x()
        }),
        number
    );
    assert!(RawEvent::new(&event_name!("copilotFunctionCall"), &json!({})).is_err());
}

#[test]
fn names_are_unique_in_a_chat() {
    let request = crate::request("v2_repost_as_sent_by_workspace");
    let named = |name: &str| Artifact::table(&rows()).unwrap().name(name);
    let mut shown = StatusUpdate::info("step").artifact(named("T"));
    shown.artifacts.get_or_insert_default().push(named("T"));
    let events = [
        // An earlier answer has a table with this name.
        output_event(named("Table_1a2b")),
        output_event(named("T")),
        output_event(shown),
        output_event(named("T").uuid("u")),
        output_event(named("T").uuid("u").name("T 4")),
    ];
    let out = encode(&request, events).unwrap();
    let turn = workspace::read(&out).unwrap();
    let names: Vec<_> = turn
        .artifacts
        .iter()
        .map(|artifact| artifact["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["Table_1a2b 2", "T", "T 4", "T 4"]);
    let steps: Vec<_> = turn.steps[0]["artifacts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|artifact| artifact["name"].clone())
        .collect();
    assert_eq!(steps, ["T 2", "T 3"]);
    // An artifact of the context may be sent again with its name: it has the same id.
    let again = output_event(named("Table_1a2b").uuid("3fa85f64-5717-4562-b3fc-2c963f66afa6"));
    let turn = workspace::read(&encode(&request, [again]).unwrap()).unwrap();
    assert_eq!(turn.artifacts[0]["name"], "Table_1a2b");
}

/// Two new artifacts with the same name in one step get different names.
#[test]
fn names_are_unique_in_a_step() {
    let named = |name: &str| Artifact::table(&rows()).unwrap().name(name);
    let one = named("X").uuid("u");
    let step = StatusUpdate::info("step")
        .artifact(one.clone())
        .artifact(named("X"))
        .artifact(named("Y"))
        // The same artifact again has the same name.
        .artifact(one);
    let out = encode(&plain(), [output_event(step)]).unwrap();
    let turn = workspace::read(&out).unwrap();
    let shown = turn.steps[0]["artifacts"].as_array().unwrap();
    let names: Vec<_> = shown.iter().map(|shown| shown["name"].clone()).collect();
    assert_eq!(names, ["X", "X 2", "Y", "X"]);
}

/// The Workspace ends a name at U+2028 and U+2029: the part before would be another event.
#[test]
fn a_name_that_the_workspace_cuts() {
    let none = json!({"function": "save_skill", "input_arguments": {}});
    for separator in ['\u{2028}', '\u{2029}'] {
        let name = format!("copilotFunctionCall{separator}");
        let stream = format!("event: {name}\ndata: {none}\n\n");
        assert!(workspace::read(stream.as_bytes()).unwrap().call.is_some());
        let made = RawEvent::new(&EventName::try_from(&*name).unwrap(), &none);
        let reason = "event name has a line separator at byte 19".to_owned();
        assert_eq!(made, Err(SendError::Invalid(reason)));
        // Such names of other servers are read, but not written.
        let read = decode(stream.as_bytes()).unwrap();
        let error = encode(&plain(), read).unwrap_err().to_string();
        assert_eq!(
            error,
            "not valid in this protocol: event name has a line separator at byte 19"
        );
    }
}

#[test]
fn names_and_ids_without_asking() {
    let one = Artifact::table(&rows()).unwrap();
    let two = Artifact::table(&rows()).unwrap();
    assert_ne!(one.uuid, two.uuid);
    assert!(
        one.name.starts_with("Table_") && one.name.len() == 10,
        "{}",
        one.name
    );
    assert_eq!(one.description, "A table of data");
    let chart = Artifact::chart(&line(), &rows())
        .unwrap()
        .name("")
        .description("");
    assert_eq!(
        (chart.name.as_str(), chart.description.as_str()),
        ("line chart", "A line chart of data")
    );
    assert_eq!(chart.kind, ArtifactType::Chart);
    assert!(!Citation::web("u").id.is_empty());
    let mut without = Citation::web("u");
    without.id = String::new();
    assert!(encode(&plain(), [output_event(without)]).is_err());
    assert!(Artifact::text("", "x").name.starts_with("Text_"));
}

/// Details are filtered; the caller's value is unchanged.
#[test]
fn details_are_filtered() {
    let keys = [
        "lastUpdated",
        "SOURCE",
        "id",
        "uuid",
        "storedFileUuid",
        "dataKey",
        "originalFilename",
        "extension",
        "category",
        "subCategory",
        "transcript_url",
    ];
    let mut value = serde_json::Map::new();
    for key in keys {
        value.insert(key.into(), 1.into());
    }
    value.insert("Kept".into(), json!({"gone": null, "id": 1}));
    value.insert("url".into(), 1.into());
    let before = value.clone();
    let status = StatusUpdate::info("m").detail(&value).unwrap();
    assert_eq!(
        status.details.unwrap().first().unwrap().text(),
        r#"{"Kept":{"gone":null,"id":1}}"#
    );
    let citation = Citation::web("u").detail(&value).unwrap();
    assert_eq!(
        citation.details.unwrap().first().unwrap().text(),
        r#"{"Kept":{"gone":null,"id":1},"url":1}"#
    );
    assert_eq!(value, before);
}

#[test]
fn no_null_of_ours_and_every_null_of_the_user() {
    let table = Artifact::table(&json!([{"a": null}]))
        .unwrap()
        .uuid("u")
        .name("T")
        .description("d");
    assert_eq!(
        data(&plain(), output_event(table)).unwrap(),
        r#"{"type":"table","name":"T","description":"d","uuid":"u","content":[{"a":null}]}"#,
    );
    let mut source = SourceInfo::new("widget");
    source.metadata = Some(crate::json(r#"{"x":null}"#));
    let citation = Citation::new(source).id("i");
    assert_eq!(
        data(&plain(), output_event(citation)).unwrap(),
        r#"{"citations":[{"id":"i","source_info":{"type":"widget","metadata":{"x":null},"citable":true}}]}"#,
    );
    let step = StatusUpdate::info("m").detail(&json!({"a": null})).unwrap();
    assert_eq!(
        data(&plain(), output_event(step)).unwrap(),
        r#"{"eventType":"INFO","message":"m","group":"reasoning","details":[{"a":null}],"hidden":false}"#,
    );
}

/// Numbers keep their digits.
#[test]
fn user_data_is_not_reprinted() {
    let raw: Json = crate::json(r#"[{"big":123456789012345678901234567890,"e":1e300,"f":1.50}]"#);
    let table = Artifact::table(&raw).unwrap();
    assert!(
        data(&plain(), output_event(table))
            .unwrap()
            .contains(raw.text())
    );
    let mut members = Members::new();
    members.push("n", crate::json("1.50"));
    let step = StatusUpdate::info("m").detail(&members).unwrap();
    assert!(
        data(&plain(), output_event(step))
            .unwrap()
            .contains(r#"{"n":1.50}"#)
    );
}

/// Short texts have a separate code path, with the same bytes.
#[test]
fn text_of_any_length_is_escaped() {
    let others = [
        "\"", "\\", "\n", "\u{1f}", "\u{7f}", "é", "\u{2028}", "\u{2027}", "🦀",
    ];
    for (length, other) in (0..24).flat_map(|length| others.map(|other| (length, other))) {
        let clean: String = ('a'..='z').take(length).collect();
        let places = (0..=length).map(|at| {
            let mut text = clean.clone();
            text.insert_str(at, other);
            text
        });
        let mut session = OpenBb::session(&plain(), &(), &crate::env());
        for text in places
            .chain([clean.clone()])
            .filter(|text| !text.is_empty())
        {
            let quoted = serde_json::to_string(&text).unwrap();
            let quoted = quoted.replace('\u{2028}', "\\u2028");
            let expected = format!("event: copilotMessageChunk\ndata: {{\"delta\":{quoted}}}\n\n");
            for room in [0, 63, 64, 512] {
                let mut out = Vec::with_capacity(room);
                session.text(&text, &mut out).unwrap();
                assert_eq!(str::from_utf8(&out), Ok(&*expected));
            }
        }
    }
}
