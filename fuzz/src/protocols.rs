//! Targets for every protocol: requests, events, and parts.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use copilot_wire::json::Json;
use copilot_wire::protocol::{
    AgentError, Chart, ChartKind, Citation, Confirmation, Conversation, Env, EventDecoder, Notice,
    Protocol, SendError, Status, Table, ToolCall, Verdict,
};
use copilot_wire::{Agent, Body, Reply, Request, async_trait};
use copilot_wire_kit::Toolkit;
use copilot_wire_kit::Visit;
use futures::StreamExt;
use futures::executor::block_on;
use http::StatusCode;

use super::input::{Chunks, Input};

/// Gives the data to a function for every protocol.
struct Each<'a>(&'a [u8], Property);

#[derive(Clone, Copy)]
enum Property {
    Request,
    Event,
    Word,
}

impl Visit for Each<'_> {
    fn visit<P: Toolkit>(&mut self) {
        match self.1 {
            Property::Request => request::<P>(self.0),
            Property::Event => event::<P>(self.0),
            Property::Word => word::<P>(self.0),
        }
    }
}

/// Reads any bytes as the request body of every protocol.
pub fn requests(data: &[u8]) {
    Each(data, Property::Request).visit_all();
}

/// Reads any bytes as the response of every protocol; the first one is the size of the chunks.
pub fn events(data: &[u8]) {
    Each(data, Property::Event).visit_all();
}

/// Writes any sequence of shared parts to every protocol.
pub fn words(data: &[u8]) {
    Each(data, Property::Word).visit_all();
}

fn parts() -> http::request::Parts {
    let request = http::Request::post("/v1/query")
        .header("content-type", "application/json")
        .header("authorization", "Bearer fuzz")
        .header("x-trace-id", "fuzz")
        .body(());
    request.unwrap().into_parts().0
}

fn read<P: Protocol>(body: &[u8]) -> Option<Request<P>> {
    let parts = parts();
    match P::read(&parts, Bytes::copy_from_slice(body)) {
        Ok(request) => Some(Request::from_parts(parts, request)),
        Err(refusal) => {
            let status = refusal.status();
            // 501 is for what a protocol knows and this server cannot do.
            assert!(
                status.is_client_error() || status == StatusCode::NOT_IMPLEMENTED,
                "{refusal}"
            );
            let (head, body) = P::refuse(&refusal).into_parts();
            let is_json = head.headers["content-type"] == "application/json";
            assert!(!is_json || Json::parse(body).is_ok());
            assert!(refusal.to_string().len() < 1024, "{refusal}");
            None
        }
    }
}

/// Reads any bytes as the request body of one protocol.
pub fn request<P: Toolkit>(data: &[u8]) {
    let Some(request) = read::<P>(data) else {
        return;
    };
    // Everything that an agent may ask is answered.
    let messages = request.messages().count();
    let _ = request.prompt();
    if let (Some(answer), None) = (request.decision(), request.dialog_decision()) {
        // Nobody asked: only a dialog is taken at its word.
        assert!(
            !matches!(answer.verdict, Verdict::Accepted | Verdict::Refused),
            "{answer:?}"
        );
    }
    let _ = request.conversation_id();
    for document in request.documents() {
        let _ = (
            document.id.len(),
            document.name.len(),
            document.content.len(),
        );
    }
    for tool in request.tools() {
        if let Some(schema) = tool.parameters {
            assert!(Json::parse(schema.as_bytes().clone()).is_ok());
        }
    }
    for result in request.results() {
        let _ = (result.name.len(), result.content.len(), result.failed);
    }
    let _ = P::session(&request, &P::Settings::default(), &Env::default());
    // And reading has no memory.
    let again = read::<P>(data).unwrap();
    assert_eq!(again.messages().count(), messages);
    assert_eq!(*again, *request);
    // What a client writes is read, and read as what it was: only white space inside of raw values
    // may have changed, and only once.
    if let Some(body) = P::to_body(&request) {
        let again = |body: &[u8]| {
            let Some(again) = read::<P>(body) else {
                panic!("refused: {}", String::from_utf8_lossy(body));
            };
            again.into_inner()
        };
        let once = again(&body);
        let body = P::to_body(&once).unwrap();
        assert_eq!(again(&body), once);
        assert_eq!(once.messages().count(), messages);
    }
}

