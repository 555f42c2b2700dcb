//! What holds for every protocol: its requests, its events, and its words.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use copilot_wire::json::Json;
use copilot_wire::protocol::{
    AgentError, Chart, ChartKind, Citation, Confirmation, Conversation, Env, Environment,
    EventDecoder, Notice, Protocol, SendError, Session as _, Status, Table, ToolCall,
};
use copilot_wire::{Agent, Body, Reply, Request, async_trait};
use futures::StreamExt;
use futures::executor::block_on;
use http::StatusCode;

use super::input::{Chunks, Input};

/// Writes a request as a client does.
type Write<P> = fn(&<P as Protocol>::Request) -> Vec<u8>;

/// What the generic targets need to know of a protocol.
struct Sample<P: Protocol> {
    /// The body of a small request.
    request: &'static [u8],
    /// How a client writes a request, where there is a client's side.
    write: Option<Write<P>>,
}

/// Every protocol. A new one is a new line here.
macro_rules! every_protocol {
    ($each:ident($data:expr)) => {{
        let data: &[u8] = $data;
        #[cfg(feature = "openbb")]
        $each::<copilot_wire::openbb::OpenBb>(&Sample {
            request: br#"{"messages":[{"role":"human","content":"hi"}]}"#,
            write: Some(|request| request.to_body().to_vec()),
        }, data);
        #[cfg(feature = "github")]
        $each::<copilot_wire::github::GitHub>(&Sample {
            request: br#"{"messages":[{"role":"user","content":"hi"}]}"#,
            write: None,
        }, data);
        #[cfg(feature = "meilisearch")]
        $each::<copilot_wire::meilisearch::Meilisearch>(
            &Sample {
                request: br#"{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"_meiliSearchProgress"}}]}"#,
                write: Some(|request| request.to_json()),
            },
            data,
        );
        #[cfg(feature = "openai")]
        $each::<copilot_wire::openai::OpenAi>(&Sample {
            request: br#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f"}}]}"#,
            write: Some(|request| request.to_json()),
        }, data);
    }};
}

/// Any bytes as the request body of every protocol.
pub fn requests(data: &[u8]) {
    every_protocol!(request(data));
}

/// Any bytes as the response of every protocol; the first one says how they are cut.
pub fn events(data: &[u8]) {
    every_protocol!(event(data));
}

/// Any sequence of shared words to every protocol.
pub fn words(data: &[u8]) {
    every_protocol!(word(data));
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
            // Meilisearch answers 501 to what it cannot do.
            assert!(
                status.is_client_error() || status == StatusCode::NOT_IMPLEMENTED,
                "{refusal}"
            );
            assert!(Json::parse(P::refuse(&refusal).into_body()).is_ok());
            assert!(refusal.to_string().len() < 1024, "{refusal}");
            None
        }
    }
}

fn request<P: Protocol>(sample: &Sample<P>, data: &[u8])
where
    P::Request: Debug + PartialEq,
{
    let Some(request) = read::<P>(data) else {
        return;
    };
    // Everything that an agent may ask is answered.
    let messages = request.messages().count();
    let _ = request.prompt();
    let _ = request.decision();
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
    let _ = P::session(&request, &Env::default());
    // And reading has no memory.
    let again = read::<P>(data).unwrap();
    assert_eq!(again.messages().count(), messages);
    assert_eq!(*again, *request);
    // What a client writes is read, and read as what it was: only white space inside of raw values
    // may have changed, and only once.
    if let Some(write) = sample.write {
        let again = |request: &P::Request| {
            let body = write(request);
            let Some(again) = read::<P>(&body) else {
                panic!("refused: {}", String::from_utf8_lossy(&body));
            };
            again.into_inner()
        };
        let once = again(&request);
        assert_eq!(again(&once), once);
        assert_eq!(once.messages().count(), messages);
    }
}

fn event<P: Protocol>(sample: &Sample<P>, data: &[u8])
where
    P::Event: Debug + PartialEq,
{
    let mut input = Input(data);
    let how = input.byte();
    let stream = input.0;
    let decoded = decode::<P>(stream, how);
    let whole = decode::<P>(stream, 0);
    assert_eq!(format!("{decoded:?}"), format!("{whole:?}"));

    // An event that was read and can be said is read again. A session may add to it what its reply
    // has in common (an id, what closes the turn), but only once: then it stays as it is.
    let said = |event: &P::Event| {
        let request = read::<P>(sample.request).unwrap();
        let mut session = P::session(&request, &fixed());
        let mut out = Vec::new();
        session.event(event, &mut out).ok()?;
        let mut events = decode::<P>(&out, how);
        assert!(
            events.iter().all(Result::is_ok),
            "{events:?} out of {event:?}, said as {}",
            String::from_utf8_lossy(&out)
        );
        events.pop().and_then(Result::ok)
    };
    for event in decoded.into_iter().flatten() {
        if let Some(once) = said(&event) {
            assert_eq!(said(&once).as_ref(), Some(&once), "out of {event:?}");
        }
    }
}

/// One moment and one id for all.
fn fixed() -> Env {
    struct Fixed;
    impl Environment for Fixed {
        fn now(&self) -> SystemTime {
            UNIX_EPOCH + Duration::from_secs(1_700_000_000)
        }

        fn random(&self, bytes: &mut [u8]) {
            bytes.fill(7);
        }
    }
    Env::new(Fixed)
}

fn decode<P: Protocol>(stream: &[u8], how: u8) -> Vec<Result<P::Event, String>> {
    let mut decoder = EventDecoder::<P>::new();
    let mut events = Vec::new();
    for mut chunk in Chunks::new(stream, how) {
        loop {
            match decoder.next(&mut chunk) {
                Ok(Some(event)) => events.push(Ok(event)),
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

fn word<P: Protocol>(sample: &Sample<P>, data: &[u8]) {
    let request = read::<P>(sample.request).unwrap();
    let speaker = Arc::new(Speaker(Mutex::new(data.to_vec())));
    let body = Body::run(speaker, request, &Env::default());
    let frames: Vec<Bytes> = block_on(body.map(|Ok(frame)| frame).collect());
    let mut whole = Vec::new();
    for frame in frames {
        // A frame is whole events, so that no reader waits for the rest of one.
        assert!(
            frame.ends_with(b"\n\n"),
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
