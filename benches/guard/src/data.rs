//! Tables out, and requests with large data in.

use std::hint::black_box;

use bytes::Bytes;
use copilot_wire::event_name;
use copilot_wire::json::{self, Escape, Wire as _};
use copilot_wire::openai::ChatRequest;
use copilot_wire::openbb::OpenBb;
use copilot_wire::protocol::Protocol;
use copilot_wire::sse::EventWriter;
use serde::Serialize;

use crate::Path;
use crate::source::{self, Price};

#[derive(Serialize)]
struct Artifact<'a> {
    r#type: &'static str,
    content: &'a [Price],
}

fn table(rows: usize) -> Path {
    Path::new(format!("table-{rows}"), "row", rows, move || {
        let prices = source::prices(rows);
        Box::new(move || {
            let mut buffer = Vec::new();
            let content = black_box(&prices);
            let artifact = Artifact {
                r#type: "table",
                content,
            };
            EventWriter::new(&mut buffer)
                .name(&event_name!("copilotMessageArtifact"))
                .data_with(|out| json::write(&artifact, Escape::JsonAndSeparators, out))
                .unwrap()
                .finish();
            black_box(Bytes::from(buffer)).len()
        })
    })
}

fn query(kind: &'static str, rows: usize, as_string: bool) -> Path {
    Path::new(format!("query-{kind}-{rows}"), "row", rows, move || {
        let body = source::query(rows, as_string);
        let (parts, ()) = http::Request::new(()).into_parts();
        Box::new(move || {
            let query = OpenBb::read(&parts, black_box(body.clone())).unwrap();
            black_box(query).messages.len()
        })
    })
}

/// A conversation of long messages as a model's request. Half of them are an assistant's, with what may be a part of a
/// question's proof.
fn conversation(turns: usize) -> Path {
    let name = format!("conversation-{turns}");
    Path::new(name, "turn", turns, move || {
        let body = source::conversation(turns);
        let (parts, ()) = http::Request::new(()).into_parts();
        Box::new(move || {
            let query = OpenBb::read(&parts, black_box(body.clone())).unwrap();
            ChatRequest::from_conversation(&query).to_json().len()
        })
    })
}

pub(crate) fn paths() -> Vec<Path> {
    let mut paths = Vec::new();
    for rows in [10, 1000] {
        paths.push(table(rows));
    }
    for rows in [10, 10_000] {
        paths.push(query("string", rows, true));
        paths.push(query("records", rows, false));
    }
    for turns in [20, 200] {
        paths.push(conversation(turns));
    }
    paths
}
