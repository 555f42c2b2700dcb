//! The state of one reply.

mod calls;
mod native;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::mem;

use super::{
    Accumulator, ContentBlock, Delta, Ending, ErrorObject, Event, Message, MessageDelta,
    MessagesRequest, Output, Stop, StopReason, TextBlock, ThinkingBlock, ToolUseBlock, Usage,
};
use crate::json::wire::object;
use crate::json::{Escape, Json, Members, ValueWriter, Wire};
use crate::protocol::{
    self, Citation, Env, Failure, Part, SendError, Session as _, Status, TextFrame, markdown,
};

/// The maximum size in bytes of an answer without a stream.
const WHOLE_LIMIT: usize = 32 * 1024 * 1024;
/// The signature of thinking blocks. Any text is valid except an empty one, with which VS Code
/// drops the block.
const SIGNATURE: &str = "Y29waWxvdC13aXJl";

/// The state of one reply: its blocks, and the parts that are buffered until its end.
///
/// The order of a stream is: `message_start`; blocks numbered from 0, one open at a time;
/// `message_delta` with the stop reason; `message_stop`. There is at most one text block, open
/// until the calls, because `claude -p` prints only the last one; so thinking is written before it
/// or dropped. Calls are written when the answer is complete, because Claude Code runs a call even
/// if an error follows it.
pub struct Session {
    env: Env,
    /// The start of the message, until it is written.
    head: Option<Message>,
    /// The index of the open block or of the next one, which is the number of closed blocks.
    index: u32,
    block: Block,
    /// Set once the text block has started.
    has_text: bool,
    /// The frame around a piece of text.
    frame: TextFrame,
    /// The names of the tools that the request offered.
    tools: HashSet<String>,
    /// The current call, with the pieces of its arguments.
    building: Option<(ToolUseBlock, String)>,
    calls: Vec<ToolUseBlock>,
    has_calls: bool,
    /// The size in bytes of the calls so far.
    buffered: usize,
    citations: Vec<Citation>,
    stop: Stop,
    usage: Usage,
    /// The answer so far, if it is sent without a stream.
    message: Option<Accumulator>,
    done: bool,
    /// Set if the reply ended with an error.
    failed: bool,
}

/// The open block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    None,
    Text,
    Thinking {
        /// Set once the signature has been written.
        signed: bool,
        /// Set if the reasoning so far ends with a complete line.
        line: bool,
    },
    /// A call, or a block of a type that this crate does not know.
    Other,
}

impl Session {
    pub(super) fn new(request: &MessagesRequest, env: &Env) -> Self {
        let head = Message {
            id: env.new_id("msg"),
            role: "assistant".into(),
            model: request.model.clone(),
            // The member is required in the first event, before any count is known.
            usage: Usage::new(0, 0),
            ..Message::default()
        };
        let message = (!request.is_stream()).then(|| Accumulator::new().limit(WHOLE_LIMIT));
        let tools = request.offered().map(|tool| tool.name.clone());
        Self {
            env: env.clone(),
            head: Some(head),
            index: 0,
            block: Block::None,
            has_text: false,
            frame: TextFrame::from_static(b"", b"", Escape::JsonAndSeparators),
            tools: tools.collect(),
            building: None,
            calls: Vec::new(),
            has_calls: false,
            buffered: 0,
            citations: Vec::new(),
            stop: Stop::default(),
            usage: Usage::default(),
            message,
            done: false,
            failed: false,
        }
    }

    /// Writes an event to the stream, or adds it to the message.
    fn write(&mut self, event: &Event, out: &mut Vec<u8>) -> Result<(), SendError> {
        match &mut self.message {
            Some(message) => message.push(event)?,
            None => event.write(out),
        }
        Ok(())
    }

    fn start(
        &mut self,
        block: Block,
        content_block: ContentBlock,
        out: &mut Vec<u8>,
    ) -> Result<(), SendError> {
        self.close(out)?;
        self.block = block;
        let index = self.index;
        let start = Event::ContentBlockStart {
            index,
            content_block,
        };
        self.write(&start, out)
    }

    fn delta(&mut self, delta: Delta, out: &mut Vec<u8>) -> Result<(), SendError> {
        let index = self.index;
        self.write(&Event::ContentBlockDelta { index, delta }, out)
    }

    /// Closes the open block, if there is one.
    fn close(&mut self, out: &mut Vec<u8>) -> Result<(), SendError> {
        match self.block {
            Block::None => return Ok(()),
            // VS Code drops a thinking block without a signature.
            Block::Thinking { signed: false, .. } => {
                self.delta(Delta::Signature(SIGNATURE.into()), out)?;
            }
            _ => {}
        }
        let index = self.index;
        self.block = Block::None;
        self.index += 1;
        self.write(&Event::ContentBlockStop { index }, out)
    }