/// Reads any bytes as the response of one protocol; the first one is the size of the chunks.
pub fn event<P: Toolkit>(data: &[u8]) {
    let mut input = Input(data);
    let how = input.byte();
    let stream = input.0;
    let decoded = decode::<P>(stream, how);
    let whole = decode::<P>(stream, 0);
    assert_eq!(format!("{decoded:?}"), format!("{whole:?}"));
}

fn decode<P: Toolkit>(stream: &[u8], how: u8) -> Vec<Result<P::Event, String>> {
    let mut decoder = EventDecoder::<P>::new();
    let mut events = Vec::new();
    for mut chunk in Chunks::new(stream, how) {
        loop {
            match decoder.next(&mut chunk) {
                Ok(Some(event)) => events.push(Ok(event.clone())),
                Ok(None) => break,
                Err(copilot_wire::protocol::EventError::Stream(error)) => {
                    events.push(Err(error.to_string()));
                    return events;
                }
                Err(error) => events.push(Err(error.to_string())),
            }
        }
    }
    events
}

/// Speaks as the input says.
struct Speaker(Mutex<Vec<u8>>);

#[async_trait]
impl<P: Protocol> Agent<P> for Speaker {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let data = std::mem::take(&mut *self.0.lock().unwrap());
        let mut input = Input(&data);
        while !input.is_empty() {
            let choice = input.below(14);
            let (one, two, three) = (input.text(), input.text(), input.text());
            let rows = [BTreeMap::from([(one.clone(), two.clone())])];
            let said = match choice {
                0..=2 => reply.text(&one).await,
                3 => reply.status(Status::new(one).detail(two, three)).await,
                4 => reply.status(Status::warning(one)).await,
                5 => reply.cite(Citation::new(one).url(two).excerpt(three)).await,
                6 => reply.cite(Citation::new(one).document(two)).await,
                7 => reply.table(Table::new(three, &rows)?).await,
                8 => {
                    let kind = match input.below(5) {
                        0 => ChartKind::Line {
                            x: one,
                            y: vec![two],
                        },
                        1 => ChartKind::Bar {
                            x: one,
                            y: vec![two],
                        },
                        2 => ChartKind::Scatter {
                            x: one,
                            y: vec![two],
                        },
                        3 => ChartKind::Pie {
                            angle: one,
                            label: two,
                        },
                        _ => ChartKind::Donut {
                            angle: one,
                            label: two,
                        },
                    };
                    reply
                        .chart(Chart::new(three, kind, &rows)?.description("d"))
                        .await
                }
                9 => {
                    reply
                        .error(Notice::new(one).code(two).identifier(three))
                        .await
                }
                10 => {
                    let confirmation = Confirmation::new(one, two, three);
                    return Ok(reply.confirm(confirmation)?);
                }
                11 => return Ok(reply.call(ToolCall::new(one, &rows[0])?)?),
                12 => return Err(AgentError::new(one)),
                _ => return Ok(()),
            };
            match said {
                Ok(()) | Err(SendError::Unsupported(_) | SendError::Invalid(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// Writes any sequence of shared parts to one protocol.
pub fn word<P: Toolkit>(data: &[u8]) {
    let request = read::<P>(P::SAMPLE.request.as_bytes()).unwrap();
    let speaker = Arc::new(Speaker(Mutex::new(data.to_vec())));
    let body = Body::run(speaker, request, &Env::default());
    let frames: Vec<Bytes> = block_on(body.filter_map(async |frame| frame.ok()).collect());
    let mut whole = Vec::new();
    for frame in frames {
        // A frame is whole events, so that no reader waits for the rest of one.
        assert!(
            frame.ends_with(P::FRAMING.boundary()),
            "{}",
            String::from_utf8_lossy(&frame)
        );
        whole.extend_from_slice(&frame);
    }
    assert!(std::str::from_utf8(&whole).is_ok());
    // Our own client understands all of it.
    for event in decode::<P>(&whole, 0) {
        if let Err(error) = event {
            panic!("{}: {error}: {}", P::NAME, String::from_utf8_lossy(&whole));
        }
    }
}
