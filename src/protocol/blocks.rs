//! The declaration of how the replies of a protocol are written.

use std::collections::HashSet;
use std::mem;

use super::completion::Deltas;
use super::{
    Citation, Completion, Delta, Failure, LONGEST_PIECE, Part, SendError, TextFrame, markdown,
};

/// The bytes that are reserved before the beginning of a stream is written.
const BEGINNING: usize = 512;

/// The reason why a call is refused.
pub(crate) const NOT_OFFERED: &str = "a tool that the request did not offer";

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

/// The part of a [`Session`](super::Session) that is the same in all protocols.
pub(super) struct State<E> {
    pub(super) open: Option<Block>,
    /// The bytes before and after the text of each piece of the open block. Set at the second piece of the block.
    pub(super) frame: Option<TextFrame>,
    pub(super) has_text: bool,
    pub(super) has_begun: bool,
    pub(super) is_done: bool,
    pub(super) has_failed: bool,
    /// The names of the tools that can be called; `None` if the protocol checks calls itself.
    pub(super) tools: Option<HashSet<String>>,
    pub(super) takes_any_call: bool,
    pub(super) citations: Vec<Citation>,
    /// The answer so far, if it is not a stream. Boxed, because every session is moved into its channel.
    pub(super) document: Option<Box<(Completion, Deltas<E>)>>,
    /// The bytes of the stream's beginning, if the write after them failed: the caller has truncated its buffer, so the
    /// next write must write them again.
    pub(super) beginning: Vec<u8>,
}

impl<E> State<E> {
    pub(super) fn writer<'a, B: Blocks<Event = E>>(
        &'a mut self,
        out: &'a mut Vec<u8>,
    ) -> Writer<'a, B> {
        Writer {
            state: self,
            out,
            result: Ok(()),
        }
    }

    pub(super) fn check_tool(&self, name: &str) -> Result<(), SendError> {
        match &self.tools {
            Some(tools) if !tools.contains(name) => Err(SendError::Unsupported(NOT_OFFERED)),
            _ => Ok(()),
        }
    }
}

/// Writes to the destination of a reply: the stream or the document.
pub struct Writer<'a, B: Blocks> {
    pub(super) state: &'a mut State<B::Event>,
    pub(super) out: &'a mut Vec<u8>,
    /// The first error that the document has returned.
    pub(super) result: Result<(), SendError>,
}