    /// Opens the text block, unless it is open.
    fn open_text(&mut self, out: &mut Vec<u8>) -> Result<(), SendError> {
        // There is at most one text block: only calls, at the end, can close it.
        if self.block == Block::Text {
            return Ok(());
        }
        self.start(Block::Text, TextBlock::default().into(), out)?;
        self.has_text = true;
        let head = format!(
            "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":{},\
             \"delta\":{{\"type\":\"text_delta\",\"text\":\"",
            self.index
        );
        let tail = b"\"}}\n\n".as_slice();
        // The frame contains the index of the block, so it is made when the block opens.
        self.frame = TextFrame::new(head, tail, Escape::JsonAndSeparators);
        Ok(())
    }

    /// Writes reasoning, or drops it after the start of the text.
    fn think(&mut self, text: &str, is_line: bool, out: &mut Vec<u8>) -> Result<(), SendError> {
        // A thinking block would split the text in two, and `claude -p` prints only the last text
        // block.
        if self.has_text || text.is_empty() {
            return Ok(());
        }
        let line = match self.block {
            Block::Thinking { line, .. } => line,
            _ => {
                let block = Block::Thinking {
                    signed: false,
                    line: true,
                };
                self.start(block, ThinkingBlock::default().into(), out)?;
                true
            }
        };
        if let Block::Thinking { line, .. } = &mut self.block {
            *line = is_line || text.ends_with('\n');
        }
        // A status is a line of its own.
        let (before, after) = match is_line {
            true => (if line { "" } else { "\n" }, "\n"),
            false => ("", ""),
        };
        self.delta(Delta::Thinking(format!("{before}{text}{after}")), out)
    }

    /// Writes the citations, once: those with a URL as citations of the text block, and all of them
    /// as Markdown, because Claude Code, Copilot and VS Code do not display citations.
    fn sources(&mut self, out: &mut Vec<u8>) -> Result<(), SendError> {
        let citations = mem::take(&mut self.citations);
        if citations.is_empty() {
            return Ok(());
        }
        self.text(&markdown::sources(&citations), out)?;
        for citation in &citations {
            if let Some(url) = &citation.url {
                let excerpt = citation.excerpt.as_deref().unwrap_or_default();
                let location = location(url, &citation.title, excerpt);
                self.delta(Delta::Citation(location), out)?;
            }
        }
        Ok(())
    }

    /// Writes an error as the end of a failed answer.
    ///
    /// Claude Code does not repeat the request if a closed block precedes the error. VS Code does
    /// not display errors, so an error before any text is also written as text.
    fn error(&mut self, error: &ErrorObject, out: &mut Vec<u8>) {
        if mem::replace(&mut self.done, true) {
            return;
        }
        self.failed = true;
        let mut error = error.clone();
        if error.message.is_empty() {
            error.message = protocol::AgentError::DEFAULT.into();
        }
        if self.message.is_some() {
            error.write_body(out);
            return;
        }
        self.open(out);
        // Writing to a stream cannot fail.
        let _ = match self.has_text {
            true => Ok(()),
            false => self.write_text(&error.message, out),
        };
        let _ = self.close(out);
        let _ = self.write(&Event::Error(error), out);
    }

    fn write_text(&mut self, text: &str, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.open_text(out)?;
        match &mut self.message {
            Some(message) => message.push_text(self.index, text)?,
            None => self.frame.write(text, out),
        }
        Ok(())
    }

    /// Writes the buffered calls and the end of the message.
    fn complete(&mut self, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.complete_call()?;
        self.write_calls(out)?;
        if !self.has_text && !self.has_calls {
            self.write_text(crate::models::NO_ANSWER, out)?;
        }
        self.close(out)?;
        let mut delta = mem::take(&mut self.stop);
        delta.stop_reason = Some(match delta.stop_reason {
            // It must match what was written, not what was announced.
            _ if self.has_calls => StopReason::ToolUse,
            Some(StopReason::ToolUse) | None => StopReason::EndTurn,
            Some(reason) => reason,
        });
        let delta = MessageDelta {
            delta,
            usage: mem::take(&mut self.usage),
            unknown: Members::new(),
        };
        self.write(&Event::MessageDelta(delta), out)?;
        self.write(&Event::MessageStop, out)
    }
}

impl protocol::Session for Session {
    type Output = Output;
    type Ending = Ending;

    fn open(&mut self, out: &mut Vec<u8>) {
        if let Some(message) = self.head.take() {
            // The names come from the request, which was within its limit, so this cannot fail.
            let _ = self.write(&Event::MessageStart(message), out);
        }
    }

    fn text_frame(&self) -> Option<TextFrame> {
        let is_open = self.block == Block::Text && self.message.is_none();
        is_open.then(|| self.frame.clone())
    }

