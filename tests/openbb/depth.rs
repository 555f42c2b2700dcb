//! Deep nesting: values as deep as a body allows are read, checked and written, and never overflow
//! the stack.

use copilot_wire::json::Wire as _;
use copilot_wire::openbb::{
    Artifact, Era, Event, Feedback, FunctionCall, OpenBb, QueryRequest, State, StatusUpdate, agents,
};
use copilot_wire::protocol::{Conversation, Part, Protocol, ToolCall};

use crate::{decode, env, json, output_event, plain, read, send};

/// A depth far larger than the stack.
const DEEP: usize = 30_000;

/// Returns nested arrays and nested objects.
fn nested() -> [String; 2] {
    let of = |open: &str, inside: &str, close: &str| {
        format!("{}{inside}{}", open.repeat(DEEP), close.repeat(DEEP))
    };
    [of("[", "", "]"), of(r#"{"a":"#, "1", "}")]
}

/// Returns the encoded length of an event. The reader of the other tests is recursive and cannot be
/// used.
fn write(event: Event) -> usize {
    let mut out = Vec::new();
    send(
        &mut OpenBb::session(&plain(), &(), &env()),
        &event,
        &mut out,
    )
    .unwrap();
    out.len()
}

fn ask(request: &QueryRequest) {
    let mut session = OpenBb::session(request, &(), &env());
    let _ = (
        Era::from_request(request),
        request.prompt(),
        request.dialog_decision(),
    );
    let _ = (request.messages().count(), request.documents().count());
    let _ = (request.option("x"), request.delegation());
    let state = State::new("state", 1).take::<serde_json::Value>(request);
    let call = FunctionCall::raw("f", json("{}")).state_from(request);
    let _ = (state.is_ok(), (OpenBb::EXTRAS.next_call)(request));
    let _ = (write(call.into()), request.extra_citations());
    for tool in request.tools() {
        let call = ToolCall::new(&*tool.name, &json("{}")).unwrap();
        let _ = session.part(Part::Calls(std::slice::from_ref(&call)), &mut Vec::new());
    }
    let _ = request.results().count();
    for result in request.call_results() {
        let _ = (result.data_sources(), result.call);
        for outcome in &result.outcomes {
            let _ = (outcome.text(), outcome.rows::<serde_json::Value>().is_ok());
            let _ = outcome.param_options();
        }
    }
}

#[test]
fn every_member_of_a_request() {
    let whole = [
        "query",
        "context",
        "widgets",
        "urls",
        "api_keys",
        "workspace_state",
        "workspace_options",
        "tools",
        "extra_state",
        "use_docs",
        "unknown",
    ];
    let whole = whole.map(|member| format!(r#""{member}":DEEP"#));
    let inside = [
        r#""context":[{"uuid":"u","data":DEEP}]"#,
        r#""context":[{"uuid":"u","content":DEEP}]"#,
        r#""widgets":[{"uuid":"u","metadata":DEEP,"columns":DEEP,"unknown":DEEP}]"#,
        r#""widgets":[{"uuid":"u","params":[{"name":"p","current_value":DEEP,"options":[DEEP]}]}]"#,
        r#""tools":[{"server_id":"1","name":"a_b","input_schema":DEEP}]"#,
        r#""workspace_options":{"x":DEEP}"#,
        r#""messages":[{"role":"ai","content":DEEP}]"#,
        r#""messages":[{"role":"ai","content":"DEEP"}]"#,
        r#""messages":[{"role":"ai","content":{"function":"f","input_arguments":DEEP}}]"#,
        r#""messages":[{"role":"tool","function":"f","input_arguments":{"data_sources":DEEP}}]"#,
        r#""messages":[{"role":"tool","function":"f","data":DEEP}]"#,
        r#""messages":[{"role":"tool","function":"f","data":[{"items":[{"content":DEEP}]}]}]"#,
        r#""messages":[{"role":"tool","function":"f","data":[{"items":[{"content":"DEEP"}]}]}]"#,
        r#""messages":[{"role":"tool","function":"execute_agent_tool","data":[{"items":[{"content":"DEEP"}]}]}]"#,
        r#""messages":[{"role":"tool","function":"f","data":[],"extra_state":DEEP}]"#,
        r#""messages":[{"role":"tool","function":"f","data":[],"extra_state":{"state":{"version":1,"value":DEEP}}}]"#,
        r#""messages":[{"role":"tool","function":"f","data":[],"extra_state":{"pending_bridge_calls":[DEEP]}}]"#,
    ];
    let members = whole.iter().map(String::as_str).chain(inside);
    for (member, deep) in members.flat_map(|member| nested().map(|deep| (member, deep))) {
        let quoted = deep.replace('"', r#"\""#);
        let member = member.replace(r#""DEEP""#, &format!(r#""{quoted}""#));
        let member = member.replace("DEEP", &deep);
        let body = format!(r#"{{"messages":[{{"role":"human","content":"hi"}}],{member}}}"#);
        let request = read(body.clone());
        ask(&request);
        assert!(request.to_json().len() + 50 > body.len());
    }
}

/// A block of a stream is smaller than the body of a request, so one member at a time is deep.
#[test]
fn every_event() {
    let events = [
        ("copilotMessageChunk", r#"{"delta":"x","more":DEEP}"#),
        (
            "copilotStatusUpdate",
            r#"{"details":[DEEP],"artifacts":DEEP,"more":DEEP}"#,
        ),
        (
            "copilotMessageArtifact",
            r#"{"content":DEEP,"chart_params":{"yKey":DEEP}}"#,
        ),
        (
            "copilotCitationCollection",
            r#"{"citations":[{"id":"i","source_info":{"metadata":DEEP},"quote_bounding_boxes":[[DEEP]]}]}"#,
        ),
        ("copilotPromptSuggestions", r#"{"suggestions":[DEEP]}"#),
        ("copilotTokenUsage", r#"{"breakdown":[{"value":DEEP}]}"#),
        ("copilotConversationSummary", r#"{"content":DEEP}"#),
        (
            "copilotFunctionCall",
            r#"{"function":"f","input_arguments":{"a":DEEP},"extra_state":DEEP}"#,
        ),
        ("copilotNews", "DEEP"),
    ];
    for ((name, data), deep) in events
        .into_iter()
        .flat_map(|event| nested().map(|deep| (event, deep)))
    {
        let data = data.replacen("DEEP", &deep, 1).replace("DEEP", "[]");
        let found = decode(format!("event: {name}\ndata: {data}\n\n").as_bytes());
        assert_eq!(found.unwrap().len(), 1, "{name}");
    }
}

/// All other input gives a value or an error.
#[test]
fn everything_else_that_is_read() {
    for deep in nested() {
        let feedback = format!(r#"{{"vote":"thumbs_up","tags":{deep},"more":{deep}}}"#);
        assert!(Feedback::from_json(feedback.as_bytes()).is_ok());
        let (parts, ()) = http::Request::new(()).into_parts();
        assert!(OpenBb::read(&parts, deep.clone().into()).is_err());
        let document = format!(r#"{{"a":{{"features":{deep},"models":[{deep}]}},"b":{deep}}}"#);
        assert!(!agents(&document.into()).unwrap().is_empty());
        let value = json(&deep);
        let table = Artifact::table(&json(&format!(r#"[{{"a":{deep}}}]"#))).unwrap();
        let step = StatusUpdate::info("m").detail(&value).unwrap();
        assert!(write(output_event(step.artifact(table))) > deep.len());
    }
}

/// A schema as deep as its arguments.
#[test]
fn a_schema_and_its_arguments() {
    let schema = format!("{}{{}}{}", r#"{"items":"#.repeat(DEEP), "}".repeat(DEEP));
    let members = format!(r#"{{"properties":{{"l":{schema}}}}}"#);
    let [lists, _] = nested();
    let request = read(format!(
        r#"{{"messages":[{{}}],"tools":[{{"server_id":"1","name":"a_b","input_schema":{members}}}]}}"#
    ));
    let call = ToolCall::new("a_b", &json(&format!(r#"{{"l":{lists}}}"#))).unwrap();
    let mut out = Vec::new();
    let mut session = OpenBb::session(&request, &(), &env());
    session
        .part(Part::Calls(std::slice::from_ref(&call)), &mut out)
        .unwrap();
    assert!(out.len() > lists.len());
}
