//! The traits that a protocol implements, and the vocabulary that all protocols share.
//!
//! A protocol is a folder with one type that implements [`Protocol`]: it reads requests, writes replies ([`Blocks`])
//! and decodes events ([`Decode`]). The reply, the body and the router use only these traits.
//!
//! # The shared vocabulary
//!
//! An agent for every front end calls the methods of [`Reply`](crate::Reply). Each call becomes a [`Part`], and the
//! module of each protocol has a table of the events that it sends for each part. A part that a protocol does not have
//! becomes the closest accurate equivalent, or nothing, but never an invalid or misleading event.
//! [`Protocol::CAPABILITIES`] lists the parts for which a front end has its own display.
//!
//! # Questions
//!
//! If the front end has dialogs, the user answers a question in a dialog. Otherwise the question is a line of text
//! after the other text of the answer, which a model may have written. So the line has a proof that this server asked
//! the question at this place, and a code that only a reader of the line can know.
//! [`Request::decision`](crate::Request::decision) checks both.

mod blocks;
pub(crate) mod calls;
mod completion;
mod conversation;
mod decode;
mod decoder;
mod env;
mod extras;
pub(crate) mod fragments;
pub(crate) mod frame_event;
mod framing;
mod items;
mod payloads;
mod record;
mod room;
mod session;
#[cfg(feature = "tracing")]
pub(crate) mod spans;
mod surrogates;
mod text_frame;
mod text_template;
mod turn;
mod typed;
mod variants;

pub use crate::consent::{Decision, Verdict, find_question, plain_text};
pub use crate::vocabulary::*;
#[allow(unused_imports, reason = "for protocols that check calls themselves")]
pub(crate) use blocks::NOT_OFFERED;
pub use blocks::{Block, Blocks, End, Writer};
pub use completion::{Completion, CompletionError};
pub use conversation::Conversation;
#[allow(unused_imports, reason = "only prompts to models have it")]
pub(crate) use conversation::with_reasoning;
/// Implements the trait `FrameEvent` for an enum.
pub use copilot_wire_derive::FrameEvent;
pub use decode::{Decode, Events, TextMember};
pub use decoder::EventDecoder;
pub use env::{Env, Environment, Ticks, date_time};
pub use extras::{Answered, Extras, Resumption};
pub use frame_event::{FrameDecoder, FrameEvent};
pub use framing::{Frames, Framing};
pub use items::CompletedItem;
pub use payloads::Payloads;
pub(crate) use record::{Progress, Record};
pub use room::Room;
pub use session::{Followed, FrameKind, Session};
pub(crate) use text_frame::LONGEST_PIECE;
pub use text_frame::TextFrame;
pub use turn::{Outcome, Turn};

use std::borrow::Cow;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Response};

/// An event of `P` that does not end the turn.
pub type Output<P> = <<P as Protocol>::Blocks as Blocks>::Output;

/// An event of `P` that ends the turn.
pub type Ending<P> = <<P as Protocol>::Blocks as Blocks>::Ending;

/// The protocol of one chat front end: its requests, its events, and the rules of its stream.
pub trait Protocol: Sized + Send + Sync + 'static {
    /// The typed request.
    type Request: Conversation + Send + Sync + 'static;

    /// The settings of a mount that its replies use. `()` if there are none.
    type Settings: Clone + Default + Send + Sync + 'static;

    /// An event of a stream, as the decoder of a client returns it.
    type Event: Send + 'static;

    /// The declaration of how one reply is written.
    type Blocks: Blocks;

    /// The decoder of one stream.
    type Decoder: Decode<Event = Self::Event>;

    /// The name in reports and messages: lower-case letters, digits and `-`.
    const NAME: &'static str;

    /// The parts of a reply for which the front end has a display of its own.
    const CAPABILITIES: Capabilities;

    /// The framing of a stream. [`Framing::Sse`] by default.
    const FRAMING: Framing = Framing::Sse;

    /// The rules that only some protocols have. [`Extras::NONE`] by default.
    const EXTRAS: Extras<Self> = Extras::NONE;

    /// Reads a request.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] with the status and the place of the fault.
    fn read(parts: &Parts, body: Bytes) -> Result<Self::Request, Refusal>;

    /// Returns the id that all turns of a conversation share. `None` if the front end sends none, which is the default.
    fn conversation_id<'a>(
        request: &'a Self::Request,
        headers: &'a HeaderMap,
    ) -> Option<Cow<'a, str>> {
        let _ = (request, headers);
        None
    }

    /// Creates the session of the reply to `request`. `settings` are those of the mount that received the request.
    fn session(
        request: &Self::Request,
        settings: &Self::Settings,
        env: &Env,
    ) -> Session<Self::Blocks>;

    /// Reads what an event of a stream adds to the answer, and passes each piece to `to`: the inverse of what the
    /// [session](Self::session) writes for the parts of the shared vocabulary. An event that is specific to the
    /// protocol adds nothing, which is the default.
    fn deltas(event: &Self::Event, to: &mut dyn FnMut(Delta<'_>)) {
        let _ = (event, to);
    }

    /// Returns the response that refuses a request, in the format that clients of this protocol expect.
    /// [`Refusal::to_json`] by default.
    ///
    /// It is also the response to a failed turn if the failure has a status: because the request wants one JSON
    /// document, or because nothing was sent [yet](Extras::awaits_output). The code of the refusal is then
    /// `agent_failed`, `overloaded` for a [retryable](AgentError::retryable) failure, or `context_length_exceeded` for
    /// a conversation that is [too long](AgentError::too_long).
    fn refuse(refusal: &Refusal) -> Response<Bytes> {
        refusal.to_response(
            HeaderValue::from_static("application/json"),
            refusal.to_json(),
        )
    }
}
