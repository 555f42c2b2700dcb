//! The chat completion protocol of OpenAI, which every compatible server and client speaks.

mod accumulator;
mod calls;
mod chunk;
mod completion;
mod content;
mod conversation;
mod delta;
mod error;
mod event;
mod finish_reason;
mod logprobs;
mod message;
mod model;
mod read;
mod relay;
mod request;
mod session;
mod tool;
mod tool_call;
mod turn;
mod usage;

pub use accumulator::{Accumulator, TooLarge};
pub use chunk::{ChatCompletionChunk, Choice};
pub use completion::{ChatCompletion, CompletedChoice};
pub use content::{Content, Part};
pub use delta::Delta;
pub use error::ErrorObject;
pub use event::{Ending, Event};
pub use finish_reason::FinishReason;
pub use logprobs::{Logprobs, TokenLogprob};
pub use message::ChatMessage;
pub use model::Model;
pub use relay::{Relay, RelayError};
pub use request::{ChatRequest, StreamOptions};
pub use session::Session;
pub use tool::{Function, Tool};
pub use tool_call::{FunctionCall, FunctionDelta, ToolCall, ToolCallDelta};
pub use usage::Usage;

pub(crate) use model::documents;

use std::borrow::Cow;

use bytes::Bytes;
use http::HeaderMap;
use http::request::Parts;

use crate::json::{Escape, escape};
use crate::protocol::{Env, EventError, Protocol, Refusal, SendError, TextFrame, Word, markdown};
use crate::sse;

/// The chat completion protocol of OpenAI.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OpenAi;

impl Protocol for OpenAi {
    type Request = ChatRequest;
    type Say = ChatCompletionChunk;
    type Ending = Ending;
    type Event = Event;
    type Session = Session;

    const NAME: &'static str = "openai";

    fn read(_: &Parts, body: Bytes) -> Result<ChatRequest, Refusal> {
        ChatRequest::read(&body)
    }

    /// The protocol has none.
    fn conversation_id<'a>(_: &'a ChatRequest, _: &'a HeaderMap) -> Option<Cow<'a, str>> {
        None
    }

    fn session(request: &ChatRequest, env: &Env) -> Session {
        Session::new(request, env)
    }

    fn open(session: &mut Session, out: &mut Vec<u8>) {
        session.open(out);
    }

    fn text_frame(session: &Session) -> TextFrame {
        session.frame().clone()
    }

    fn text(frame: &TextFrame, text: &str, out: &mut Vec<u8>) {
        // An empty chunk is nothing that clients wait for.
        if !text.is_empty() {
            out.extend_from_slice(&frame.head);
            escape(text, Escape::JsonAndSeparators, out);
            out.extend_from_slice(&frame.tail);
        }
    }

    fn word(session: &mut Session, word: Word<'_>, out: &mut Vec<u8>) -> Result<(), SendError> {
        match word {
            // There is no place for a status, and as text it would become part of the answer.
            Word::Status(_) => {}
            Word::Cite(citation) => session.cite(citation),
            Word::Table(table) => session.text(&markdown::table(table), out),
            Word::Chart(chart) => session.text(&markdown::table(&chart.to_table()), out),
            Word::Error(notice) => session.text(&markdown::notice(notice), out),
            Word::Confirm(confirmation) => {
                // The question is the last thing said: that is how it is found again.
                session.sources(out);
                session.text(&markdown::question(confirmation), out);
            }
            Word::Call(call) => session.call(call, out)?,
        }
        Ok(())
    }

    fn encode(session: &mut Session, event: &Event, out: &mut Vec<u8>) -> Result<(), SendError> {
        match event {
            Event::Chunk(chunk) => session.chunk(chunk, out)?,
            Event::Error(error) => session.error(error, out),
            Event::Done => session.finish(out),
        }
        Ok(())
    }

    fn ends(event: &Event) -> bool {
        matches!(event, Event::Error(_) | Event::Done)
    }

    fn finish(session: &mut Session, out: &mut Vec<u8>) {
        session.finish(out);
    }

    fn fail(session: &mut Session, message: &str, out: &mut Vec<u8>) {
        session.error(&ErrorObject::new(message), out);
    }

    fn decode(event: &sse::Event<'_>) -> Result<Event, EventError> {
        Event::read(event.data())
    }

    fn refuse(refusal: &Refusal) -> Vec<u8> {
        ErrorObject::refusal(refusal).to_json()
    }
}
