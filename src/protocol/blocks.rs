//! The declaration of a protocol whose replies are made of blocks.

use std::convert::Infallible;

use super::block_session::Writer;
use super::{
    Chart, Citation, Cut, Failure, Framing, Notice, Question, SendError, Status, Table, ToolCall,
    ToolRun, Usage, markdown,
};
use crate::json::Escape;

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

/// An answer without a stream: one document that accumulates the events of the reply.
pub trait AnswerDocument<E>: Send + 'static {
    /// Adds an event.
    ///
    /// # Errors
    ///
    /// [`SendError::TooLarge`] when the document would exceed its limit.
    fn push(&mut self, event: &E) -> Result<(), SendError>;

    /// Adds text to the open text block. An event with text of this block has been pushed before.
    ///
    /// # Errors
    ///
    /// [`SendError::TooLarge`] when the document would exceed its limit.
    fn push_text(&mut self, text: &str) -> Result<(), SendError>;

    /// Writes the document.
    fn finish(self, out: &mut Vec<u8>);
}

/// The document of protocols that have only streams.
impl<E: 'static> AnswerDocument<E> for Infallible {
    fn push(&mut self, _: &E) -> Result<(), SendError> {
        match *self {}
    }

    fn push_text(&mut self, _: &str) -> Result<(), SendError> {
        match *self {}
    }

    fn finish(self, _: &mut Vec<u8>) {
        match self {}
    }
}

