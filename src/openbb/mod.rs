//! The protocol of OpenBB Workspace agents.

mod descriptor;
mod event;
mod request;

pub use descriptor::{Descriptor, DescriptorError};

pub(crate) use descriptor::documents;
pub use event::{Event, FunctionCall, Say};
pub use request::{Message, QueryRequest};

use std::borrow::Cow;

use bytes::Bytes;
use http::HeaderMap;
use http::request::Parts;

use crate::json::{Escape, Json, escape};
use crate::protocol::{Env, EventError, Protocol, Refusal, SendError, TextFrame, Word};
use crate::sse;

/// The OpenBB Workspace.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OpenBb;

/// What the events of one reply share.
#[derive(Debug)]
pub struct Session {
    env: Env,
}

impl Protocol for OpenBb {
    type Request = QueryRequest;
    type Say = Say;
    type Ending = FunctionCall;
    type Event = Event;
    type Session = Session;

    const NAME: &'static str = "openbb";
    const KEEP_ALIVE: &'static [u8] = b": ping\n\n";

    fn read(_: &Parts, body: Bytes) -> Result<QueryRequest, Refusal> {
        QueryRequest::read(&body)
    }

    fn conversation_id<'a>(_: &'a QueryRequest, headers: &'a HeaderMap) -> Option<Cow<'a, str>> {
        let id = headers.get("x-trace-id")?.to_str().ok()?;
        (!id.is_empty()).then_some(Cow::Borrowed(id))
    }

    fn session(_: &QueryRequest, env: &Env) -> Session {
        Session { env: env.clone() }
    }

    fn text(_: &TextFrame, text: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(b"event: copilotMessageChunk\ndata: {\"delta\":\"");
        escape(text, Escape::JsonAndSeparators, out);
        out.extend_from_slice(b"\"}\n\n");
    }

    fn word(session: &mut Session, word: Word<'_>, out: &mut Vec<u8>) -> Result<(), SendError> {
        let _ = (&session.env, word, out);
        Err(SendError::Unsupported("words"))
    }

    fn encode(_: &mut Session, event: &Event, out: &mut Vec<u8>) -> Result<(), SendError> {
        match event {
            Event::Say(Say::MessageChunk(delta)) => Self::text(&TextFrame::default(), delta, out),
            Event::FunctionCall(call) => call.encode(out),
        }
        Ok(())
    }

    fn ends(event: &Event) -> bool {
        matches!(event, Event::FunctionCall(_))
    }

    fn finish(_: &mut Session, _: &mut Vec<u8>) {}

    fn fail(_: &mut Session, message: &str, out: &mut Vec<u8>) {
        Self::text(&TextFrame::default(), message, out);
    }

    fn decode(event: &sse::Event<'_>) -> Result<Event, EventError> {
        let data = Json::parse(Bytes::copy_from_slice(event.data().as_bytes()))?;
        match (
            event.name(),
            data.get("delta").as_ref().and_then(Json::string),
        ) {
            ("copilotMessageChunk", Some(delta)) => {
                Ok(Event::Say(Say::MessageChunk(delta.into_owned())))
            }
            _ => Err(EventError::Shape("an event that is not known yet")),
        }
    }
}
