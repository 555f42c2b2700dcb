//! Bugs of the official SDK (openbb-ai 2.2.0), each as a test that passes with this crate.

use copilot_wire::openbb::{
    Artifact, DataSource, Event, FunctionCall, GetWidgetData, Output, StatusUpdate,
};
use copilot_wire::protocol::Conversation;
use serde_json::json;

use crate::{called, data, decode, encode, output_event, plain, read, workspace};

/// The SDK writes U+2028 and U+2029 raw, where the Workspace ends the line.
#[test]
fn line_separators_are_escaped() {
    let text = "one\u{2028}two\u{2029}";
    let events = [
        output_event(text),
        output_event(
            StatusUpdate::info(text)
                .detail(&json!({text: text}))
                .unwrap(),
        ),
        output_event(Artifact::table(&json!([{text: text}])).unwrap().name(text)),
        FunctionCall::new("save_skill", &json!({"name": text}))
            .unwrap()
            .into(),
    ];
    let out = encode(&plain(), events.clone()).unwrap();
    assert!(
        !String::from_utf8(out.clone())
            .unwrap()
            .contains(['\u{2028}', '\u{2029}'])
    );
    assert_eq!(decode(&out).unwrap(), events);
    let raw: Artifact = Artifact::raw("x", "y", crate::json("\"\u{2028}\""));
    encode(&plain(), [output_event(raw)]).unwrap();
}

/// The documentation of the SDK has the event type `SUCCESS`, which the SDK refuses.
#[test]
fn success_is_read() {
    let events = decode(
        b"event: copilotStatusUpdate\ndata: {\"eventType\":\"SUCCESS\",\"message\":\"m\"}\n\n",
    )
    .unwrap();
    let Event::Output(Output::StatusUpdate(status)) = &events[0] else {
        panic!()
    };
    assert_eq!(status.event_type.as_str(), "SUCCESS");
    encode(&plain(), events).unwrap();
}

