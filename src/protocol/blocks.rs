//! The declaration of a protocol whose replies are made of blocks.

use std::convert::Infallible;

use super::block_session::Writer;
use super::{
    Chart, Citation, Cut, Failure, Framing, Notice, Question, SendError, Status, Table, ToolCall,
    ToolRun, Usage, markdown,
};
use crate::json::Escape;

/// A part of a reply that begins and ends. At most one is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Block {
    /// Text of the answer.
    Text,
    /// Reasoning.
    Reasoning,
    /// A block of a kind that only the protocol knows.
    Other,
}

/// An answer without a stream: one document, to which the events of the stream add up.
pub trait AnswerDocument<E>: Send + 'static {
    /// Adds an event.
    ///
    /// # Errors
    ///
    /// [`SendError::TooLarge`] when the document would exceed its limit.
    fn push(&mut self, event: &E) -> Result<(), SendError>;

    /// Adds text to the block of text that is open, of which an event with text was pushed before.
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

/// One reply of a protocol: how its blocks begin, grow and end. With [`BlockSession`](super::BlockSession) it is a
/// [`Session`](super::Session).
///
/// The session opens a block with its first piece and closes it before anything else; it buffers the sources and writes
/// them before a question, before calls and at the end; it checks calls; it ends a reply once; and it collects a
/// [`AnswerDocument`] where there is no stream. A part that the protocol says nothing about is written as Markdown, or
/// not at all.
pub trait Blocks: Sized + Send + 'static {
    /// As in [`Protocol`](super::Protocol).
    type Output: Send + 'static;
    /// As in [`Protocol`](super::Protocol).
    type Ending: Send + 'static;
    /// An event of the stream.
    type Event;
    /// The answer without a stream; [`Infallible`] if there is none.
    type Document: AnswerDocument<Self::Event>;

    /// The escape policy of text.
    const ESCAPE: Escape = Escape::JsonAndSeparators;

    /// `true` if Markdown that the agent has not written, such as a list of sources, loses its blank lines at the
    /// beginning of a block.
    const TRIMS: bool = false;

    /// The reason why a tool that is not among the [tools of the session](super::BlockSession::tools) cannot be called.
    const NOT_OFFERED: &'static str = "a tool that the request did not offer";

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

    /// Returns a piece of the block that is open. As long as the block is open, two pieces differ in their text only.
    fn piece(&self, block: Block, text: String) -> Self::Event;

    /// Writes the end of a block.
    fn close(&mut self, block: Block, to: &mut Writer<'_, Self>) {
        let _ = (block, to);
    }

    /// Writes an event of an agent of this protocol.
    ///
    /// # Errors
    ///
    /// [`SendError`] when the event cannot be sent; nothing of the event has an effect then.
    fn output(&mut self, output: &Self::Output, to: &mut Writer<'_, Self>)
    -> Result<(), SendError>;

    /// Records or writes an event of an agent of this protocol that ends the turn. [`end`](Self::end) is called after
    /// it, unless the event is a [failure](Writer::fail), so what belongs into the last frame is kept for `end`.
    ///
    /// # Errors
    ///
    /// [`SendError`] when the event cannot be sent; nothing of the event has an effect then.
    fn ending(&mut self, ending: &Self::Ending, to: &mut Writer<'_, Self>)
    -> Result<(), SendError>;

    /// Writes reasoning.
    fn reasoning(&mut self, text: &str, to: &mut Writer<'_, Self>) {
        to.piece(self, Block::Reasoning, text);
    }

    /// Writes a step of the work. Nothing by default.
    fn status(&mut self, status: &Status, to: &mut Writer<'_, Self>) {
        let _ = (status, to);
    }

    /// Writes a tool that the agent ran. A step of the work by default.
    ///
    /// # Errors
    ///
    /// [`SendError`] when the run cannot be sent.
    fn tool_run(&mut self, run: &ToolRun, to: &mut Writer<'_, Self>) -> Result<(), SendError> {
        self.status(&run.to_status(), to);
        Ok(())
    }

    /// Records the tokens so far. Nothing by default.
    fn usage(&mut self, usage: &Usage, to: &mut Writer<'_, Self>) {
        let _ = (usage, to);
    }

    /// Writes a source. By default all sources are buffered for [`sources`](Self::sources).
    fn cite(&mut self, citation: &Citation, to: &mut Writer<'_, Self>) {
        to.buffer(citation);
    }

    /// Writes the buffered sources. A list in Markdown by default.
    fn sources(&mut self, citations: &[Citation], to: &mut Writer<'_, Self>) {
        to.markdown(self, &markdown::sources(citations));
    }

    /// Writes a table. Markdown by default.
    ///
    /// # Errors
    ///
    /// [`SendError`] when the table cannot be sent.
    fn table(&mut self, table: &Table, to: &mut Writer<'_, Self>) -> Result<(), SendError> {
        to.markdown(self, &table.to_markdown());
        Ok(())
    }

    /// Writes a chart. Markdown by default.
    ///
    /// # Errors
    ///
    /// [`SendError`] when the chart cannot be sent.
    fn chart(&mut self, chart: &Chart, to: &mut Writer<'_, Self>) -> Result<(), SendError> {
        to.markdown(self, &chart.to_markdown());
        Ok(())
    }

    /// Writes an error after which the turn goes on. Markdown by default.
    fn error(&mut self, notice: &Notice, to: &mut Writer<'_, Self>) {
        to.markdown(self, &notice.to_markdown());
    }

    /// Writes a question, behind the sources. By default it is the last text of the answer.
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

    /// Records or writes calls of tools that the front end offers, with objects as arguments. [`end`](Self::end) is
    /// called after it. One that writes the calls itself writes the [sources](Writer::sources) before.
    ///
    /// # Errors
    ///
    /// [`SendError`] when a call cannot be made: then none is made.
    fn calls(&mut self, calls: &[ToolCall], to: &mut Writer<'_, Self>) -> Result<(), SendError>;

    /// Records or writes the reason why the answer ends before it is complete. [`end`](Self::end) is called after it. A
    /// notice in Markdown by default.
    fn cut(&mut self, cut: Cut, to: &mut Writer<'_, Self>) {
        self.error(&cut.to_notice(), to);
    }

    /// Writes the end of an answer, also of one that ended with calls or an [`ending`](Self::ending). The sources have
    /// been written before.
    ///
    /// # Errors
    ///
    /// [`SendError`]; the turn has failed then.
    fn end(&mut self, to: &mut Writer<'_, Self>) -> Result<(), SendError>;

    /// Writes the end of an answer that was cancelled. As [`end`](Self::end) by default.
    ///
    /// # Errors
    ///
    /// [`SendError`]; the turn has failed then.
    fn cancelled(&mut self, to: &mut Writer<'_, Self>) -> Result<(), SendError> {
        self.end(to)
    }

    /// Writes the end of a turn that failed, with [`Writer::fail`]. A turn without a stream is answered by
    /// [`Protocol::refuse`](super::Protocol::refuse), and this is called only if its document cannot be written.
    fn fail(&mut self, failure: &Failure<'_>, to: &mut Writer<'_, Self>);

    /// Writes the last bytes of every stream, including streams that failed. Writes nothing by default.
    fn trail(&mut self, to: &mut Writer<'_, Self>) {
        let _ = to;
    }

    /// Writes a keep-alive after a period of silence. By default the keep-alive of the
    /// [framing](Framing::keep_alive) of the protocol: a comment, or nothing. Where clients fail at comments, write an
    /// event that changes nothing.
    fn keep_alive(&self, framing: Framing, has_begun: bool, out: &mut Vec<u8>) {
        let _ = has_begun;
        out.extend_from_slice(framing.keep_alive());
    }

    /// Returns the id of the reply, as [`Session::reply_id`](super::Session::reply_id). `None` by default.
    fn reply_id(&self) -> Option<&str> {
        None
    }
}
