//! A protocol as small as it can be, whose every byte a model can foretell.

use std::convert::Infallible;
use std::panic::resume_unwind;
use std::sync::Arc;

use bytes::Bytes;
use copilot_wire::json::Escape;
use copilot_wire::protocol::{
    self, Capabilities, Conversation, Decode, Env, EventError, Events, Failure, HistoryItem, Part,
    Protocol, RawMessage, Refusal, SendError, TextFrame,
};
use copilot_wire::sse;
use http::request::Parts;

use super::Stage;

pub struct Plain;

/// A request leads to the stage that the agent plays on.
pub struct Ask(pub Arc<Stage>);

impl Conversation for Ask {
    fn raw_history(&self) -> impl Iterator<Item = HistoryItem<'_>> + Send {
        std::iter::empty()
    }

    fn raw_messages(&self) -> impl Iterator<Item = RawMessage<'_>> + Send {
        std::iter::empty()
    }

    fn each_string(&self, _: &mut dyn FnMut(&str)) {}
}

/// Counts the words, so that the text frame changes.
pub struct Session(pub usize);

pub struct Say(pub String);
/// An ending, and whether it can be said.
pub struct Ending(pub bool);

/// Panics without calling the panic hook.
pub fn intended() -> ! {
    resume_unwind(Box::new("intended"))
}

impl Protocol for Plain {
    type Request = Ask;
    type Output = Say;
    type Ending = Ending;
    type Event = Infallible;
    type Settings = ();
    type Session = Session;
    type Decoder = Unread;

    const NAME: &'static str = "plain";
    const CAPABILITIES: Capabilities = Capabilities::QUESTIONS;

    fn read(_: &Parts, _: Bytes) -> Result<Ask, Refusal> {
        Err(Refusal::new(http::StatusCode::NOT_IMPLEMENTED, "no bytes"))
    }

    fn session(_: &Ask, (): &(), _: &Env) -> Session {
        Session(0)
    }
}

/// Nobody reads this protocol.
#[derive(Default)]
pub struct Unread;

impl Decode for Unread {
    type Event = Infallible;

    fn frame(&mut self, _: &sse::Event<'_>, _: &mut Events<Infallible>) -> Result<(), EventError> {
        Err(EventError::Invalid("never read"))
    }
}

impl Session {
    /// Returns `true` after every third part, when text has to go through the session.
    pub fn has_frame(words: usize) -> bool {
        words % 3 != 2
    }
}

impl protocol::Session for Session {
    type Output = Say;
    type Ending = Ending;

    fn open(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"open\n");
    }

    fn keep_alive(&mut self, _: protocol::Framing, out: &mut Vec<u8>) {
        out.extend_from_slice(format!(":{}\n", self.0).as_bytes());
    }

    fn text_frame(&self) -> Option<TextFrame> {
        let head = format!("<{}", self.0);
        Self::has_frame(self.0).then(|| TextFrame::new(head, ">\n", Escape::Json))
    }

    fn text(&mut self, text: &str, out: &mut Vec<u8>) -> Result<(), SendError> {
        out.extend_from_slice(format!("<{}{text}", self.0).as_bytes());
        if text == PANIC && !Self::has_frame(self.0) {
            intended();
        }
        out.extend_from_slice(b">\n");
        Ok(())
    }

    fn part(&mut self, part: Part<'_>, out: &mut Vec<u8>) -> Result<(), SendError> {
        let Part::Status(status) = part else {
            return Err(SendError::Unsupported("that part"));
        };
        out.extend_from_slice(b"word ");
        out.extend_from_slice(status.message.as_bytes());
        match &*status.message {
            FAIL => return Err(SendError::Unsupported("half a part")),
            PANIC => intended(),
            _ => {}
        }
        out.push(b'\n');
        self.0 += 1;
        Ok(())
    }

    fn output(&mut self, Say(text): &Say, out: &mut Vec<u8>) -> Result<(), SendError> {
        out.extend_from_slice(b"say ");
        out.extend_from_slice(text.as_bytes());
        out.push(b'\n');
        Ok(())
    }

    fn ending(&mut self, Ending(well): &Ending, out: &mut Vec<u8>) -> Result<(), SendError> {
        out.extend_from_slice(b"ending");
        if !well {
            return Err(SendError::Invalid("half an ending".into()));
        }
        out.push(b'\n');
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"finish\n");
    }

    fn fail(&mut self, failure: &Failure<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("fail {}\n", failure.message).as_bytes());
    }
}

/// The text that makes a part fail in the middle.
pub const FAIL: &str = "fails";
/// The text that makes a part or text panic in the middle.
pub const PANIC: &str = "panics";
