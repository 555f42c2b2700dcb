//! The rules that the replies of all protocols share.

use std::collections::HashSet;
use std::mem;

use super::blocks::{Block, Blocks, End, State, Writer};
use super::completion::Deltas;
use super::{AgentError, Completion, Failure, Framing, Part, SendError, TextFrame, ToolCall};
use crate::json::Kind;

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

/// The kind of a frame of another server, in a reply that passes the frames on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameKind {
    /// A part of the answer.
    Output,
    /// A frame before the answer, such as its head: if the turn fails before any output, it is not sent.
    Preamble,
    /// A frame that is not sent: the reply has its own, or the client did not ask for it.
    Dropped,
}

/// One reply as it is written: the state that all protocols share, and the [`Blocks`] of one.
///
/// Every method appends to `out` and never removes bytes. A stream gets whole events from each method. If a method
/// returns an error or panics, the caller truncates `out` to its former length. No method is called after
/// [`finish`](Self::finish), [`cancelled`](Self::cancelled) or [`fail`](Self::fail).
#[must_use]
pub struct Session<B: Blocks> {
    blocks: B,
    state: State<B::Event>,
}

impl<B: Blocks> Session<B> {
    /// Creates the session of a stream.
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
                tools: Some(HashSet::new()),
                takes_any_call: false,
                citations: Vec::new(),
                document: None,
                beginning: Vec::new(),
            },
        }
    }

    /// Sets the names of the tools that the front end offers. By default there are none. Empty names are ignored.
    pub fn tools(mut self, tools: impl IntoIterator<Item = String>) -> Self {
        let tools = tools.into_iter().filter(|name| !name.is_empty());
        self.state.tools = Some(tools.collect());
        self
    }

    /// Leaves the check of calls to the protocol.
    pub fn unchecked(mut self) -> Self {
        self.state.tools = None;
        self
    }

    /// Accepts every call that a model made, even if its tool is not among the [tools](Self::tools), or its arguments
    /// are not an object: for clients of models.
    pub fn any_call(mut self) -> Self {
        self.state.takes_any_call = true;
        self
    }

    /// Sets the bytes around every piece of text, for a protocol whose text is one block without beginning or end.
    pub fn frame(mut self, frame: TextFrame) -> Self {
        (self.state.open, self.state.frame) = (Some(Block::Text), Some(frame));
        self
    }

    /// Collects the events in `answer`, in place of a stream, by the [deltas](super::Protocol::deltas) of the protocol.
    /// The end of the reply is then its [document](Blocks::document).
    pub fn document(mut self, answer: Completion, deltas: Deltas<B::Event>) -> Self {
        self.state.document = Some(Box::new((answer, deltas)));
        self
    }

    #[inline]
    fn write(
        &mut self,
        out: &mut Vec<u8>,
        write: impl FnOnce(&mut B, &mut Writer<'_, B>) -> Result<(), SendError>,
    ) -> Result<(), SendError> {
        let start = out.len();
        if !self.state.beginning.is_empty() {
            out.append(&mut self.state.beginning);
        }
        let mut writer = self.state.writer(out);
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
            self.state.takes_any_call && call.by_model.is_some() && !call.name.is_empty()
        };
        if self.state.tools.is_none() {
            return Ok(());
        }
        for call in calls.iter().filter(|call| !is_free(call)) {
            self.state.check_tool(&call.name)?;
            if call.arguments.kind() != Kind::Object {
                return Err(SendError::Invalid("arguments must be an object".into()));
            }
        }
        Ok(())
    }

    fn end(&mut self, end: End<'_>, out: &mut Vec<u8>) {
        if !self.state.is_done {
            let start = out.len();
            let ended = self.write(out, |blocks, to| {
                to.sources(blocks)?;
                blocks.end(end, to)
            });
            // Invalid calls, or a document that exceeds its limit: the turn has failed, whatever the agent returned.
            if ended.is_err() {
                out.truncate(start);
                return self.fail(&Failure::new(AgentError::DEFAULT), out);
            }
            self.state.is_done = true;
        }
        if let Some(document) = self.state.document.take() {
            let (answer, _) = *document;
            out.reserve(answer.text().len() + 512);
            B::document(answer, out);
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

    /// Returns the declaration of the protocol.
    #[cfg(feature = "resumable")]
    pub(crate) fn blocks(&mut self) -> &mut B {
        &mut self.blocks
    }

    /// Writes the beginning of a stream, before the agent's first part.
    pub fn open(&mut self, out: &mut Vec<u8>) {
        // Does not fail: the beginning is small, and a document has room for it.
        let _ = self.write(out, |_, _| Ok(()));
    }

    /// Returns the bytes before and after every piece of text from now on. `None` if each piece must be written by
    /// [`text`](Self::text), because a block must be opened first or every event has a number.
    pub fn text_frame(&self) -> Option<TextFrame> {
        match self.state.open {
            Some(Block::Text) => self.state.frame.clone(),
            _ => None,
        }
    }

    /// Writes a piece of the answer's text.
    ///
    /// # Errors
    ///
    /// [`SendError`] when the text cannot be sent to this front end.
    #[inline]
    pub fn text(&mut self, text: &str, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.write(out, |blocks, to| blocks.part(Part::Text(text), to))
    }

    /// Writes a part of the shared vocabulary, or its closest accurate equivalent.
    ///
    /// # Errors
    ///
    /// [`SendError`] when the part cannot be sent to this front end.
    pub fn part(&mut self, part: Part<'_>, out: &mut Vec<u8>) -> Result<(), SendError> {
        if let Part::Calls(calls) = part {
            // All calls are checked before the first is written: either all are made, or none.
            self.check(calls)?;
        }
        self.write(out, |blocks, to| blocks.part(part, to))
    }

    /// Writes an event of the protocol that does not end the turn.
    ///
    /// # Errors
    ///
    /// [`SendError`] when the event cannot be sent to this front end.
    pub fn output(&mut self, output: &B::Output, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.write(out, |blocks, to| blocks.output(output, to))
    }

    /// Writes an event of the protocol that ends the turn.
    ///
    /// # Errors
    ///
    /// [`SendError`] when the event cannot be sent to this front end.
    pub fn ending(&mut self, ending: &B::Ending, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.write(out, |blocks, to| blocks.ending(ending, to))
    }

    /// Writes a keep-alive after a period of silence. After the last event only the keep-alive of the framing may
    /// follow, because it is no event.
    pub fn keep_alive(&mut self, framing: Framing, out: &mut Vec<u8>) {
        let is_done = self.state.is_done;
        if is_done || !self.blocks.keep_alive(&mut self.state.writer(out)) {
            out.extend_from_slice(framing.keep_alive());
        }
    }

    /// Returns `true` if an event that is specific to the protocol has made the answer a failure. An answer without a
    /// stream then has the status 400.
    pub(crate) fn is_failed(&self) -> bool {
        self.state.has_failed
    }

    /// Writes the end of an answered turn.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.end(End::Answered, out);
    }

    /// Writes the end of a cancelled turn: the output so far is the answer.
    pub fn cancelled(&mut self, out: &mut Vec<u8>) {
        self.end(End::Cancelled, out);
    }

    /// Writes the end of a stream whose turn failed.
    pub fn fail(&mut self, failure: &Failure<'_>, out: &mut Vec<u8>) {
        if !self.state.is_done {
            // Writing to a stream does not fail, and the document of a failed turn is not sent.
            let _ = self.write(out, |blocks, to| blocks.end(End::Failed(failure), to));
            self.state.is_done = true;
        }
    }

    /// Returns the [id](Blocks::reply_id) of the reply.
    pub fn reply_id(&self) -> Option<&str> {
        self.blocks.reply_id()
    }
}

opaque_debug!(impl[B: Blocks] Session for Session<B>);