/// The SDK refuses the complete request (422) for any one of these; this crate accepts it.
#[test]
fn one_invalid_value_does_not_affect_others() {
    let with = |member: &str| {
        let request = read(format!(
            r#"{{"messages":[{{"role":"human","content":"hi"}}],{member}}}"#
        ));
        assert_eq!(request.prompt().unwrap(), "hi", "{member}");
        request
    };
    let widget = |widget: &str| {
        let request = with(&format!(
            r#""widgets":{{"primary":[{{"origin":"o","widget_id":"w","name":"n","description":"d","metadata":{{}},{widget}}}]}}"#
        ));
        assert_eq!(request.widgets().count(), 1, "{widget}");
        request
    };
    widget(r#""params":[{"name":"a","type":"colour","description":"d"}]"#);
    widget(r#""params":[],"uuid":"global::B::x::h""#);
    with(r#""timezone":null"#);
    with(r#""workspace_options":null"#);
    assert!(
        with(r#""workspace_options":["web-search"]"#)
            .option("web-search")
            .is_on()
    );
    with(r#""widgets":{"primary":[],"secondary":null}"#);
    let result = |entry: &str| {
        let request = read(format!(
            r#"{{"messages":[{{"role":"human","content":"hi"}},{{"role":"tool","function":"f","input_arguments":null,"extra_state":null,"data":[{entry},{{"items":[{{"content":"x"}}]}}]}}]}}"#
        ));
        let outcomes = request.last_result().unwrap().outcomes;
        assert_eq!(outcomes[1].text(), "x", "{entry}");
    };
    result(r#"{"items":[{"content":"x","data_format":{"data_type":"parquet","filename":"f"}}]}"#);
    result(r#"{"no":"such entry"}"#);
    result(r#"{"ok":true,"command":"x"}"#);
    // Two parameters with the same name cause status 500 in the SDK.
    let twice =
        widget(r#""params":[{"name":"a","current_value":1},{"name":"a","current_value":2}]"#);
    assert_eq!(twice.widgets().next().unwrap().1.params.len(), 2);
    // The SDK requires the `type`, which its documentation calls optional.
    let dependent = widget(
        r#""params":[{"name":"a","type":"endpoint","get_options":true,"options_params":[{"name":"b","inherit_value_from":"c"}]}]"#,
    );
    let (_, widget) = dependent.widgets().next().unwrap();
    assert_eq!(
        widget
            .param("a")
            .unwrap()
            .options_params
            .first()
            .unwrap()
            .name,
        "b"
    );
}

/// The SDK accepts rows in `data` beside an empty `content`, and drops them.
#[test]
fn rows_beside_an_empty_content_are_kept() {
    let result = crate::request("e2_tool_result_rows_in_data")
        .last_result()
        .unwrap();
    assert_eq!(result.rows::<serde_json::Value>().unwrap().len(), 1);
}

/// The SDK treats JSON that a user pasted as a call.
#[test]
fn a_person_never_calls() {
    let pasted = r#"{"function":"get_widget_data","input_arguments":{}}"#;
    let body = json!({"messages": [{"role": "human", "content": pasted}]}).to_string();
    let request = read(body);
    assert_eq!(request.prompt().unwrap(), pasted);
    assert!(request.messages.first().unwrap().call().is_none());
}

/// The SDK's `get_widget_data` sends no state; the published Workspace then drops the result.
#[test]
fn every_call_carries_a_state() {
    let call = called(&plain(), GetWidgetData::new([DataSource::new("o", "i")])).unwrap();
    assert!(call.get("extra_state").unwrap().members().next().is_some());
}

/// The SDK's test parser fails on `data:` inside a text, on a leading ping, and on `true` and
/// `null` in a call.
#[test]
fn streams_are_parsed_by_the_standard() {
    let events = [
        output_event("data: x\n\nevent: y\r\rdata:"),
        FunctionCall::new("save_skill", &json!({"a": true, "b": null}))
            .unwrap()
            .into(),
    ];
    let mut stream = b": ping\n\n".to_vec();
    stream.extend(encode(&plain(), events.clone()).unwrap());
    assert_eq!(decode(&stream).unwrap(), events);
    for at in 0..stream.len() {
        let mut decoder =
            copilot_wire::protocol::EventDecoder::<copilot_wire::openbb::OpenBb>::new();
        let mut found = Vec::new();
        for mut piece in [&stream[..at], &stream[at..]] {
            while let Some(event) = decoder.next(&mut piece).unwrap() {
                found.push(event.clone());
            }
        }
        assert_eq!(found, events);
    }
}

/// The SDK's helpers remove keys from the caller's own details.
#[test]
fn the_callers_data_stays_whole() {
    let details = json!({"id": 1, "Rows": 2});
    let _ = StatusUpdate::info("m").detail(&details).unwrap();
    assert_eq!(details, json!({"id": 1, "Rows": 2}));
}

/// The SDK cannot send the functions and artifacts since July 2026.
#[test]
fn closed_lists_have_a_way_out() {
    let app = Artifact::app("a", &json!({"name": "a", "tabs": {}}), &json!([])).unwrap();
    let turn = workspace::read(&encode(&plain(), [output_event(app)]).unwrap()).unwrap();
    assert_eq!(turn.artifacts[0]["type"], "app");
    let request = crate::request("v2_bridge_result_and_documents");
    let sql = FunctionCall::new(
        "execute_client_sql",
        &json!({"queries": [{"sql": "s", "widget_uuids": ["w"]}]}),
    );
    assert!(data(&request, sql.unwrap()).is_ok());
}

/// The SDK drops unknown members: skills, documents, the model, semantic views.
#[test]
fn the_newest_members_are_there() {
    let request = read(
        r#"{"messages":[{"role":"human","content":"hi"}],"model":"m","semantic_views":["A.B.C"],
            "available_semantic_views":[{"x":1}],"documents":[{"id":"1"}],"skills_catalog":[{"slug":"s"}]}"#,
    );
    assert_eq!(request.model, "m");
    assert_eq!(request.semantic_views.first().unwrap(), "A.B.C");
    assert_eq!(request.documents.len(), 1);
    assert_eq!(request.skills_catalog.first().unwrap().slug, "s");
    assert!(request.unknown.get("available_semantic_views").is_some());
}
