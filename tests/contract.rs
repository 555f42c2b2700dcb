//! The contract of every protocol: capabilities, and the id of a conversation.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
#[cfg(feature = "ag_ui")]
use copilot_wire::ag_ui::AgUi;
use copilot_wire::anthropic::Anthropic;
use copilot_wire::github::GitHub;
use copilot_wire::meilisearch::Meilisearch;
use copilot_wire::openai::OpenAi;
use copilot_wire::openbb::OpenBb;
use copilot_wire::protocol::{
    Capabilities, Chart, ChartKind, Citation, Confirmation, Conversation, Env, Environment,
    EventDecoder, Notice, Part, Protocol, Question, Status, Table, ToolCall, ToolRun,
};
use copilot_wire::responses::Responses;
#[cfg(feature = "ui_stream")]
use copilot_wire::ui_stream::UiStream;
use copilot_wire_kit::Toolkit;
use serde_json::json;

struct Fixed;

impl Environment for Fixed {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_700_000_000)
    }

    fn random(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

fn read<P: Protocol>(body: &str) -> P::Request {
    let (parts, ()) = http::Request::post("/").body(()).unwrap().into_parts();
    let request = P::read(&parts, Bytes::copy_from_slice(body.as_bytes()));
    request.unwrap_or_else(|refusal| panic!("{}: {refusal}", P::NAME))
}

/// The events of a reply with one part, and the text in them.
fn reply<P: Toolkit>(request: &P::Request, part: Option<Part<'_>>) -> (Vec<P::Event>, String) {
    let mut session = P::session(request, &P::Settings::default(), &Env::new(Fixed));
    let mut out = Vec::new();
    session.open(&mut out);
    if let Some(part) = part {
        // What a front end lacks may be an error.
        let _ = session.part(part, &mut out);
    }
    session.finish(&mut out);
    let mut decoder = EventDecoder::<P>::new();
    let mut input = &*out;
    let (mut events, mut text) = (Vec::new(), String::new());
    while let Some(event) = decoder.next(&mut input).unwrap() {
        match P::describe(event) {
            said if said.kind == "text" => text.push_str(&said.text),
            _ => events.push(event.clone()),
        }
    }
    decoder.end().unwrap();
    (events, text)
}

/// Checks every capability against the bytes: a part that is shown natively adds an event and no text.
fn capabilities<P: Toolkit>(body: &str) {
    let request = read::<P>(body);
    let (plain, silence) = reply::<P>(&request, None);
    let rows = json!([{"day": "Mon", "price": 1}]);
    let kind = ChartKind::Bar {
        x: "day".into(),
        y: vec!["price".into()],
    };
    let tool = request
        .tools()
        .next()
        .map_or_else(|| "f".into(), |tool| tool.name.into_owned());
    let (status, citation) = (Status::new("Working"), Citation::new("Report"));
    let (table, chart) = (
        Table::new("Prices", &rows).unwrap(),
        Chart::new("Prices", kind, &rows).unwrap(),
    );
    let (notice, question) = (
        Notice::new("No data"),
        Confirmation::new("1", "Go on?", "Really?"),
    );
    let asked = |confirmation: &Confirmation| Ok(format!("\n\n{}", confirmation.title));
    let question = Question::new(&question, &asked);
    let call = ToolCall::new(tool, &json!({})).unwrap();
    let run = ToolRun::new("search", &json!({"q": "x"}), &json!([1])).unwrap();
    for (capability, part) in [
        (Capabilities::REASONING, Part::Reasoning("I should look.")),
        (Capabilities::TOOL_RUNS, Part::ToolRun(&run)),
        (Capabilities::STEPS, Part::Status(&status)),
        (Capabilities::CITATIONS, Part::Cite(&citation)),
        (Capabilities::TABLES, Part::Table(&table)),
        (Capabilities::CHARTS, Part::Chart(&chart)),
        (Capabilities::ERRORS, Part::Error(&notice)),
        (Capabilities::QUESTIONS, Part::Confirm(&question)),
        (
            Capabilities::CALLS,
            Part::Calls(std::slice::from_ref(&call)),
        ),
    ] {
        let (events, text) = reply::<P>(&request, Some(part));
        let said = !text.is_empty() && text != silence;
        let native = !said && events.iter().any(|event| !plain.contains(event));
        assert_eq!(
            native,
            P::CAPABILITIES.contains(capability),
            "{}: {part:?}",
            P::NAME
        );
    }
}

#[test]
fn a_capability_is_a_part_that_is_shown_natively() {
    let tools = r#""tools":[{"type":"function","function":{"name":"f"}}]"#;
    capabilities::<OpenAi>(&format!(
        r#"{{"model":"m","stream":true,"messages":[{{"role":"user","content":"hi"}}],{tools}}}"#
    ));
    capabilities::<Responses>(
        r#"{"model":"m","stream":true,"input":"hi","tools":[{"type":"function","name":"f"}]}"#,
    );
    capabilities::<GitHub>(r#"{"messages":[{"role":"user","content":"hi"}]}"#);
    capabilities::<OpenBb>(
        r#"{"messages":[{"role":"human","content":"hi"}],"workspace_options":[],
            "tools":[{"server_id":"1","name":"s_f","url":"http://localhost/mcp","input_schema":{}}]}"#,
    );
    capabilities::<Anthropic>(
        r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"f"}]}"#,
    );
    #[cfg(feature = "ag_ui")]
    capabilities::<AgUi>(
        r#"{"messages":[{"id":"u","role":"user","content":"hi"}],"tools":[{"name":"f"}]}"#,
    );
    capabilities::<Meilisearch>(
        r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}"#,
    );
    #[cfg(feature = "ui_stream")]
    capabilities::<UiStream>(
        r#"{"messages":[{"id":"1","role":"user","parts":[{"type":"text","text":"hi"}]}],"tools":{"f":{}}}"#,
    );
}

