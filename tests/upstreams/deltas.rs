//! What is read from a stream is what was written: the deltas of every part, in every protocol.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use copilot_wire::ag_ui::AgUi;
use copilot_wire::anthropic::Anthropic;
use copilot_wire::github::GitHub;
use copilot_wire::mcp::Mcp;
use copilot_wire::meilisearch::Meilisearch;
use copilot_wire::openai::OpenAi;
use copilot_wire::openbb::OpenBb;
use copilot_wire::protocol::{
    Chart, ChartKind, Citation, Completion, Confirmation, Cut, Delta, Env, Environment,
    EventDecoder, Failure, Notice, Part, Protocol, Question, Status, Table, ToolCall, ToolRun,
    Usage,
};
use copilot_wire::responses::Responses;
use copilot_wire::ui_stream::UiStream;
use proptest::prelude::*;
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

/// What a reply says.
enum Says<'a> {
    Text(&'a str),
    Part(Part<'a>),
    Failure(&'a str),
    Nothing,
}

/// Returns a part as a name and its content.
fn shown(part: &Part<'_>) -> (&'static str, String) {
    match part {
        Part::Reasoning(text) => ("reasoning", (*text).to_owned()),
        Part::Status(status) => ("status", format!("{status:?}")),
        Part::ToolRun(run) => ("run", format!("{run:?}")),
        Part::Cite(citation) => ("cite", format!("{citation:?}")),
        Part::Table(table) => ("table", format!("{table:?}")),
        Part::Chart(chart) => ("chart", format!("{chart:?}")),
        Part::Error(notice) => ("error", format!("{notice:?}")),
        Part::Usage(usage) => ("usage", format!("{usage:?}")),
        Part::Confirm(question) => (
            "question",
            format!("{} {} {}", question.id, question.title, question.message),
        ),
        Part::Cut(cut) => ("cut", format!("{cut:?}")),
        Part::Calls(calls) => (
            "calls",
            calls
                .iter()
                .map(|call| format!("{} {}", call.name, call.arguments.text()))
                .collect(),
        ),
        other => panic!("{other:?}"),
    }
}

/// Reads a stream that arrives in pieces of `size` bytes.
fn read<P: Protocol>(stream: &[u8], size: usize) -> Vec<(&'static str, String)> {
    let (mut decoder, mut completion) = (EventDecoder::<P>::new(), Completion::new());
    let mut all: Vec<(&'static str, String)> = Vec::new();
    for mut piece in stream.chunks(size) {
        while let Some(event) = decoder.next(&mut piece).unwrap() {
            completion.push_event::<P>(event).unwrap();
            P::deltas(event, &mut |delta| {
                let (name, content) = match &delta {
                    Delta::Text(text) => ("text", (*text).to_owned()),
                    Delta::Part(part) => shown(part),
                    Delta::Failed(failure) => ("failure", failure.message.to_owned()),
                    _ => return,
                };
                match all.last_mut() {
                    Some((last, text))
                        if *last == name && ["text", "reasoning"].contains(&name) =>
                    {
                        text.push_str(&content);
                    }
                    _ => all.push((name, content)),
                }
            });
        }
    }
    let calls = completion.calls();
    if !calls.is_empty() {
        all.push(shown(&Part::Calls(&calls)));
    }
    all.retain(|(_, content)| !content.is_empty());
    all
}

/// Returns what becomes of something that a reply says: `same`, or the names of the deltas.
fn becomes<P: Protocol>(request: &P::Request, says: &Says<'_>) -> String {
    let write = |says: &Says<'_>| {
        let mut session = P::session(request, &P::Settings::default(), &Env::new(Fixed));
        let mut out = Vec::new();
        session.open(&mut out);
        match says {
            Says::Text(text) => session.text(text, &mut out).unwrap(),
            // What a front end lacks may be an error.
            Says::Part(part) => drop(session.part(*part, &mut out)),
            Says::Failure(message) => {
                session.fail(&Failure::new(message), &mut out);
                return out;
            }
            Says::Nothing => {}
        }
        session.finish(&mut out);
        out
    };
    let (stream, silence) = (write(says), write(&Says::Nothing));
    let heard = read::<P>(&stream, usize::MAX);
    for size in [1, 7] {
        assert_eq!(read::<P>(&stream, size), heard, "{}", P::NAME);
    }
    let said = match says {
        Says::Text(text) => ("text", (*text).to_owned()),
        Says::Part(part) => shown(part),
        Says::Failure(message) => ("failure", (*message).to_owned()),
        Says::Nothing => unreachable!("nothing has no deltas"),
    };
    if heard.contains(&said) {
        return "same".to_owned();
    }
    let silence = read::<P>(&silence, usize::MAX);
    let names = heard.iter().filter(|it| !silence.contains(it));
    let names: Vec<_> = names.map(|(name, _)| *name).collect();
    match names.is_empty() {
        true => "-".to_owned(),
        false => names.join("+"),
    }
}

/// The columns of the table below.
const PARTS: [&str; 13] = [
    "text",
    "reasoning",
    "status",
    "run",
    "cite",
    "table",
    "chart",
    "error",
    "usage",
    "confirm",
    "calls",
    "cut",
    "failure",
];

fn row<P: Protocol>(body: &str, text: &str, number: u64) -> String {
    let (mut parts, ()) = http::Request::post("/").body(()).unwrap().into_parts();
    let accept = "application/json, text/event-stream";
    parts.headers.insert("accept", accept.parse().unwrap());
    let request = P::read(&parts, Bytes::copy_from_slice(body.as_bytes()));
    let request = request.unwrap_or_else(|refusal| panic!("{}: {refusal}", P::NAME));

    let status = Status::new(text).detail("Name", text);
    let citation = Citation::new(text).url("https://example.com/");
    let rows = json!([{"x": text, "y": number}]);
    let kind = ChartKind::Bar {
        x: "x".into(),
        y: vec!["y".into()],
    };
    let (table, chart) = (
        Table::new(text, &rows).unwrap(),
        Chart::new(text, kind, &rows).unwrap(),
    );
    let (notice, asked) = (Notice::new(text), Confirmation::new("1", text, text));
    let ask = |asked: &Confirmation| Ok(format!("\n\n{}", asked.title));
    let question = Question::new(&asked, &ask);
    let run = ToolRun::new("search", &json!({"q": text}), &json!([number])).unwrap();
    let calls = [ToolCall::new("f", &json!({"a": text})).unwrap()];
    let usage = Usage::new(number + 1, number + 2);
    let says = [
        Says::Text(text),
        Says::Part(Part::Reasoning(text)),
        Says::Part(Part::Status(&status)),
        Says::Part(Part::ToolRun(&run)),
        Says::Part(Part::Cite(&citation)),
        Says::Part(Part::Table(&table)),
        Says::Part(Part::Chart(&chart)),
        Says::Part(Part::Error(&notice)),
        Says::Part(Part::Usage(&usage)),
        Says::Part(Part::Confirm(&question)),
        Says::Part(Part::Calls(&calls)),
        Says::Part(Part::Cut(Cut::Length)),
        Says::Failure(text),
    ];
    let became = says.iter().map(|says| becomes::<P>(&request, says));
    became.collect::<Vec<_>>().join(" ")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_deltas_of_a_part_are_the_part(text in "[a-zé🌊\"\\\\<][ -~é🌊\u{2028}]{0,40}[a-z]", number in 0..1_000_000u64) {
        let table = [
            ("", PARTS.join(" ")),
            ("openai", row::<OpenAi>(
                r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f"}}]}"#,
                &text, number)),
            ("responses", row::<Responses>(
                r#"{"model":"m","stream":true,"input":"hi","tools":[{"type":"function","name":"f"}]}"#,
                &text, number)),
            ("anthropic", row::<Anthropic>(
                r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"f"}]}"#,
                &text, number)),
            ("github", row::<GitHub>(r#"{"messages":[{"role":"user","content":"hi"}]}"#, &text, number)),
            ("openbb", row::<OpenBb>(
                r#"{"messages":[{"role":"human","content":"hi"}],"workspace_options":[],"tools":[{"server_id":"1","name":"f","url":"http://localhost/mcp","input_schema":{}}]}"#,
                &text, number)),
            ("ag_ui", row::<AgUi>(
                r#"{"messages":[{"id":"u","role":"user","content":"hi"}],"tools":[{"name":"f"}]}"#,
                &text, number)),
            ("ui_stream", row::<UiStream>(
                r#"{"messages":[{"id":"1","role":"user","parts":[{"type":"text","text":"hi"}]}],"tools":{"f":{}}}"#,
                &text, number)),
            ("meilisearch", row::<Meilisearch>(
                r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}"#,
                &text, number)),
            ("mcp", row::<Mcp>(
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"question":"hi"},"_meta":{"progressToken":1}}}"#,
                &text, number)),
        ];
        let lines = table.map(|(name, row)| format!("{name} {row}"));
        prop_assert_eq!(lines.join("\n"), BECOMES);
    }
}

/// What becomes of each part.
const BECOMES: &str =
    " text reasoning status run cite table chart error usage confirm calls cut failure
openai same same - - text text text text same text same same same
responses same same reasoning reasoning same text text text same text same same same
anthropic same same reasoning reasoning same text text text same text same same same
github same - - - cite text text error - same - error error
openbb same - same status cite table chart status - text - status text
ag_ui same same same - same same same text same text - text same
ui_stream same same same - same same same text same text - text same
meilisearch same - - - text text text text - text - same same
mcp same - status status text text text text - text - text same";