    fn text(&mut self, text: &str, out: &mut Vec<u8>) -> Result<(), SendError> {
        match self.done {
            true => Ok(()),
            false => self.write_text(text, out),
        }
    }

    fn part(&mut self, part: Part<'_>, out: &mut Vec<u8>) -> Result<(), SendError> {
        match part {
            Part::Reasoning(text) => self.think(text, false, out),
            Part::Status(status) => self.think(&line(status), true, out),
            Part::ToolRun(run) => self.think(&line(&run.to_status()), true, out),
            Part::Usage(usage) => {
                self.usage.update(&(*usage).into());
                Ok(())
            }
            Part::Cite(citation) => {
                self.citations.push(citation.clone());
                Ok(())
            }
            Part::Table(table) => self.text(&table.to_markdown(), out),
            Part::Chart(chart) => self.text(&chart.to_markdown(), out),
            Part::Error(notice) => self.text(&notice.to_markdown(), out),
            Part::Confirm(confirmation) => {
                let text = confirmation.to_text()?;
                // The question must be the last text: it is identified by the last line.
                self.sources(out)?;
                self.text(&text, out)
            }
            Part::Calls(calls) => self.calls(calls, out),
        }
    }

    fn output(&mut self, output: &Output, out: &mut Vec<u8>) -> Result<(), SendError> {
        match output {
            _ if self.done => Ok(()),
            Output::Start(block) => self.native_start(block, out),
            Output::Delta(delta) => self.native_delta(delta, out),
            Output::Stop if self.building.is_some() => self.complete_call(),
            // The text block remains open for later text.
            Output::Stop if self.block == Block::Text => Ok(()),
            Output::Stop => self.close(out),
            Output::Message(delta) => {
                self.usage.update(&delta.usage);
                if delta.delta.stop_reason.is_some() {
                    self.stop = delta.delta.clone();
                }
                Ok(())
            }
        }
    }

    fn ending(&mut self, ending: &Ending, out: &mut Vec<u8>) -> Result<(), SendError> {
        match ending {
            _ if self.done => {}
            Ending::Stop(stop) => self.stop = stop.clone(),
            Ending::Calls(calls) => {
                self.buffer_calls(calls.iter().cloned())?;
                self.write_calls(out)?;
            }
            Ending::Error(error) => self.error(error, out),
        }
        Ok(())
    }

    /// Writes a change of the message without members: Claude Code gives up after five minutes, and
    /// neither a `ping` nor a comment resets its timer. Before the start of the message a `ping` is
    /// the only possible event.
    fn keep_alive(&mut self, out: &mut Vec<u8>) {
        let event = match self.head {
            Some(_) => Event::Ping,
            None => Event::MessageDelta(MessageDelta::default()),
        };
        // Not through `write`: an answer without a stream has no keep-alives.
        event.write(out);
    }

    fn is_failed(&self) -> bool {
        self.failed
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        if self.done {
            return;
        }
        self.open(out);
        // Calls that are not valid, or beyond a limit: the turn has failed, whatever the agent
        // returned.
        if self.complete(out).is_err() {
            let failure = Failure::new(protocol::AgentError::DEFAULT);
            return self.fail(&failure, out);
        }
        self.done = true;
        if let Some(whole) = self.message.take() {
            whole
                .finish()
                .write_to(ValueWriter::new(out, Escape::JsonAndSeparators));
        }
    }

    fn fail(&mut self, failure: &Failure<'_>, out: &mut Vec<u8>) {
        self.error(&ErrorObject::failure(failure), out);
    }
}

/// Returns a status as a line of reasoning.
fn line(status: &Status) -> String {
    let mut line = status.message.replace(['\r', '\n'], " ");
    let mut separator = " (";
    for (name, value) in &status.details {
        // Writing to a string cannot fail.
        let _ = write!(line, "{separator}{name}: {value}");
        separator = ", ";
    }
    if !status.details.is_empty() {
        line.push(')');
    }
    line
}

/// Returns a citation in the only form that the AI SDK displays.
fn location(url: &str, title: &str, cited_text: &str) -> Json {
    let members = [
        ("type", "web_search_result_location"),
        ("url", url),
        ("title", title),
        ("cited_text", cited_text),
        ("encrypted_index", ""),
    ];
    let mut out = Vec::new();
    let to = ValueWriter::new(&mut out, Escape::JsonAndSeparators);
    object(to, |object| {
        for (name, text) in members {
            object.str(name, text);
        }
    });
    // An object of strings is valid JSON.
    Json::parse(out).unwrap_or_default()
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("blocks", &self.index)
            .field("block", &self.block)
            .field("done", &self.done)
            .finish_non_exhaustive()
    }
}
