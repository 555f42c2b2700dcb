//! Linear time: everything in a request that can be repeated is repeated often, and all accessors
//! and writers must take proportional time. Quadratic work would take minutes; there is no
//! assertion on time.

use copilot_wire::openbb::{
    Artifact, Era, FunctionCall, OpenBb, QueryRequest, Reply, StatusUpdate, pieces, strip_markers,
};
use copilot_wire::protocol::{
    Citation, Conversation, Part, Protocol, SendError, Session, ToolCall,
};

use crate::{decode, env, read};

/// The number of repetitions of something small.
const MANY: usize = 100_000;

/// The number of repetitions of something that takes some microseconds in a debug build.
const SOME: usize = 20_000;

/// Returns an array of elements that contain their index.
fn list(count: usize, element: impl Fn(usize) -> String) -> String {
    let elements: Vec<_> = (0..count).map(element).collect();
    format!("[{}]", elements.join(","))
}

fn same(count: usize, element: &str) -> String {
    list(count, |_| element.to_owned())
}

/// Returns `{"k0":VALUE,"k1":VALUE,...}`.
fn members(count: usize, value: &str) -> String {
    let members: Vec<_> = (0..count).map(|at| format!(r#""k{at}":{value}"#)).collect();
    format!("{{{}}}", members.join(","))
}

/// Returns a request with a message of the user and further members.
fn with(more: &str) -> QueryRequest {
    read(format!(
        r#"{{"messages":[{{"role":"human","content":"hi"}}],{more}}}"#
    ))
}

/// Returns a request that ends with the result of a call.
fn answered(function: &str, arguments: &str, more: &str) -> QueryRequest {
    read(format!(
        r#"{{"messages":[{{"role":"tool","function":"{function}","input_arguments":{arguments},{more}}}]}}"#
    ))
}

fn session(request: &QueryRequest) -> Session<Reply> {
    OpenBb::session(request, &(), &env())
}

fn say(session: &mut Session<Reply>, word: Part<'_>) -> Result<String, SendError> {
    let mut out = Vec::new();
    session.part(word, &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

/// Calls a tool, and returns the event or the error.
fn call(request: &QueryRequest, tool: &str, arguments: &str) -> String {
    let call = ToolCall::new(tool, &crate::json(arguments)).unwrap();
    say(
        &mut session(request),
        Part::Calls(std::slice::from_ref(&call)),
    )
    .unwrap_or_else(|error| error.to_string())
}

fn tool(name: &str, schema: &str) -> QueryRequest {
    with(&format!(
        r#""tools":[{{"server_id":"1","name":"{name}","input_schema":{schema}}}]"#
    ))
}

/// Calls all accessors that a reply uses, and returns their counts.
fn ask(request: &QueryRequest) -> [usize; 5] {
    let _ = (
        session(request),
        Era::from_request(request),
        request.prompt(),
    );
    let _ = (request.dialog_answer(), request.delegation());
    let _ = (request.option("x"), request.extra_state());
    let _ = (
        (OpenBb::EXTRAS.next_call)(request),
        request.extra_citations(),
    );
    [
        request.messages().count(),
        request.documents().count(),
        request.tools().count(),
        request.results().count(),
        request.call_results().len(),
    ]
}

/// Checks the counts for a request with a list.
fn check(member: &str, list: &str, counts: [usize; 5]) {
    let shown: String = list.chars().take(80).collect();
    let request = with(&format!(r#""{member}":{list}"#));
    assert_eq!(ask(&request), counts, "{member}: {shown}");
}

#[test]
fn widgets_of_a_request() {
    let named = |at: usize| format!(r#"{{"uuid":"u{at}","name":"n{at}"}}"#);
    let numbered = |at: usize| match at % 2 {
        0 => r#"{"uuid":"u","name":"a"}"#.to_owned(),
        _ => format!(r#"{{"uuid":"u","name":"a_{}"}}"#, at / 2 + 2),
    };
    let choice = |at: usize| format!(r#"{{"label":"l","value":{at}}}"#);
    let params = list(SOME, named);
    let choices = list(SOME, choice);
    for widgets in [
        same(SOME, r#"{"uuid":"a"}"#),
        list(SOME, named),
        list(SOME, numbered),
    ] {
        check("widgets", &widgets, [1, 0, SOME, 0, 0]);
    }
    for params in [params, format!(r#"[{{"name":"p","options":{choices}}}]"#)] {
        let widgets = format!(r#"[{{"uuid":"a","params":{params}}}]"#);
        check("widgets", &widgets, [1, 0, 1, 0, 0]);
    }
}

#[test]
fn lists_of_a_request() {
    let entry = |at: usize| format!(r#"{{"uuid":"u{at}","name":"T {at}","content":"x"}}"#);
    let file = |at: usize| format!(r#"{{"id":"{at}","name":"a.txt","content_b64":"YQ=="}}"#);
    let tools = same(SOME, r#"{"server_id":"1","name":"a_b"}"#);
    let items = same(SOME, r#"{"content":"x"}"#);
    let items = format!(r#"[{{"data":{{"items":{items}}}}}]"#);
    let options = list(MANY, |at| format!(r#""o{at}=x""#));
    check("tools", &tools, [1, 0, SOME, 0, 0]);
    check("context", &list(SOME, entry), [1, SOME, 0, 0, 0]);
    check("context", &items, [1, 1, 0, 0, 0]);
    check("documents", &list(SOME, file), [1, SOME, 0, 0, 0]);
    check("workspace_options", &options, [1, 0, 0, 0, 0]);
    check("workspace_options", &members(MANY, "true"), [1, 0, 0, 0, 0]);
    check("unknown", &members(MANY, "1"), [1, 0, 0, 0, 0]);
    let message = |at: usize| format!(r#"{{"role":"ai","content":"{at}","message_id":"{at}"}}"#);
    let tool = r#"{"role":"tool","function":"execute_agent_tool","data":[{"items":[]}]}"#;
    let call = r#"{"role":"ai","content":{"function":"f","input_arguments":{}}}"#;
    let mut covered = list(SOME, message);
    covered.truncate(covered.len() - 1);
    let summary = format!(
        r#"{{"role":"summary","covered_through_message_id":"{}","content":"s"}}"#,
        SOME - 1
    );
    check("messages", &list(SOME, message), [SOME, 0, 0, 0, 0]);
    check(
        "messages",
        &format!("{covered},{summary}]"),
        [1, 0, 0, 0, 0],
    );
    check("messages", &same(SOME, tool), [0, 0, 0, SOME, SOME]);
    check("messages", &same(SOME, call), [0, 0, 0, 0, 0]);
    // Of several members with the same name the last counts.
    let lists = vec![r#"[{"role":"human","content":"x"}]"#; SOME].join(r#","messages":"#);
    check("messages", &lists, [1, 0, 0, 0, 0]);
}

#[test]
fn marks_without_an_end() {
    let artifacts = "<|start_artifact_id|>".repeat(MANY);
    let citations = "<|start_citation_id|>".repeat(MANY);
    let cited = "<|start_artifact_id|><|start_citation_id|>u<|end_citation_id|>".repeat(MANY / 2);
    let texts = [
        ("<|start_".repeat(MANY), 1, 8 * MANY),
        (format!("{artifacts}{citations}"), 1, 42 * MANY),
        (format!("{artifacts}<|end_citation_id|>"), 1, 21 * MANY + 19),
        (cited, MANY, 21 * MANY / 2),
        (
            format!("<|start_artifact_id|>T<|end_artifact_id|>{artifacts}"),
            2,
            21 * MANY,
        ),
    ];
    for (text, count, length) in texts {
        assert_eq!(pieces(&text).count(), count);
        assert_eq!(strip_markers(&text).len(), length);
        let request = with(&format!(
            r#""messages":[{{"role":"ai","content":"{text}"}}]"#
        ));
        drop(session(&request));
        assert_eq!(request.messages().next().unwrap().text.len(), length);
    }
}

#[test]
fn results_of_many_sources() {
    let widget = |at: usize| format!(r#"{{"origin":"o","widget_id":"w{at}"}}"#);
    let place = |at: usize| format!(r#"{{"origin":"o","id":"w{at}"}}"#);
    let derived = with(&format!(r#""widgets":{}"#, list(SOME, widget)));
    let ids: Vec<_> = derived
        .widgets()
        .map(|(_, widget)| widget.id().unwrap().into_owned())
        .collect();
    let id = |at: usize| format!(r#"{{"widget_uuid":"{}"}}"#, ids[at]);
    for sources in [list(SOME, place), list(SOME, id)] {
        let mut request = answered(
            "get_widget_data",
            &format!(r#"{{"data_sources":{sources}}}"#),
            &format!(r#""data":{}"#, same(SOME, r#"{"items":[]}"#)),
        );
        request.widgets.clone_from(&derived.widgets);
        let results: Vec<_> = request.results().map(|result| result.name).collect();
        assert_eq!(results.len(), SOME);
        assert_eq!(results[SOME - 1], format!("openbb_widget_w{}", SOME - 1));
    }
    let items = format!(
        r#""data":[{{"items":{}}}]"#,
        same(MANY, r#"{"content":"some text"}"#)
    );
    let one = answered("get_widget_data", "{}", &items);
    assert_eq!(one.results().next().unwrap().content.len(), 11 * MANY - 2);
    let tool = answered("execute_agent_tool", r#"{"tool_name":"a_b"}"#, &items);
    assert_eq!(tool.results().next().unwrap().content.len(), 10 * MANY - 1);
}

/// Every outcome has the name of the function.
#[test]
fn a_long_name_of_a_long_result() {
    let long = "f".repeat(4 * 1024 * 1024);
    let data = format!(r#""data":{}"#, same(SOME, r#"{"items":[]}"#));
    let named = answered(&long, "{}", &data);
    assert_eq!(named.results().last().unwrap().name, long);
    let call = format!(r#"{{"function":"{long}","input_arguments":{{}}}}"#);
    let by_call = with(&format!(
        r#""messages":[{{"role":"ai","content":{call}}},{{"role":"tool",{data}}}]"#
    ));
    assert_eq!(by_call.results().count(), SOME);
    assert_eq!(by_call.results().last().unwrap().name.len(), 256);
}

#[test]
fn citations_of_everything() {
    let widget = |at: usize| format!(r#"{{"origin":"o","widget_id":"w{at}"}}"#);
    let entry = |at: usize| format!(r#"{{"uuid":"u{at}","name":"T"}}"#);
    let request = with(&format!(
        r#""widgets":{{"primary":{}}},"context":{}"#,
        list(SOME, widget),
        list(SOME, entry)
    ));
    let mut session = session(&request);
    let mut cite = |document: String| {
        let citation = Citation::new("t").document(&*document);
        say(&mut session, Part::Cite(&citation)).unwrap()
    };
    for at in 0..SOME {
        let widget = cite(format!("openbb_widget_w{at}"));
        assert!(widget.contains(&format!(r#""widget_id":"w{at}""#)));
        assert!(cite(format!("u{at}")).contains(r#""artifact""#));
    }
    assert!(cite("nowhere".into()).contains("direct retrieval"));
}

#[test]
fn calls_with_many_arguments() {
    let params = list(SOME, |at| {
        format!(r#"{{"name":"k{at}","type":"number","current_value":0}}"#)
    });
    let widget = with(&format!(
        r#""widgets":{{"primary":[{{"origin":"o","widget_id":"w","params":{params}}}]}}"#
    ));
    let sent = call(&widget, "openbb_widget_w", &members(SOME, "1"));
    assert!(sent.contains(&format!(r#""input_args":{}"#, members(SOME, "1"))));
    let numbers = list(SOME, |at| at.to_string());
    let names = list(SOME, |at| format!(r#""k{at}""#));
    let long = "n".repeat(SOME);
    let list_of = |element: &str, count: usize| format!(r#"{{"l":{}}}"#, same(count, element));
    let items = |schema: &str| format!(r#"{{"properties":{{"l":{{"items":{schema}}}}}}}"#);
    let cases = [
        (
            format!(
                r#"{{"required":{names},"properties":{}}}"#,
                members(SOME, r#"{"type":"number"}"#)
            ),
            members(SOME, "1"),
        ),
        (
            items(&format!(r#"{{"enum":{numbers}}}"#)),
            list_of(&(SOME - 1).to_string(), SOME),
        ),
        (
            items(&format!(r#"{{"enum":{names}}}"#)),
            list_of(&format!(r#""k{}""#, SOME - 1), SOME),
        ),
        (
            items(&format!(
                r#"{{"type":{}}}"#,
                same(SOME, r#""null""#).replace("null\"]", "object\"]")
            )),
            list_of("{}", SOME),
        ),
        (
            items(&format!(r#"{{"required":{}}}"#, same(SOME, r#""a""#))),
            list_of(r#"{"a":1}"#, SOME),
        ),
        (
            items(&format!(r#"{{"properties":{}}}"#, members(SOME, "{}"))),
            list_of(r#"{"k0":1}"#, SOME),
        ),
        (
            format!(r#"{{"properties":{{"{long}":{{"items":{{"type":"number"}}}}}}}}"#),
            format!(r#"{{"{long}":{}}}"#, same(MANY, "1")),
        ),
    ];
    for (schema, arguments) in cases {
        let sent = call(&tool("a_b", &schema), "a_b", &arguments);
        let shown: String = sent.chars().take(200).collect();
        assert!(sent.starts_with("event: copilotFunctionCall"), "{shown}");
    }
}

#[test]
fn state_with_many_members() {
    let state = members(MANY, "1");
    let request = answered("f", "{}", &format!(r#""data":[],"extra_state":{state}"#));
    let call = FunctionCall::raw("f", crate::json("{}"));
    let carried = call.clone().state_from(&request).extra_state.unwrap();
    assert_eq!(carried.text(), state);
    let call = call.extra_state(carried).state_from(&request);
    assert_eq!(call.extra_state.unwrap().members().count(), MANY);
    let pending = same(MANY, r#"{"function":"f","input_arguments":{}}"#);
    let state = format!(r#""data":[],"extra_state":{{"pending_bridge_calls":{pending}}}"#);
    assert!((OpenBb::EXTRAS.next_call)(&answered("f", "{}", &state)).is_some());
}

#[test]
fn names_of_many_artifacts() {
    let entry = |at: usize| format!(r#"{{"uuid":"u","name":"T {}"}}"#, at + 2);
    let request = with(&format!(r#""context":{}"#, list(SOME, entry)));
    let mut session = session(&request);
    let artifact = Artifact::text("T", "x");
    let mut step = StatusUpdate::info("m");
    for at in 0..SOME {
        step = step.artifact(artifact.clone().uuid(at.to_string()));
    }
    let mut out = Vec::new();
    for at in 0..SOME {
        let artifact = artifact.clone().uuid(at.to_string());
        session.output(&artifact.into(), &mut out).unwrap();
    }
    session.output(&step.into(), &mut out).unwrap();
    let last = format!(r#""name":"T {}""#, 3 * SOME - 1);
    assert!(String::from_utf8(out).unwrap().contains(&last));
}

/// Every event, with lists and with unknown members.
#[test]
fn lists_of_an_event() {
    let unknown = members(SOME, "1");
    let of = |member: &str, element: &str| format!(r#"{{"{member}":{}}}"#, same(SOME, element));
    let repeated = vec![r#""message":"m""#; SOME].join(",");
    let cases = [
        (
            "copilotMessageChunk",
            format!(r#"{{"more":{unknown},"delta":"x"}}"#),
        ),
        (
            "copilotMessageChunk",
            format!(r#"{{"delta":"{}"}}"#, r"\n".repeat(SOME)),
        ),
        ("copilotStatusUpdate", of("artifacts", r#"{"name":"n"}"#)),
        ("copilotStatusUpdate", format!("{{{repeated}}}")),
        ("copilotMessageArtifact", of("content", "{}")),
        (
            "copilotCitationCollection",
            of("citations", r#"{"id":"i"}"#),
        ),
        ("copilotPromptSuggestions", of("suggestions", "\"s\"")),
        ("copilotTokenUsage", of("breakdown", "{}")),
        ("copilotConversationSummary", unknown.clone()),
        (
            "copilotFunctionCall",
            format!(r#"{{"function":"f","input_arguments":{unknown}}}"#),
        ),
        ("copilotNews", unknown),
    ];
    for (name, data) in cases {
        let stream = format!("event: {name}\ndata: {data}\n\n");
        let events = decode(stream.as_bytes()).unwrap();
        assert_eq!(events.len(), 1, "{name}");
    }
}
