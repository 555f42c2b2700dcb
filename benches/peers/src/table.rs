//! A table as an artifact of OpenBB.

use std::hint::black_box;

use axum::response::sse::Event;
use bytes::Bytes;
use copilot_wire::event_name;
use copilot_wire::json::Escape;
use copilot_wire::sse::EventWriter;
use futures::stream;
use serde::Serialize;

use crate::Case;
use crate::encode::{
    Checked, DATA, FORMAT, JSON_DATA, SSE_STREAM, axum_body, drain, sse_stream_body,
};
use crate::source::{self, Price};

const ARTIFACT: &str = "copilotMessageArtifact";

#[derive(Serialize)]
struct Artifact<'a> {
    r#type: &'static str,
    uuid: &'a str,
    name: &'a str,
    description: &'a str,
    content: &'a [Price],
}

fn artifact(prices: &[Price]) -> Artifact<'_> {
    Artifact {
        r#type: "table",
        uuid: "5f0e2c6e-0d1c-4d6e-9a7b-2f0a3c1b4d5e",
        name: "Prices",
        description: "Daily prices",
        content: black_box(prices),
    }
}

/// The artifact is there as rows of a struct; what is timed is how it gets into the stream.
pub fn case(rows: usize) -> Case {
    let prices: &'static [Price] = source::prices(rows).leak();
    let artifact = move || artifact(prices);
    let mut case = Checked::new(Some);
    case.ours("copilot-wire, EventWriter and json::write", move |out| {
        let mut buffer = Vec::new();
        EventWriter::new(&mut buffer)
            .name(&event_name!("copilotMessageArtifact"))
            .data_with(|out| copilot_wire::json::write(&artifact(), Escape::JsonAndSeparators, out))
            .unwrap()
            .finish();
        let frame = black_box(Bytes::from(buffer));
        out(&frame);
        frame.len()
    });
    let one = || stream::iter([()]);
    case.peer(JSON_DATA, move |out| {
        drain(
            axum_body(one(), move |()| {
                Event::default()
                    .event(ARTIFACT)
                    .json_data(artifact())
                    .unwrap()
            }),
            out,
        )
    });
    case.peer(DATA, move |out| {
        drain(
            axum_body(one(), move |()| {
                Event::default()
                    .event(ARTIFACT)
                    .data(serde_json::to_string(&artifact()).unwrap())
            }),
            out,
        )
    });
    case.peer(SSE_STREAM, move |out| {
        drain(
            sse_stream_body(one(), move |()| {
                let data = serde_json::to_string(&artifact()).unwrap();
                sse_stream::Sse::default().event(ARTIFACT).data(data)
            }),
            out,
        )
    });
    case.peer(FORMAT, move |out| {
        let data = serde_json::to_string(&artifact()).unwrap();
        let event = black_box(Bytes::from(format!("event: {ARTIFACT}\ndata: {data}\n\n")));
        out(&event);
        event.len()
    });
    case.build(rows)
}

/// The same into a buffer that is large enough from the round before.
pub fn reused(rows: usize) -> Case {
    let prices: &'static [Price] = source::prices(rows).leak();
    let mut case = Checked::new(Some);
    let mut buffer = Vec::new();
    case.ours("copilot-wire, reused Vec", move |out| {
        buffer.clear();
        EventWriter::new(&mut buffer)
            .name(&event_name!("copilotMessageArtifact"))
            .data_with(|out| {
                copilot_wire::json::write(&artifact(prices), Escape::JsonAndSeparators, out)
            })
            .unwrap()
            .finish();
        out(&buffer);
        black_box(&buffer).len()
    });
    let mut buffer = Vec::new();
    case.peer("prefix and serde_json, reused Vec", move |out| {
        buffer.clear();
        buffer.extend_from_slice(b"event: copilotMessageArtifact\ndata: ");
        serde_json::to_writer(&mut buffer, &artifact(prices)).unwrap();
        buffer.extend_from_slice(b"\n\n");
        out(&buffer);
        black_box(&buffer).len()
    });
    case.build(rows)
}
