//! The writer of the events of a reply.

use std::mem;

use super::blocks::{Block, Blocks};
use super::session::State;
use super::{Citation, Delta, LONGEST_PIECE, Part, SendError, TextFrame, markdown};

/// The bytes that are reserved before the beginning of a stream is written.
const BEGINNING: usize = 512;

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
    #[must_use]
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
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.state.has_begun
    }

    /// Returns `true` once a [block of text](Block::Text) was opened. Text in events of the protocol's own opens none,
    /// nor does text with a [frame](super::Session::frame) from the beginning.
    #[must_use]
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
