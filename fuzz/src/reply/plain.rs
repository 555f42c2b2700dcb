//! A protocol as small as it can be, whose every byte a model can foretell.

use std::borrow::Cow;
use std::panic::resume_unwind;
use std::sync::Arc;

use bytes::Bytes;
use copilot_wire::protocol::{
    Conversation, Env, EventError, Message, Protocol, Refusal, SendError, TextFrame, Word,
};
use copilot_wire::sse;
use http::HeaderMap;
use http::request::Parts;

use super::Stage;

pub struct Plain;

/// A request leads to the stage that the agent plays on.
pub struct Ask(pub Arc<Stage>);

impl Conversation for Ask {
    fn messages(&self) -> impl Iterator<Item = Message<'_>> + Send {
        std::iter::empty()
    }
}

/// Counts the words, so that the text frame changes.
pub struct Session(pub usize);

pub struct Say(pub String);
pub struct Ending(pub bool);

pub enum Event {
    Say(String),
    /// An ending, and whether it can be said.
    Ending(bool),
}

impl From<Say> for Event {
    fn from(say: Say) -> Self {
        Self::Say(say.0)
    }
}

impl From<Ending> for Event {
    fn from(ending: Ending) -> Self {
        Self::Ending(ending.0)
    }
}

/// The panic of a test: no hook hears of it.
pub fn intended() -> ! {
    resume_unwind(Box::new("intended"))
}

impl Protocol for Plain {
    type Request = Ask;
    type Say = Say;
    type Ending = Ending;
    type Event = Event;
    type Session = Session;

    const NAME: &'static str = "plain";

    fn read(_: &Parts, _: Bytes) -> Result<Ask, Refusal> {
        Err(Refusal::new(http::StatusCode::NOT_IMPLEMENTED, "no bytes"))
    }

    fn conversation_id<'a>(_: &'a Ask, _: &'a HeaderMap) -> Option<Cow<'a, str>> {
        None
    }

    fn session(_: &Ask, _: &Env) -> Session {
        Session(0)
    }

    fn open(_: &mut Session, out: &mut Vec<u8>) {
        out.extend_from_slice(b"open\n");
    }

    fn keep_alive(session: &Session, out: &mut Vec<u8>) {
        out.extend_from_slice(format!(":{}\n", session.0).as_bytes());
    }

    fn text_frame(session: &Session) -> TextFrame {
        TextFrame::new(format!("<{}", session.0), ">\n")
    }

    fn text(frame: &TextFrame, text: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(&frame.head);
        out.extend_from_slice(text.as_bytes());
        if text == PANIC {
            intended();
        }
        out.extend_from_slice(&frame.tail);
    }

    fn word(session: &mut Session, word: Word<'_>, out: &mut Vec<u8>) -> Result<(), SendError> {
        let Word::Status(status) = word else {
            return Err(SendError::Unsupported("that word"));
        };
        out.extend_from_slice(b"word ");
        out.extend_from_slice(status.message.as_bytes());
        match &*status.message {
            FAIL => return Err(SendError::Unsupported("half a word")),
            PANIC => intended(),
            _ => {}
        }
        out.push(b'\n');
        session.0 += 1;
        Ok(())
    }

    fn encode(_: &mut Session, event: &Event, out: &mut Vec<u8>) -> Result<(), SendError> {
        match event {
            Event::Say(text) => {
                out.extend_from_slice(b"say ");
                out.extend_from_slice(text.as_bytes());
                out.push(b'\n');
                Ok(())
            }
            Event::Ending(well) => {
                out.extend_from_slice(b"ending");
                if !well {
                    return Err(SendError::Invalid("half an ending".into()));
                }
                out.push(b'\n');
                Ok(())
            }
        }
    }

    fn ends(event: &Event) -> bool {
        matches!(event, Event::Ending(_))
    }

    fn finish(_: &mut Session, out: &mut Vec<u8>) {
        out.extend_from_slice(b"finish\n");
    }

    fn fail(_: &mut Session, message: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("fail {message}\n").as_bytes());
    }

    fn decode(_: &sse::Event<'_>) -> Result<Event, EventError> {
        Err(EventError::Shape("never read"))
    }
}

/// What is said to make a word fail half-way.
pub const FAIL: &str = "fails";
/// What is said to make a word or a text panic half-way.
pub const PANIC: &str = "panics";
