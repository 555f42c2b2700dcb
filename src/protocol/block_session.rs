//! Replies that are made of blocks, and the rules that all of them share.

use std::collections::HashSet;
use std::convert::Infallible;
use std::{fmt, mem};

use super::{
    AgentError, Chart, Citation, Cut, Failure, Framing, Notice, Part, Question, SendError, Session,
    Status, Table, TextFrame, ToolCall, ToolRun, Usage, markdown,
};
use crate::json::{Escape, Kind};

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

/// One reply of a protocol: how its blocks begin, grow and end. With [`BlockSession`] it is a [`Session`].
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

    /// The reason why a tool that is not among the [tools of the session](BlockSession::tools) cannot be called.
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
        to.state.citations.push(citation.clone());
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

    /// Returns the id of the reply, as [`Session::reply_id`]. `None` by default.
    fn reply_id(&self) -> Option<&str> {
        None
    }
}

/// The part of a [`BlockSession`] that is the same in all protocols.
struct State<D> {
    open: Option<Block>,
    /// The bytes around a piece of the open block, from the second piece on.
    frame: Option<TextFrame>,
    has_text: bool,
    has_begun: bool,
    is_done: bool,
    has_failed: bool,
    tools: HashSet<String>,
    citations: Vec<Citation>,
    /// `false` if the answer is a document.
    is_stream: bool,
    document: Option<D>,
    /// The beginning, if what followed it was refused: the caller has taken the bytes of both back.
    beginning: Vec<u8>,
}

impl<D> State<D> {
    fn check_tool<B: Blocks>(&self, name: &str) -> Result<(), SendError> {
        match self.tools.contains(name) {
            true => Ok(()),
            false => Err(SendError::Unsupported(B::NOT_OFFERED)),
        }
    }
}

/// The place that a reply is written to: the stream or the document.
pub struct Writer<'a, B: Blocks> {
    state: &'a mut State<B::Document>,
    out: &'a mut Vec<u8>,
    /// The first error of the document.
    result: Result<(), SendError>,
}

impl<B: Blocks> Writer<'_, B> {
    /// Writes an event.
    pub fn event(&mut self, blocks: &B, event: impl Into<B::Event>) {
        let event = event.into();
        match &mut self.state.document {
            Some(document) if self.result.is_ok() => self.result = document.push(&event),
            Some(_) => {}
            None => blocks.write(&event, self.out),
        }
    }

    /// Writes a piece of a block, which is opened if need be. Empty text writes nothing.
    pub fn piece(&mut self, blocks: &mut B, block: Block, text: &str) {
        if text.is_empty() {
            return;
        }
        let is_first = !self.is_open(block);
        if is_first {
            self.open(blocks, block);
        }
        match (&self.state.frame, &mut self.state.document) {
            (Some(frame), _) => frame.write(text, self.out),
            (None, Some(document)) if block == Block::Text && !is_first => {
                if self.result.is_ok() {
                    self.result = document.push_text(text);
                }
            }
            (None, document) => {
                let is_framed = document.is_none() && !is_first;
                self.event(blocks, blocks.piece(block, text.to_owned()));
                if is_framed {
                    self.state.frame = TextFrame::of(B::ESCAPE, |text, out| {
                        blocks.write(&blocks.piece(block, text), out);
                    });
                }
            }
        }
    }

    /// Writes text. Empty text writes nothing.
    pub fn text(&mut self, blocks: &mut B, text: &str) {
        self.piece(blocks, Block::Text, text);
    }

    /// Writes Markdown that the agent has not written.
    pub fn markdown(&mut self, blocks: &mut B, markdown: &str) {
        let markdown = match B::TRIMS && !self.is_open(Block::Text) {
            true => markdown.trim_start_matches('\n'),
            false => markdown,
        };
        self.text(blocks, markdown);
    }

    /// Opens a block. The block that is open is closed first.
    pub fn open(&mut self, blocks: &mut B, block: Block) {
        self.close(blocks);
        self.state.has_text |= block == Block::Text;
        blocks.open(block, self);
        self.state.open = Some(block);
    }

    /// Closes the block that is open, if there is one.
    pub fn close(&mut self, blocks: &mut B) {
        self.state.frame = None;
        if let Some(block) = self.state.open.take() {
            blocks.close(block, self);
        }
    }

    /// Returns `true` if this block is open.
    #[must_use]
    pub fn is_open(&self, block: Block) -> bool {
        self.state.open == Some(block)
    }

    /// Checks that the front end offers a tool, for a call in the protocol's own form.
    ///
    /// # Errors
    ///
    /// [`SendError::Unsupported`] if it does not.
    pub fn check_tool(&self, name: &str) -> Result<(), SendError> {
        self.state.check_tool::<B>(name)
    }

    /// Returns `true` once there is text.
    #[must_use]
    pub fn has_text(&self) -> bool {
        self.state.has_text
    }

    /// Writes the buffered sources, once.
    pub fn sources(&mut self, blocks: &mut B) {
        let citations = mem::take(&mut self.state.citations);
        if !citations.is_empty() {
            blocks.sources(&citations, self);
        }
    }

    /// Ends the reply as a failure. Returns the bytes of the response to a request without a stream, to which the
    /// error is written in place of the document.
    pub fn fail(&mut self) -> Option<&mut Vec<u8>> {
        self.state.is_done = true;
        self.state.has_failed = true;
        self.state.document.take().map(|_| &mut *self.out)
    }

    /// Returns the bytes of the stream.
    pub fn stream(&mut self) -> &mut Vec<u8> {
        self.out
    }
}