/// Returns the id of the conversation, and the text that its questions are bound to, if headers have an id as well.
fn ids<P: Protocol>(body: &str) -> (Option<String>, Option<String>) {
    let request = read::<P>(body);
    let mut headers = http::HeaderMap::new();
    for name in ["x-trace-id", "x-claude-code-session-id"] {
        headers.insert(name, http::HeaderValue::from_static("header"));
    }
    let id = P::conversation_id(&request, &headers);
    let scope = (P::EXTRAS.question_scope)(&request);
    (id.map(Into::into), scope.map(Into::into))
}

#[test]
fn a_question_is_bound_to_the_conversation_that_the_body_names() {
    let some = |id: &str| Some(id.to_owned());
    let named = (some("body"), some("body"));
    let messages = r#""messages":[{"role":"user","content":"hi"}]"#;
    let plain = format!(r#"{{"model":"m","stream":true,{messages}}}"#);
    assert_eq!(ids::<OpenAi>(&plain), (None, None));
    assert_eq!(ids::<Meilisearch>(&plain), (None, None));
    assert_eq!(ids::<Anthropic>(&plain), (some("header"), None));
    let query = r#"{"messages":[{"role":"human","content":"hi"}]}"#;
    assert_eq!(ids::<OpenBb>(query), (some("header"), None));
    let cached = r#"{"model":"m","input":"hi","prompt_cache_key":"body"}"#;
    assert_eq!(ids::<Responses>(cached), named);
    let thread = format!(r#"{{"copilot_thread_id":"body",{messages}}}"#);
    assert_eq!(ids::<GitHub>(&thread), named);
    let user = r#""metadata":{"user_id":"{\"session_id\":\"body\"}"}"#;
    let session = format!(r#"{{"model":"m",{user},{messages}}}"#);
    assert_eq!(ids::<Anthropic>(&session), (some("header"), some("body")));
    #[cfg(feature = "ag_ui")]
    {
        let run = r#"{"threadId":"body","messages":[{"id":"u","role":"user","content":"hi"}]}"#;
        assert_eq!(ids::<AgUi>(run), named);
    }
    #[cfg(feature = "ui_stream")]
    {
        let chat = r#"{"id":"body","messages":[{"id":"1","role":"user","parts":[{"type":"text","text":"hi"}]}]}"#;
        assert_eq!(ids::<UiStream>(chat), named);
    }
}
