//! A protocol as small as it can be, whose every byte a model can foretell.

use std::convert::Infallible;
use std::panic::resume_unwind;
use std::sync::Arc;

use bytes::Bytes;
use copilot_wire::json::Json;
use copilot_wire::protocol::{
    Block, Blocks, Capabilities, Conversation, Decode, End, Env, EventError, Events, HistoryItem,
    Part, Protocol, RawMessage, Refusal, SendError, Session, Writer,
};
use copilot_wire::sse;
use http::request::Parts;

use super::Stage;

pub struct Plain;

/// A request leads to the stage that the agent plays on.
pub struct Ask(pub Arc<Stage>);

impl Conversation for Ask {
    fn raw_history(&self) -> impl DoubleEndedIterator<Item = HistoryItem<'_>> + Send {
        std::iter::empty()
    }

    fn raw_messages(&self) -> impl Iterator<Item = RawMessage<'_>> + Send {
        std::iter::empty()
    }

    fn each_string(&self, _: &mut dyn FnMut(&str)) {}
}

/// Counts the words, so that the text frame changes.
pub struct Reply(pub usize);

pub struct Say(pub String);
/// An ending, and whether it can be said.
pub struct Ending(pub bool);

/// Panics without calling the panic hook.
pub fn intended() -> ! {
    resume_unwind(Box::new("intended"))
}

impl Protocol for Plain {
    type Request = Ask;
    type Event = Infallible;
    type Settings = ();
    type Blocks = Reply;
    type Decoder = Unread;

    const NAME: &'static str = "plain";
    const CAPABILITIES: Capabilities = Capabilities::QUESTIONS;

    fn read(_: &Parts, _: Bytes) -> Result<Ask, Refusal> {
        Err(Refusal::new(http::StatusCode::NOT_IMPLEMENTED, "no bytes"))
    }

    fn session(_: &Ask, (): &(), _: &Env) -> Session<Reply> {
        Session::new(Reply(0))
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

impl Reply {
    /// Returns `false` after every third part, when text has to go through the session.
    pub fn has_frame(words: usize) -> bool {
        words % 3 != 2
    }
}

type To<'a> = Writer<'a, Reply>;

impl Blocks for Reply {
    type Output = Say;
    type Ending = Ending;
    type Event = String;

    fn write(&self, event: &String, out: &mut Vec<u8>) {
        out.extend_from_slice(event.as_bytes());
    }

    fn begin(&mut self, to: &mut To<'_>) {
        to.event(self, "open\n");
    }

    fn piece(&self, _: Block, text: String) -> Option<String> {
        let text = Json::encode(&text).unwrap_or_default();
        let text = text.text().trim_matches('"');
        Some(format!("<{}{text}>\n", self.0))
    }

    fn part(&mut self, part: Part<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        let status = match part {
            Part::Text(text) if !Self::has_frame(self.0) => {
                to.event(self, format!("<{}{text}", self.0));
                if text == PANIC {
                    intended();
                }
                to.event(self, ">\n");
                return Ok(());
            }
            Part::Text(_) => return to.part(self, part),
            Part::Status(status) => status,
            _ => return Err(SendError::Unsupported("that part")),
        };
        to.event(self, format!("word {}", status.message));
        match &*status.message {
            FAIL => return Err(SendError::Unsupported("half a part")),
            PANIC => intended(),
            _ => {}
        }
        to.event(self, "\n");
        to.close(self);
        self.0 += 1;
        Ok(())
    }

    fn output(&mut self, Say(text): &Say, to: &mut To<'_>) -> Result<(), SendError> {
        to.event(self, format!("say {text}\n"));
        Ok(())
    }

    fn ending(&mut self, Ending(well): &Ending, to: &mut To<'_>) -> Result<(), SendError> {
        to.event(self, "ending");
        if !well {
            return Err(SendError::Invalid("half an ending".into()));
        }
        to.event(self, "\n");
        Ok(())
    }

    fn end(&mut self, end: End<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        to.event(
            self,
            match end {
                End::Failed(failure) => format!("fail {}\n", failure.message),
                _ => "finish\n".to_owned(),
            },
        );
        Ok(())
    }

    fn keep_alive(&mut self, to: &mut To<'_>) -> bool {
        to.event(self, format!(":{}\n", self.0));
        true
    }
}

/// The text that makes a part fail in the middle.
pub const FAIL: &str = "fails";
/// The text that makes a part or text panic in the middle.
pub const PANIC: &str = "panics";