impl<B: Blocks> fmt::Debug for Writer<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("open", &self.state.open)
            .finish_non_exhaustive()
    }
}

/// The space that is reserved for the beginning of a stream.
const BEGINNING: usize = 512;

/// A [`Session`] that is made of [`Blocks`].
pub struct BlockSession<B: Blocks> {
    blocks: B,
    state: State<B::Document>,
}

impl<B: Blocks> BlockSession<B> {
    /// Creates the session of a stream.
    #[must_use]
    pub fn new(blocks: B) -> Self {
        Self {
            blocks,
            state: State {
                open: None,
                frame: None,
                has_text: false,
                has_begun: false,
                is_done: false,
                has_failed: false,
                tools: HashSet::new(),
                citations: Vec::new(),
                is_stream: true,
                document: None,
                beginning: Vec::new(),
            },
        }
    }

    /// Sets the names of the tools that the front end offers. None by default, and never one without a name.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = String>) -> Self {
        let tools = tools.into_iter().filter(|name| !name.is_empty());
        self.state.tools = tools.collect();
        self
    }

    /// Sets the document of an answer without a stream.
    #[must_use]
    pub fn document(mut self, document: Option<B::Document>) -> Self {
        self.state.is_stream = document.is_none();
        self.state.document = document;
        self
    }

    fn write(
        &mut self,
        out: &mut Vec<u8>,
        write: impl FnOnce(&mut B, &mut Writer<'_, B>) -> Result<(), SendError>,
    ) -> Result<(), SendError> {
        if !self.state.has_begun && self.state.is_stream {
            // Not byte by byte: the buffer of a new reply has no space.
            out.reserve(BEGINNING);
        }
        let start = out.len();
        out.append(&mut self.state.beginning);
        let mut writer = Writer {
            state: &mut self.state,
            out,
            result: Ok(()),
        };
        if !mem::replace(&mut writer.state.has_begun, true) {
            self.blocks.begin(&mut writer);
        }
        let begun = writer.out.len();
        let written = write(&mut self.blocks, &mut writer).and(writer.result);
        if written.is_err() {
            let beginning = out.get(start..begun).unwrap_or_default();
            self.state.beginning = beginning.to_vec();
        }
        written
    }

    fn check(&self, calls: &[ToolCall]) -> Result<(), SendError> {
        for call in calls {
            self.state.check_tool::<B>(&call.name)?;
            if call.arguments.kind() != Kind::Object {
                return Err(SendError::Invalid("arguments must be an object".into()));
            }
        }
        Ok(())
    }

    fn end(
        &mut self,
        out: &mut Vec<u8>,
        end: impl FnOnce(&mut B, &mut Writer<'_, B>) -> Result<(), SendError>,
    ) {
        if !self.state.is_done {
            let ended = self.write(out, |blocks, to| {
                to.sources(blocks);
                end(blocks, to)
            });
            // Calls that are not valid, or a document beyond its limit: the turn has failed, whatever the agent
            // returned.
            if ended.is_err() {
                return self.fail(&Failure::new(AgentError::DEFAULT), out);
            }
            self.state.is_done = true;
        }
        match self.state.document.take() {
            Some(document) => document.finish(out),
            None => self.trail(out),
        }
    }

    fn trail(&mut self, out: &mut Vec<u8>) {
        if self.state.is_stream {
            // The bytes of a stream cannot be refused.
            let _ = self.write(out, |blocks, to| {
                blocks.trail(to);
                Ok(())
            });
        }
    }
}

impl<B: Blocks> Session for BlockSession<B> {
    type Output = B::Output;
    type Ending = B::Ending;

    fn open(&mut self, out: &mut Vec<u8>) {
        // The beginning is small: it fits into a document.
        let _ = self.write(out, |_, _| Ok(()));
    }

    fn text_frame(&self) -> Option<TextFrame> {
        let is_text = self.state.open == Some(Block::Text);
        self.state.frame.clone().filter(|_| is_text)
    }

    fn text(&mut self, text: &str, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.write(out, |blocks, to| {
            to.text(blocks, text);
            Ok(())
        })
    }

    fn part(&mut self, part: Part<'_>, out: &mut Vec<u8>) -> Result<(), SendError> {
        if let Part::Calls(calls) = part {
            // All are checked before the first is written: all are made, or none.
            self.check(calls)?;
        }
        self.write(out, |blocks, to| {
            match part {
                Part::Reasoning(text) => blocks.reasoning(text, to),
                Part::Status(status) => blocks.status(status, to),
                Part::ToolRun(run) => blocks.tool_run(run, to)?,
                Part::Usage(usage) => blocks.usage(usage, to),
                Part::Cite(citation) => blocks.cite(citation, to),
                Part::Table(table) => blocks.table(table, to)?,
                Part::Chart(chart) => blocks.chart(chart, to)?,
                Part::Error(notice) => blocks.error(notice, to),
                Part::Confirm(question) => blocks.confirm(question, to)?,
                Part::Calls(calls) => blocks.calls(calls, to)?,
                Part::Cut(cut) => blocks.cut(cut, to),
            }
            Ok(())
        })
    }

    fn output(&mut self, output: &B::Output, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.write(out, |blocks, to| blocks.output(output, to))
    }

    fn ending(&mut self, ending: &B::Ending, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.write(out, |blocks, to| blocks.ending(ending, to))
    }

    fn keep_alive(&mut self, framing: Framing, out: &mut Vec<u8>) {
        match self.state.is_done {
            // Nothing but what is no event may follow the end.
            true => out.extend_from_slice(framing.keep_alive()),
            false => self.blocks.keep_alive(framing, self.state.has_begun, out),
        }
    }

    fn is_failed(&self) -> bool {
        self.state.has_failed
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        self.end(out, B::end);
    }

    fn cancelled(&mut self, out: &mut Vec<u8>) {
        self.end(out, B::cancelled);
    }

    fn reply_id(&self) -> Option<&str> {
        self.blocks.reply_id()
    }

    fn fail(&mut self, failure: &Failure<'_>, out: &mut Vec<u8>) {
        if !self.state.is_done {
            // The bytes of a stream cannot be refused, and a document is not written.
            let _ = self.write(out, |blocks, to| {
                blocks.fail(failure, to);
                Ok(())
            });
            self.state.is_done = true;
        }
        self.trail(out);
    }
}

impl<B: Blocks> fmt::Debug for BlockSession<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockSession")
            .field("open", &self.state.open)
            .field("is_done", &self.state.is_done)
            .finish_non_exhaustive()
    }
}