/// One reply of a protocol: how its blocks begin, grow and end. [`BlockSession`](super::BlockSession) makes a
/// [`Session`](super::Session) of it.
///
/// The session opens a block before its first piece and closes it before any other event. It buffers the sources and
/// writes them before a question, before calls and at the end. It checks calls, ends a reply once, and collects an
/// [`AnswerDocument`] if the answer is not a stream. A part whose method is not overridden is written as Markdown or
/// left out.
pub trait Blocks: Sized + Send + 'static {
    /// See [`Protocol::Output`](super::Protocol::Output).
    type Output: Send + 'static;
    /// See [`Protocol::Ending`](super::Protocol::Ending).
    type Ending: Send + 'static;
    /// An event of the stream.
    type Event;
    /// The answer without a stream; [`Infallible`] if the protocol has only streams.
    type Document: AnswerDocument<Self::Event>;

    /// The escape policy of text.
    const ESCAPE: Escape = Escape::JsonAndSeparators;

    /// `true` if Markdown that this crate generates, such as a list of sources, loses its leading blank lines at the
    /// beginning of a block.
    const TRIMS: bool = false;

    /// The reason why a tool that is not among the [tools of the session](super::BlockSession::tools) cannot be called.
    const NOT_OFFERED: &'static str = "a tool that the request did not offer";

    /// `true` if a call that a model made is written even if its tool is not among the
    /// [tools of the session](super::BlockSession::tools), or its arguments are not an object.
    const TAKES_ANY_CALL: bool = false;

    /// Appends an event to a stream.
    fn write(&self, event: &Self::Event, out: &mut Vec<u8>);

    /// Writes the beginning of the stream.
    fn begin(&mut self, to: &mut Writer<'_, Self>) {
        let _ = to;
    }

    /// Writes the beginning of a block.
    fn open(&mut self, block: Block, to: &mut Writer<'_, Self>) {
        let _ = (block, to);
    }

    /// Returns a piece of the open block. While a block is open, its pieces differ only in their text.
    fn piece(&self, block: Block, text: String) -> Self::Event;

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

    /// Writes reasoning.
    fn reasoning(&mut self, text: &str, to: &mut Writer<'_, Self>) {
        to.piece(self, Block::Reasoning, text);
    }

    /// Writes a step of the work. By default nothing.
    fn status(&mut self, status: &Status, to: &mut Writer<'_, Self>) {
        let _ = (status, to);
    }

    /// Writes a tool that the agent ran. By default a step of the work.
    ///
    /// # Errors
    ///
    /// [`SendError`] when the run cannot be sent.
    fn tool_run(&mut self, run: &ToolRun, to: &mut Writer<'_, Self>) -> Result<(), SendError> {
        self.status(&run.to_status(), to);
        Ok(())
    }

    /// Records the tokens so far. By default nothing.
    fn usage(&mut self, usage: &Usage, to: &mut Writer<'_, Self>) {
        let _ = (usage, to);
    }

    /// Writes a source. By default all sources are buffered for [`sources`](Self::sources).
    fn cite(&mut self, citation: &Citation, to: &mut Writer<'_, Self>) {
        to.buffer(citation);
    }

    /// Writes the buffered sources. By default a list in Markdown.
    fn sources(&mut self, citations: &[Citation], to: &mut Writer<'_, Self>) {
        to.markdown(self, &markdown::sources(citations));
    }

    /// Writes a table. By default Markdown.
    ///
    /// # Errors
    ///
    /// [`SendError`] when the table cannot be sent.
    fn table(&mut self, table: &Table, to: &mut Writer<'_, Self>) -> Result<(), SendError> {
        to.markdown(self, &table.to_markdown());
        Ok(())
    }

    /// Writes a chart. By default a table in Markdown.
    ///
    /// # Errors
    ///
    /// [`SendError`] when the chart cannot be sent.
    fn chart(&mut self, chart: &Chart, to: &mut Writer<'_, Self>) -> Result<(), SendError> {
        to.markdown(self, &chart.to_markdown());
        Ok(())
    }

    /// Writes an error that does not end the turn. By default Markdown.
    fn error(&mut self, notice: &Notice, to: &mut Writer<'_, Self>) {
        to.markdown(self, &notice.to_markdown());
    }

    /// Writes a question, after the sources. By default the question is the last text of the answer.
    ///
    /// # Errors
    ///
    /// [`SendError::Invalid`] when the question is too long.
    fn confirm(
        &mut self,
        question: &Question<'_>,
        to: &mut Writer<'_, Self>,
    ) -> Result<(), SendError> {
        let text = question.to_text()?;
        to.sources(self);
        to.markdown(self, &text);
        Ok(())
    }

    /// Records or writes calls of tools that the front end offers; their arguments are objects. The session then calls
    /// [`end`](Self::end). An implementation that writes the calls here must write the [sources](Writer::sources)
    /// first.
    ///
    /// # Errors
    ///
    /// [`SendError`] when a call cannot be made; no call is made then.
    fn calls(&mut self, calls: &[ToolCall], to: &mut Writer<'_, Self>) -> Result<(), SendError>;

    /// Records or writes the reason why the answer ends before it is complete. By default a notice in Markdown. The
    /// session then calls [`end`](Self::end).
    fn cut(&mut self, cut: Cut, to: &mut Writer<'_, Self>) {
        self.error(&cut.to_notice(), to);
    }

    /// Writes the end of an answer, including answers that ended with calls or an [`ending`](Self::ending). The session
    /// has already written the sources.
    ///
    /// # Errors
    ///
    /// [`SendError`]; the turn has failed then.
    fn end(&mut self, to: &mut Writer<'_, Self>) -> Result<(), SendError>;

    /// Writes the end of an answer that was cancelled. By default the same as [`end`](Self::end).
    ///
    /// # Errors
    ///
    /// [`SendError`]; the turn has failed then.
    fn cancelled(&mut self, to: &mut Writer<'_, Self>) -> Result<(), SendError> {
        self.end(to)
    }

    /// Writes the end of a turn that failed, with [`Writer::fail`]. Without a stream,
    /// [`Protocol::refuse`](super::Protocol::refuse) answers a failed turn, and this method is called only if the
    /// document of an answered turn cannot be written.
    fn fail(&mut self, failure: &Failure<'_>, to: &mut Writer<'_, Self>);

    /// Writes the last bytes of every stream, including streams that failed. Writes nothing by default.
    fn trail(&mut self, to: &mut Writer<'_, Self>) {
        let _ = to;
    }

    /// Writes a keep-alive after a period of silence. By default the keep-alive of the protocol's
    /// [framing](Framing::keep_alive): a comment, or nothing. If clients fail at comments, write an event without
    /// effect.
    fn keep_alive(&self, framing: Framing, has_begun: bool, out: &mut Vec<u8>) {
        let _ = has_begun;
        out.extend_from_slice(framing.keep_alive());
    }

    /// Returns the id of the reply; see [`Session::reply_id`](super::Session::reply_id). `None` by default.
    fn reply_id(&self) -> Option<&str> {
        None
    }
}
