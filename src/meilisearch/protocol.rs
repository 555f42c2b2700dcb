//! The implementation of [`Protocol`].

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderValue, Response};

use crate::protocol::{AgentError, Capabilities, Delta, Env, Extras, Protocol, Refusal, Session};

use super::{ApiError, ChatRequest, Decoder, Event, Reply, StreamError, session};

/// The protocol of Meilisearch chat.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Meilisearch;

impl Protocol for Meilisearch {
    type Request = ChatRequest;
    type Event = Event;
    type Settings = ();
    type Blocks = Reply;
    type Decoder = Decoder;

    const NAME: &'static str = "meilisearch";
    const CAPABILITIES: Capabilities = Capabilities::TEXT;
    const EXTRAS: Extras<Self> = Extras {
        lost: |_, _, out| {
            // The event has no id, because no environment is available here to create a random one.
            StreamError::new("server_error", AgentError::LOST).write("", out);
            out.extend_from_slice(b"data: [DONE]\n\n");
        },
        ..Extras::NONE
    };

    fn read(_: &Parts, body: Bytes) -> Result<ChatRequest, Refusal> {
        Ok(ChatRequest::read(&body)?)
    }

    fn deltas(event: &Self::Event, to: &mut dyn FnMut(Delta<'_>)) {
        super::deltas::deltas(event, to);
    }

    fn session(request: &ChatRequest, (): &(), env: &Env) -> Session<Reply> {
        session::session(request, env)
    }

    fn refuse(refusal: &Refusal) -> Response<Bytes> {
        refusal.to_response(
            HeaderValue::from_static("application/json"),
            ApiError::from_refusal(refusal).to_json(),
        )
    }
}
