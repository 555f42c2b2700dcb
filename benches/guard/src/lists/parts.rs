//! Lists of the parts of an answer, as the session of each protocol writes them and a client reads them.

use std::hint::black_box;

use bytes::Bytes;
use copilot_wire::ag_ui::AgUi;
use copilot_wire::anthropic::Anthropic;
use copilot_wire::github::GitHub;
use copilot_wire::mcp::Mcp;
use copilot_wire::meilisearch::Meilisearch;
use copilot_wire::openai::OpenAi;
use copilot_wire::openbb::OpenBb;
use copilot_wire::protocol::{
    Chart, ChartKind, Citation, Env, Notice, Part, Protocol, Status, Table, ToolCall, ToolRun,
    Usage,
};
use copilot_wire::responses::Responses;
use copilot_wire::ui_stream::UiStream;
use serde_json::json;

use super::streams::decode;
use super::{List, each};
use crate::{Work, requests};

/// Writes so many parts of a kind.
type Parts = fn(usize, &mut dyn FnMut(Part<'_>));

const PARTS: [(&str, Parts); 9] = [
    ("citations", |count, say| {
        for at in 0..count {
            let cited = Citation::new("A title").url(format!("https://x/{at:04}"));
            // Each is cited twice, and shown once.
            say(Part::Cite(&cited));
            say(Part::Cite(&cited));
            say(Part::Cite(
                &Citation::new("t").document(format!("d{at:04}")),
            ));
        }
    }),
    ("statuses", |count, say| {
        for at in 0..count {
            say(Part::Status(
                &Status::new("A step").detail("n", at.to_string()),
            ));
        }
    }),
    ("details", |count, say| {
        let status = (0..count).fold(Status::new("A step"), |status, at| {
            status.detail(format!("n{at:04}"), "v")
        });
        say(Part::Status(&status));
    }),
    ("tool-runs", |count, say| {
        for at in 0..count {
            say(Part::ToolRun(
                &ToolRun::new("f", &json!({"a": at}), &at).unwrap(),
            ));
        }
    }),
    ("reasoning", |count, say| {
        for _ in 0..count {
            say(Part::Reasoning("a word "));
            say(Part::Error(&Notice::new("An error.")));
        }
    }),
    ("usage", |count, say| {
        for _ in 0..count {
            say(Part::Usage(&Usage::new(1, 1)));
        }
    }),
    ("rows", |count, say| {
        let rows: Vec<_> = (0..count).map(|at| json!({"x": at, "y": "v"})).collect();
        say(Part::Table(&Table::new("T", &rows).unwrap()));
        say(Part::Chart(
            &Chart::new(
                "C",
                ChartKind::Line {
                    x: "x".into(),
                    y: vec!["y".into()],
                },
                &rows,
            )
            .unwrap(),
        ));
    }),
    ("calls", |count, say| {
        let call = |at| ToolCall::new(format!("f{at:04}"), &json!({"a": 1})).unwrap();
        let calls: Vec<_> = (0..count).map(call).collect();
        say(Part::Calls(&calls));
    }),
    ("calls-of-one", |count, say| {
        let call = |_| ToolCall::new("f0000", &json!({"a": 1})).unwrap();
        let calls: Vec<_> = (0..count).map(call).collect();
        say(Part::Calls(&calls));
    }),
];

/// Writes parts, answers a request with tools, and reads what was written.
fn written<P: Protocol>(request: String, parts: Parts, count: usize) -> Work {
    let (head, ()) = http::Request::post("/").body(()).unwrap().into_parts();
    let request = Bytes::from(request);
    Box::new(move || {
        let read = P::read(&head, request.clone())
            .map_err(|_| "refused")
            .unwrap();
        let mut session = P::session(&read, &P::Settings::default(), &Env::default());
        let mut out = Vec::new();
        session.open(&mut out);
        // Not every protocol has every part.
        parts(count, &mut |part| {
            drop(black_box(session.part(part, &mut out)));
        });
        session.finish(&mut out);
        decode::<P>(&out)
    })
}

fn lists_of<P: Protocol>(
    of: &str,
    request: impl Fn(usize) -> String + Clone + 'static,
) -> impl Iterator<Item = List> {
    PARTS.into_iter().map(move |(name, parts)| {
        let request = request.clone();
        List::new(format!("{of}-says-{name}"), move |count| {
            written::<P>(request(count), parts, count)
        })
    })
}

/// Returns a request with tools in addition.
fn with(request: &'static str, element: &'static str) -> impl Fn(usize) -> String + Clone {
    move |count| {
        let tools = each(count, |at| element.replace("NAME", &format!("f{at:04}")));
        let whole = request.replacen(r#""tools":[],"#, "", 1);
        whole.replacen('{', &format!(r#"{{"tools":[{tools}],"#), 1)
    }
}

pub(super) fn lists() -> Vec<List> {
    const FUNCTION: &str = r#"{"type":"function","function":{"name":"NAME"}}"#;
    const NAMED: &str = r#"{"type":"function","name":"NAME","description":"d","parameters":{},"input_schema":{"type":"object"}}"#;
    const OF_SERVER: &str = r#"{"server_id":"s","name":"s_NAME"}"#;
    let none = |request: &'static str| move |_| request.to_owned();
    lists_of::<OpenBb>("openbb", with(requests::OPENBB, OF_SERVER))
        .chain(lists_of::<GitHub>("github", none(requests::GITHUB)))
        .chain(lists_of::<OpenAi>(
            "openai",
            with(requests::OPENAI, FUNCTION),
        ))
        .chain(lists_of::<Responses>(
            "responses",
            with(requests::RESPONSES, NAMED),
        ))
        .chain(lists_of::<Anthropic>(
            "anthropic",
            with(requests::ANTHROPIC, NAMED),
        ))
        .chain(lists_of::<Meilisearch>(
            "meilisearch",
            none(requests::OPENAI),
        ))
        .chain(lists_of::<UiStream>("ui_stream", none(requests::UI_STREAM)))
        .chain(lists_of::<AgUi>("ag_ui", with(requests::AG_UI, NAMED)))
        .chain(lists_of::<Mcp>("mcp", none(requests::MCP)))
        .collect()
}
