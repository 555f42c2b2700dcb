//! Replies that are made of blocks, and the rules that all of them share.

use std::collections::HashSet;
use std::{fmt, mem};

use super::blocks::{AnswerDocument, Block, Blocks};
use super::{
    AgentError, Citation, Failure, Framing, LONGEST_PIECE, Part, SendError, Session, TextFrame,
    ToolCall,
};
use crate::json::Kind;

/// The part of a [`BlockSession`] that is the same in all protocols.
struct State<D> {
    open: Option<Block>,
    /// The bytes before and after the text of each piece of the open block. Set at the second piece of the block.
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
    /// The bytes of the stream's beginning, if the write after them failed: the caller has truncated its buffer, so the
    /// next write must write them again.
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

/// Writes to the destination of a reply: the stream or the document.
pub struct Writer<'a, B: Blocks> {
    state: &'a mut State<B::Document>,
    out: &'a mut Vec<u8>,
    /// The first error that the document has returned.
    result: Result<(), SendError>,
}

impl<B: Blocks> Writer<'_, B> {
    /// Buffers a source until the protocol writes its sources.
    pub(crate) fn buffer(&mut self, citation: &Citation) {
        self.state.citations.push(citation.clone());
    }

    /// Writes an event.
    pub fn event(&mut self, blocks: &B, event: impl Into<B::Event>) {
        let event = event.into();
        match &mut self.state.document {
            Some(document) if self.result.is_ok() => self.result = document.push(&event),
            Some(_) => {}
            None => blocks.write(&event, self.out),
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
    }

    /// Writes text. Empty text writes nothing.
    pub fn text(&mut self, blocks: &mut B, text: &str) {
        self.piece(blocks, Block::Text, text);
    }

    /// Writes Markdown that this crate generates, such as a list of sources.
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

    /// Checks that the front end offers a tool, for calls that an agent writes as the protocol's own events.
    ///
    /// # Errors
    ///
    /// [`SendError::Unsupported`] if the front end does not offer the tool.
    pub fn check_tool(&self, name: &str) -> Result<(), SendError> {
        self.state.check_tool::<B>(name)
    }

    /// Returns `true` once the reply contains text.
    #[must_use]
    pub fn has_text(&self) -> bool {
        self.state.has_text
    }

    /// Writes the buffered sources and empties the buffer.
    pub fn sources(&mut self, blocks: &mut B) {
        let citations = mem::take(&mut self.state.citations);
        if !citations.is_empty() {
            blocks.sources(&citations, self);
        }
    }

    /// Ends the reply as a failure. Returns the buffer of the response body if the answer is a document: the error is
    /// appended to it in place of the document. `None` for a stream.
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

/// The part of a session's state that follows the events of another server, which are written as they came.
#[derive(Debug)]
#[non_exhaustive]
pub struct Followed<'a> {
    /// The block that is open.
    pub open: &'a mut Option<Block>,
    /// `true` once the reply contains text.
    pub has_text: &'a mut bool,
    /// `true` once the last event was written.
    pub is_done: &'a mut bool,
}

/// The bytes that are reserved before the beginning of a stream is written.
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

    /// Sets the names of the tools that the front end offers. By default there are none. Empty names are ignored.
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
            // One allocation: the buffer of a new reply has no capacity.
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
        let is_free = |call: &&ToolCall| {
            // Without a name it is no call of a function.
            B::TAKES_ANY_CALL && call.by_model.is_some() && !call.name.is_empty()
        };
        for call in calls.iter().filter(|call| !is_free(call)) {
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
            // Invalid calls, or a document that exceeds its limit: the turn has failed, whatever the agent returned.
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

    /// Returns the state that an event of another server, which is written as it came, may change.
    pub fn follow(&mut self) -> (&mut B, Followed<'_>) {
        self.state.has_begun = true;
        let followed = Followed {
            open: &mut self.state.open,
            has_text: &mut self.state.has_text,
            is_done: &mut self.state.is_done,
        };
        (&mut self.blocks, followed)
    }

    fn trail(&mut self, out: &mut Vec<u8>) {
        if self.state.is_stream {
            // Writing to a stream does not fail.
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
        // Does not fail: the beginning is small, and a document has room for it.
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
            // All calls are checked before the first is written: either all are made, or none.
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
            // After the last event only the keep-alive of the framing may follow, because it is no event.
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
            // Writing to a stream does not fail, and the document of a failed turn is not sent.
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

/// Splits a text after its first piece.
#[inline]
fn first_piece(text: &str) -> (&str, &str) {
    if text.len() <= LONGEST_PIECE {
        return (text, "");
    }
    let end = (0..=LONGEST_PIECE).rfind(|at| text.is_char_boundary(*at));
    text.split_at(end.unwrap_or(text.len()))
}