impl<B: Blocks> Writer<'_, B> {
    /// Writes a part of the shared vocabulary as [`Blocks::part`] does by default.
    ///
    /// # Errors
    ///
    /// [`SendError`] when the part cannot be sent.
    pub fn part(&mut self, blocks: &mut B, part: Part<'_>) -> Result<(), SendError> {
        let markdown = match part {
            Part::Text(text) => {
                self.text(blocks, text);
                return Ok(());
            }
            Part::Reasoning(text) => {
                self.piece(blocks, Block::Reasoning, text);
                return Ok(());
            }
            Part::Status(_) | Part::Usage(_) => return Ok(()),
            Part::ToolRun(run) => return blocks.part(Part::Status(&run.to_status()), self),
            Part::Cite(citation) => {
                self.state.citations.push(citation.clone());
                return Ok(());
            }
            Part::Calls(_) => return Err(SendError::Unsupported("calls of tools")),
            Part::Cut(cut) => return blocks.part(Part::Error(&cut.to_notice()), self),
            Part::Sources(citations) => markdown::sources(citations),
            Part::Table(table) => table.to_markdown(),
            Part::Chart(chart) => chart.to_markdown(),
            Part::Error(notice) => notice.to_markdown(),
            Part::Confirm(question) => {
                let text = question.to_text()?;
                self.sources(blocks)?;
                text
            }
        };
        self.markdown(blocks, &markdown)
    }

    /// Writes an event.
    pub fn event(&mut self, blocks: &B, event: impl Into<B::Event>) {
        let event = event.into();
        match self.state.document.as_deref_mut() {
            Some((answer, deltas)) if self.result.is_ok() => {
                self.result = answer.push_deltas(&event, *deltas).map_err(Into::into);
            }
            Some(_) => {}
            None => {
                if self.out.capacity() == 0 {
                    // One allocation: the buffer of a new reply has no capacity.
                    self.out.reserve(BEGINNING);
                }
                blocks.write(&event, self.out);
            }
        }
    }

    /// Writes text of a block in pieces of at most 1 MiB. Opens the block if it is not open. Empty text writes nothing.
    pub fn piece(&mut self, blocks: &mut B, block: Block, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let (text, after) = first_piece(rest);
            rest = after;
            let is_first = !self.is_open(block);
            if is_first {
                // A protocol with one frame for its text has no pieces, so a block of another kind closes nothing.
                if self.state.frame.is_some() && blocks.piece(block, String::new()).is_none() {
                    return;
                }
                self.open(blocks, block);
            }
            match (&self.state.frame, self.state.document.as_deref_mut()) {
                (Some(frame), _) => frame.write(text, self.out),
                (None, Some((answer, _))) if block == Block::Text && !is_first => {
                    if self.result.is_ok() {
                        self.result = answer.push(&Delta::Text(text)).map_err(Into::into);
                    }
                }
                (None, document) => {
                    let is_framed = document.is_none() && !is_first;
                    let Some(piece) = blocks.piece(block, text.to_owned()) else {
                        return;
                    };
                    self.event(blocks, piece);
                    if is_framed {
                        self.state.frame = TextFrame::of(|text, out| {
                            if let Some(piece) = blocks.piece(block, text) {
                                blocks.write(&piece, out);
                            }
                        });
                    }
                }
            }
        }
    }

    /// Writes text. Empty text writes nothing.
    pub fn text(&mut self, blocks: &mut B, text: &str) {
        self.piece(blocks, Block::Text, text);
    }

    /// Writes Markdown that this crate generates, such as a list of sources, as [text](Part::Text).
    ///
    /// # Errors
    ///
    /// [`SendError`] when the text cannot be sent.
    pub fn markdown(&mut self, blocks: &mut B, markdown: &str) -> Result<(), SendError> {
        let markdown = match B::TRIMS && !self.is_open(Block::Text) {
            true => markdown.trim_start_matches('\n'),
            false => markdown,
        };
        blocks.part(Part::Text(markdown), self)
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
    pub fn is_open(&self, block: Block) -> bool {
        self.state.open == Some(block)
    }

    /// Checks that the front end offers a tool, for calls that an agent writes as the protocol's own events.
    ///
    /// # Errors
    ///
    /// [`SendError::Unsupported`] if the front end does not offer the tool.
    pub fn check_tool(&self, name: &str) -> Result<(), SendError> {
        self.state.check_tool(name)
    }

    /// Returns `true` once the beginning of the stream was written.
    pub fn has_begun(&self) -> bool {
        self.state.has_begun
    }

    /// Returns `true` once a [block of text](Block::Text) was opened. Text in events of the protocol's own opens none,
    /// nor does text with a [frame](super::Session::frame) from the beginning.
    pub fn has_text(&self) -> bool {
        self.state.has_text
    }

    /// Empties the buffer of sources, and writes them as [`Part::Sources`].
    ///
    /// # Errors
    ///
    /// [`SendError`] when the sources cannot be sent.
    pub fn sources(&mut self, blocks: &mut B) -> Result<(), SendError> {
        match self.take_sources() {
            sources if sources.is_empty() => Ok(()),
            sources => blocks.part(Part::Sources(&sources), self),
        }
    }

    /// Empties the buffer of sources without writing them.
    pub fn take_sources(&mut self) -> Vec<Citation> {
        mem::take(&mut self.state.citations)
    }

    /// Ends the reply as a failure. Returns the buffer of the response body if the answer is a document: the error is
    /// appended to it in place of the document. `None` for a stream.
    pub fn fail(&mut self) -> Option<&mut Vec<u8>> {
        self.state.is_done = true;
        self.state.has_failed = true;
        self.state.document.take().map(|_| &mut *self.out)
    }

    /// Returns the buffer of the response body, for events that the protocol writes without a value of them.
    pub fn stream(&mut self) -> &mut Vec<u8> {
        self.out
    }
}

opaque_debug!(impl[B: Blocks] Writer for Writer<'_, B>);

/// Splits a text after its first piece.
#[inline]
fn first_piece(text: &str) -> (&str, &str) {
    if text.len() <= LONGEST_PIECE {
        return (text, "");
    }
    let end = (0..=LONGEST_PIECE).rfind(|at| text.is_char_boundary(*at));
    text.split_at(end.unwrap_or(text.len()))
}
