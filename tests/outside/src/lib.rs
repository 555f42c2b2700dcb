//! Protocols of front ends that are not the library's: that of [Ollama](ollama), whose streams are lines of JSON, and
//! the Pager, whose streams are server-sent events.
//!
//! A request of the Pager is `{"lines": [{"by": "user", "text": "Hi"}]}`. The answer is a stream of `start`, `delta`
//! and `end` for each block, of notes beside them, of a beat after a while of silence, and of `done` or `failed`.
//! Requests are refused in plain text.

#![allow(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "nobody depends on this package"
)]

mod event;
pub mod ollama;
mod request;
mod session;
mod testing;

pub use event::{Event, Output};
pub use request::{Line, PagerRequest};
pub use session::Reply;
pub use testing::PagerScreen;

use std::sync::Arc;

use bytes::Bytes;
use copilot_wire::Agent;
use copilot_wire::json::Wire as _;
use copilot_wire::protocol::{Capabilities, Env, Extras, FrameDecoder, Protocol, Refusal, Session};
use copilot_wire::router::{Mount, MountError, Site};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Response};

/// Plays the Pager on the playground.
pub const PLAYGROUND: &str = include_str!("playground.js");

/// The protocol of the Pager.
#[derive(Debug)]
pub struct Pager;

impl Protocol for Pager {
    type Request = PagerRequest;
    type Event = Event;
    type Settings = ();
    type Blocks = Reply;
    type Decoder = FrameDecoder<Event>;

    const NAME: &'static str = "pager";
    const CAPABILITIES: Capabilities = Capabilities::STEPS;
    const EXTRAS: Extras<Self> = Extras {
        response_headers: |headers| {
            let name = HeaderName::from_static("x-pager");
            headers.insert(name, HeaderValue::from_static("1"));
        },
        ..Extras::NONE
    };

    fn read(_: &Parts, body: Bytes) -> Result<PagerRequest, Refusal> {
        Ok(PagerRequest::from_json(body)?)
    }

    fn session(_: &PagerRequest, (): &(), _: &Env) -> Session<Reply> {
        Session::new(Reply::default())
    }

    fn refuse(refusal: &Refusal) -> Response<Bytes> {
        let kind = HeaderValue::from_static("text/plain; charset=utf-8");
        refusal.to_response(kind, refusal.to_string())
    }
}

/// A screen that an agent answers on.
#[derive(Clone, Debug)]
pub struct Screen(pub &'static str);

impl Mount for Screen {
    type Protocol = Pager;

    fn mount(self, agent: Arc<dyn Agent<Pager>>, site: &mut Site<'_>) -> Result<(), MountError> {
        site.agent(self.0, agent)
    }
}
