//! The declaration of how the replies of a protocol are written.

use std::time::Duration;

use http::StatusCode;

use super::writer::Writer;
use super::{Completion, Part, Refusal, SendError};

/// A part of a reply that has a beginning and an end. At most one block is open at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Block {
    /// Text of the answer.
    Text,
    /// Reasoning.
    Reasoning,
    /// A block of a kind that is specific to the protocol.
    Other,
}

/// The end of a turn.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum End<'a> {
    /// The turn was answered, perhaps with calls or an [`ending`](Blocks::ending).
    Answered,
    /// The turn was cancelled: the output so far is the answer.
    Cancelled,
    /// The turn failed.
    Failed(&'a Failure<'a>),
}

/// The failure of a turn, as it is sent to the front end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure<'a> {
    /// A message for the user.
    pub message: &'a str,
    /// `true` if the client may retry the turn. `false` by default, because a retry would repeat the side effects of an
    /// agent.
    pub retryable: bool,
    /// `true` if the conversation is too long for the model. Some clients then compact the conversation.
    pub too_long: bool,
    /// The code or the class of an error that was read from a stream. A session writes its own.
    pub code: Option<&'a str>,
}

impl<'a> Failure<'a> {
    /// Creates a failure that must not be retried.
    #[must_use]
    pub fn new(message: &'a str) -> Self {
        Self {
            message,
            retryable: false,
            too_long: false,
            code: None,
        }
    }

    /// Converts the failure into the refusal of a request, with `status`. A client may retry after `delay`.
    pub(crate) fn to_refusal(self, status: StatusCode, delay: Option<Duration>) -> Refusal {
        let refusal = Refusal::new(status, self.message.to_owned());
        match (self.too_long, delay) {
            (true, _) => refusal.code(Refusal::TOO_LONG),
            (_, Some(delay)) => refusal.code("overloaded").retry_after(delay),
            _ => refusal.code("agent_failed"),
        }
    }
}

/// One reply of a protocol: how its blocks begin, grow and end. A [`Session`](super::Session) writes it.
///
/// The session opens a block before its first piece and closes it before any other event. It buffers the sources and
/// writes them before a question, before calls and at the end. It checks calls, ends a reply once, and collects a
/// [document](Self::document) if the answer is not a stream.
///
/// A method that fails must leave the reply unchanged: the bytes that it has written are removed.
pub trait Blocks: Sized + Send + 'static {
    /// An event that does not end the turn.
    type Output: Send + 'static;
    /// An event that ends the turn and asks the front end for something, such as a tool call.
    /// [`Infallible`](std::convert::Infallible) if the protocol has none.
    type Ending: Send + 'static;
    /// An event of the stream.
    type Event;

    /// `true` if Markdown that this crate generates, such as a list of sources, loses its leading blank lines at the
    /// beginning of a block.
    const TRIMS: bool = false;

    /// Appends an event to a stream, in the [framing](super::Protocol::FRAMING) of the protocol: a server-sent event
    /// with [`FrameEvent::write`](super::FrameEvent::write), a line with
    /// [`write_data`](super::FrameEvent::write_data) and LF.
    fn write(&self, event: &Self::Event, out: &mut Vec<u8>);

    /// Writes the document of an answer, which says the same as its stream. The completion has its
    /// [items](Completion::into_items). A session that collects a [document](super::Session::document) calls it, and so
    /// does a passthrough of another server's stream. Writes nothing by default, for a protocol that has only streams.
    fn document(answer: Completion, out: &mut Vec<u8>) {
        let _ = (answer, out);
    }

    /// Writes the beginning of the stream.
    fn begin(&mut self, to: &mut Writer<'_, Self>) {
        let _ = to;
    }

    /// Writes the beginning of a block.
    fn open(&mut self, block: Block, to: &mut Writer<'_, Self>) {
        let _ = (block, to);
    }

    /// Returns a piece of the open block. While a block is open, its pieces differ only in their text. `None`, the
    /// default, for a protocol with [one frame](super::Session::frame) for all pieces, or which writes
    /// [text](Part::Text) and reasoning itself.
    fn piece(&self, block: Block, text: String) -> Option<Self::Event> {
        let _ = (block, text);
        None
    }

    /// Writes the end of a block.
    fn close(&mut self, block: Block, to: &mut Writer<'_, Self>) {
        let _ = (block, to);
    }

    /// Writes an event that is specific to this protocol.
    ///
    /// # Errors
    ///
    /// [`SendError`] when the event cannot be sent; the event has no effect then.
    fn output(&mut self, output: &Self::Output, to: &mut Writer<'_, Self>)
    -> Result<(), SendError>;

    /// Records or writes an event that is specific to this protocol and ends the turn. The session then calls
    /// [`end`](Self::end), unless the event is a [failure](Writer::fail); so record here what the last frame must
    /// contain.
    ///
    /// # Errors
    ///
    /// [`SendError`] when the event cannot be sent; the event has no effect then.
    fn ending(&mut self, ending: &Self::Ending, to: &mut Writer<'_, Self>)
    -> Result<(), SendError>;

    /// Writes a part of the shared vocabulary. By default, and for each part that an implementation does not know,
    /// [`Writer::part`]: text and reasoning are pieces of blocks, a tool that the agent ran is a step, sources are
    /// buffered, tables, charts, notices and questions are Markdown, a cut is a notice, steps and usage are left out,
    /// and calls are refused.
    ///
    /// [Calls](Part::Calls) are of tools that the front end offers, with objects as arguments. An implementation that
    /// writes them at once must write the [sources](Writer::sources) first. After a question, calls or a cut, the
    /// session calls [`end`](Self::end).
    ///
    /// # Errors
    ///
    /// [`SendError`] when the part cannot be sent.
    fn part(&mut self, part: Part<'_>, to: &mut Writer<'_, Self>) -> Result<(), SendError> {
        to.part(self, part)
    }

    /// Writes the end of the reply. The sources of a turn that did not fail are already written. A failure is written
    /// after [`Writer::fail`]; without a stream, [`Protocol::refuse`](super::Protocol::refuse) answers a failed turn,
    /// and this method is called with a failure only if the document of an answered turn cannot be written.
    ///
    /// # Errors
    ///
    /// [`SendError`]; the turn has failed then.
    fn end(&mut self, end: End<'_>, to: &mut Writer<'_, Self>) -> Result<(), SendError>;

    /// Writes a keep-alive after a period of silence. If the method returns `false`, as it does by default, the
    /// keep-alive of the protocol's [framing](super::Framing::keep_alive) is written: a comment, or nothing. If clients
    /// fail at comments, write an event without effect.
    fn keep_alive(&mut self, to: &mut Writer<'_, Self>) -> bool {
        let _ = to;
        false
    }

    /// Returns the id of the reply if it is part of the output and front ends request the reply by this id. `None` by
    /// default.
    fn reply_id(&self) -> Option<&str> {
        None
    }
}
