//! One reply, as a stream or as one message.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::mem;

use super::{
    Anthropic, ContentBlock, Delta, Ending, ErrorObject, Event, Message, MessageDelta,
    MessagesRequest, Output, Stop, StopReason, TextBlock, ThinkingBlock, ToolUseBlock, Usage,
};
use crate::json::wire::object;
use crate::json::{Escape, Json, Kind, Members, ValueWriter, Wire, own};
use crate::protocol::{
    self, Block, Blocks, Citation, Completion, Cut, End, Env, FrameEvent as _, FrameKind, Part,
    Protocol as _, SendError, Session, Status, ToolCall, Writer, markdown,
};

/// The maximum size in bytes of an answer without a stream.
const WHOLE_LIMIT: usize = 32 * 1024 * 1024;
/// The maximum size in bytes of the buffered calls of a reply.
const MAX_BUFFERED: usize = 16 * 1024 * 1024;
/// The signature of thinking blocks. Any text is valid except an empty one, with which VS Code
/// drops the block.
pub(super) const SIGNATURE: &str = "Y29waWxvdC13aXJl";

/// One reply: its blocks, and the calls that are buffered until its end.
///
/// The order of a stream is: `message_start`; blocks numbered from 0, one open at a time;
/// `message_delta` with the stop reason; `message_stop`. The parts of the shared vocabulary make one text block, open
/// until the calls, because `claude -p` prints only the last one; so thinking is written before it
/// or dropped. Blocks that an agent sends stay as they are. Calls are written when the answer is complete, because Claude Code runs a call even
/// if an error follows it.
#[derive(Debug)]
pub struct Reply {
    env: Env,
    id: String,
    model: String,
    /// The index of the open block or of the next one, which is the number of closed blocks.
    index: u32,
    /// `true` once the signature of the open thinking block has been written.
    is_signed: bool,
    /// `true` if the reasoning so far ends with a complete line.
    is_line: bool,
    /// The current call, with the pieces of its arguments.
    building: Option<(ToolUseBlock, String)>,
    /// `true` once a block of a kind that only this dialect has was written.
    said: bool,
    calls: Vec<ToolUseBlock>,
    /// The size in bytes of the calls so far.
    buffered: usize,
    stop: Stop,
    usage: Usage,
    /// Unknown members of the last event with the usage.
    unknown: Members,
    /// The names of tools of Anthropic's own types. The client runs some of them, such as `bash`.
    typed: HashSet<String>,
    /// `true` once an event of another server was written as it came.
    is_passed: bool,
}

/// The writer of a reply.
type To<'a> = Writer<'a, Reply>;

pub(super) fn session(request: &MessagesRequest, env: &Env) -> Session<Reply> {
    let reply = Reply {
        env: env.clone(),
        id: env.new_id("msg"),
        model: request.model.clone(),
        index: 0,
        is_signed: false,
        is_line: true,
        building: None,
        said: false,
        calls: Vec::new(),
        buffered: 0,
        stop: Stop::default(),
        usage: Usage::default(),
        unknown: Members::new(),
        typed: request.typed().map(|tool| tool.name.clone()).collect(),
        is_passed: false,
    };
    let session = Session::new(reply)
        .any_call()
        .tools(request.offered().map(|tool| tool.name.clone()));
    match request.is_stream() {
        true => session,
        false => session.document(Completion::new().limit(WHOLE_LIMIT), Anthropic::deltas),
    }
}

/// Follows an event of another server.
pub(super) fn follow(session: &mut Session<Reply>, event: &Event) -> FrameKind {
    if *event == Event::Ping {
        return FrameKind::Dropped;
    }
    let (reply, state) = session.follow();
    reply.is_passed = true;
    match event {
        Event::MessageStart(_) => return FrameKind::Preamble,
        Event::ContentBlockStart {
            index,
            content_block,
        } => {
            let block = match content_block {
                ContentBlock::Text(_) => Block::Text,
                ContentBlock::Thinking(_) => Block::Reasoning,
                _ => Block::Other,
            };
            reply.index = *index;
            *state.has_text |= block == Block::Text;
            *state.open = Some(block);
        }
        Event::ContentBlockStop { index } => {
            (*state.open, reply.index) = (None, index.saturating_add(1));
        }
        Event::MessageStop => *state.is_done = true,
        _ => {}
    }
    FrameKind::Output
}

impl Blocks for Reply {
    type Output = Output;
    type Ending = Ending;
    type Event = Event;

    fn write(&self, event: &Event, out: &mut Vec<u8>) {
        event.write(out);
    }

    fn document(answer: Completion, out: &mut Vec<u8>) {
        Message::from(answer).write_to(ValueWriter::new(out, Escape::JsonAndSeparators));
    }

    fn begin(&mut self, to: &mut To<'_>) {
        let message = Message {
            id: mem::take(&mut self.id),
            role: "assistant".into(),
            model: mem::take(&mut self.model),
            // The member is required in the first event, before any count is known.
            usage: Usage::new(0, 0),
            ..Message::default()
        };
        to.event(self, Event::MessageStart(message));
    }

    fn open(&mut self, block: Block, to: &mut To<'_>) {
        match block {
            Block::Text => self.start(TextBlock::default().into(), to),
            Block::Reasoning => {
                (self.is_signed, self.is_line) = (false, true);
                self.start(ThinkingBlock::default().into(), to);
            }
            // The caller that opens a block of another kind writes its start.
            _ => {}
        }
    }

    fn piece(&self, block: Block, text: String) -> Option<Event> {
        let index = self.index;
        let delta = match block {
            Block::Reasoning => Delta::Thinking(text),
            _ => Delta::Text(text),
        };
        Some(Event::ContentBlockDelta { index, delta })
    }

    fn close(&mut self, block: Block, to: &mut To<'_>) {
        if block == Block::Reasoning && !self.is_signed && !self.is_passed {
            // VS Code drops a thinking block without a signature.
            self.delta(Delta::Signature(SIGNATURE.into()), to);
        }
        to.event(self, Event::ContentBlockStop { index: self.index });
        self.index = self.index.saturating_add(1);
    }

    fn output(&mut self, output: &Output, to: &mut To<'_>) -> Result<(), SendError> {
        match output {
            Output::Start(block) => return self.native_start(block, to),
            Output::Delta(delta) => return self.native_delta(delta, to),
            Output::Stop if self.building.is_some() => return self.complete_call(),
            Output::Stop => to.close(self),
            Output::Message(delta) => {
                self.usage.update(&delta.usage);
                if !delta.unknown.is_empty() {
                    self.unknown = own(&delta.unknown);
                }
                if delta.delta.stop_reason.is_some() {
                    self.stop = delta.delta.clone();
                }
            }
        }
        Ok(())
    }

    fn ending(&mut self, ending: &Ending, to: &mut To<'_>) -> Result<(), SendError> {
        match ending {
            Ending::Stop(stop) => self.stop = stop.clone(),
            // The calls are written at the end of the turn: one may turn out to be invalid.
            Ending::Calls(calls) => {
                for call in calls {
                    self.check_tool(&call.name, to)?;
                }
                self.buffer_calls(calls.iter().cloned())?;
            }
            Ending::Error(error) => self.fail_with(error.clone(), to),
        }
        Ok(())
    }

    fn part(&mut self, part: Part<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        match part {
            Part::Reasoning(text) => self.reasoning(text, to),
            Part::Status(status) => self.status(status, to),
            Part::Usage(usage) => self.usage.update(&(*usage).into()),
            Part::Sources(citations) => self.sources(citations, to),
            Part::Calls(calls) => return self.calls(calls),
            // A citation of a model is in the text that has it.
            Part::Cite(citation) if citation.by_model && citation.web_url().is_some() => {
                let url = citation.web_url().unwrap_or_default();
                self.delta_citation(url, citation, to);
            }
            // Another server has named the reason, more exactly.
            Part::Cut(cut) if self.stop_cut() == Some(cut) => {}
            // The stop reason is written at the end. The dialect has none for other causes.
            Part::Cut(Cut::Length) => self.stop = StopReason::MaxTokens.into(),
            Part::Cut(Cut::Filter) => self.stop = StopReason::Refusal.into(),
            part => return to.part(self, part),
        }
        Ok(())
    }

    fn end(&mut self, end: End<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        match end {
            End::Failed(failure) => {
                self.fail_with(ErrorObject::failure(failure), to);
                return Ok(());
            }
            // A call of another server that is incomplete is not closed, so the answer has failed.
            End::Cancelled if self.is_passed && to.is_open(Block::Other) => {
                self.fail_with(ErrorObject::default(), to);
                return Ok(());
            }
            _ => {}
        }
        self.complete_call()?;
        let calls = mem::take(&mut self.calls);
        let has_calls = !calls.is_empty();
        // The calls are written only at the end of the turn: Claude Code runs a call whose block is closed, even if an
        // error follows it.
        for call in calls {
            let input = call.input.text().to_owned();
            let start = ToolUseBlock {
                input: Members::new().to_raw(),
                ..call
            };
            to.open(self, Block::Other);
            self.start(start.into(), to);
            // Claude Code reads arguments only from deltas.
            self.delta(Delta::InputJson(input), to);
            to.close(self);
        }
        let ended = matches!(
            self.stop.stop_reason,
            None | Some(StopReason::EndTurn | StopReason::ToolUse | StopReason::StopSequence)
        );
        if !to.has_text() && !has_calls && !self.said && ended && !self.is_passed {
            to.text(self, crate::models::NO_ANSWER);
        }
        to.close(self);
        let mut delta = mem::take(&mut self.stop);
        delta.stop_reason = Some(match delta.stop_reason {
            // The stop reason must match the calls that were written, not those that were announced.
            _ if has_calls => StopReason::ToolUse,
            Some(StopReason::ToolUse) | None => StopReason::EndTurn,
            Some(reason) => reason,
        });
        let delta = MessageDelta {
            delta,
            usage: mem::take(&mut self.usage),
            unknown: mem::take(&mut self.unknown),
        };
        to.event(self, Event::MessageDelta(delta));
        to.event(self, Event::MessageStop);
        Ok(())
    }

    /// Writes a change of the message without members: Claude Code gives up after five minutes, and
    /// neither a `ping` nor a comment resets its timer. Before the start of the message a `ping` is
    /// the only possible event.
    fn keep_alive(&mut self, to: &mut To<'_>) -> bool {
        let event = match to.has_begun() {
            true => Event::MessageDelta(MessageDelta::default()),
            false => Event::Ping,
        };
        event.write(to.stream());
        true
    }
}

impl Reply {
    fn reasoning(&mut self, text: &str, to: &mut To<'_>) {
        // A thinking block would split the text in two, and `claude -p` prints only the last text
        // block.
        if !to.has_text() && !text.is_empty() {
            to.piece(self, Block::Reasoning, text);
            self.is_line = text.ends_with('\n');
        }
    }

    /// Writes a step as a line of reasoning.
    fn status(&mut self, status: &Status, to: &mut To<'_>) {
        let is_new = !to.is_open(Block::Reasoning);
        let before = if is_new || self.is_line { "" } else { "\n" };
        let line = line(status);
        if !line.is_empty() {
            self.reasoning(&format!("{before}{line}\n"), to);
        }
    }

    /// Writes the sources with a URL as citations of the text block, and all of them as Markdown, because Claude Code,
    /// Copilot and VS Code do not display citations.
    fn sources(&mut self, citations: &[Citation], to: &mut To<'_>) {
        to.text(self, &markdown::sources(citations));
        for citation in citations {
            if let Some(url) = &citation.url {
                self.delta_citation(url, citation, to);
            }
        }
    }

    fn calls(&mut self, calls: &[ToolCall]) -> Result<(), SendError> {
        self.buffer_calls(calls.iter().map(|call| ToolUseBlock {
            id: call.id.clone().unwrap_or_default(),
            name: call.name.clone(),
            input: input(call),
            unknown: call.by_model.clone().unwrap_or_default(),
        }))
    }

    fn start(&self, content_block: ContentBlock, to: &mut To<'_>) {
        let index = self.index;
        let start = Event::ContentBlockStart {
            index,
            content_block,
        };
        to.event(self, start);
    }

    fn stop_cut(&self) -> Option<Cut> {
        self.stop.stop_reason.as_ref().and_then(super::relay::cut)
    }

    fn delta_citation(&mut self, url: &str, citation: &Citation, to: &mut To<'_>) {
        if !to.is_open(Block::Text) {
            to.open(self, Block::Text);
        }
        let excerpt = citation.excerpt.as_deref().unwrap_or_default();
        let location = location(url, &citation.title, excerpt);
        self.delta(Delta::Citation(location), to);
    }

    fn delta(&self, delta: Delta, to: &mut To<'_>) {
        let index = self.index;
        to.event(self, Event::ContentBlockDelta { index, delta });
    }

    /// Writes an error as the end of a failed answer.
    ///
    /// Claude Code does not repeat the request if a closed block precedes the error. VS Code does
    /// not display errors, so an error before any text is also written as text.
    fn fail_with(&mut self, mut error: ErrorObject, to: &mut To<'_>) {
        if error.message.is_empty() {
            error.message = protocol::AgentError::DEFAULT.into();
        }
        if let Some(body) = to.fail() {
            return error.write_body(body);
        }
        // Claude Code runs a call whose block is closed, and this one may be incomplete.
        if !(self.is_passed && to.is_open(Block::Other)) {
            if !to.has_text() {
                to.text(self, &error.message);
            }
            to.close(self);
        }
        to.event(self, Event::Error(error));
    }

    fn native_start(&mut self, block: &ContentBlock, to: &mut To<'_>) -> Result<(), SendError> {
        match block {
            ContentBlock::Text(block) => {
                to.open(self, Block::Text);
                to.text(self, &block.text);
            }
            ContentBlock::ToolUse(call) => {
                self.check_tool(&call.name, to)?;
                self.complete_call()?;
                // Collected, not relayed piece by piece: a call that turns out invalid must not
                // reach the client.
                self.building = Some((own(call), String::new()));
            }
            ContentBlock::Thinking(block) => {
                to.open(self, Block::Reasoning);
                to.piece(self, Block::Reasoning, &block.thinking);
                return self.native_delta(&Delta::Signature(block.signature.clone()), to);
            }
            ContentBlock::ToolResult(_) | ContentBlock::Other(_) => {
                self.said = true;
                to.open(self, Block::Other);
                self.start(block.clone(), to);
            }
        }
        Ok(())
    }

    fn native_delta(&mut self, delta: &Delta, to: &mut To<'_>) -> Result<(), SendError> {
        match (delta, &mut self.building) {
            (Delta::Text(text), _) => to.text(self, text),
            (Delta::Thinking(text), _) => to.piece(self, Block::Reasoning, text),
            (Delta::Citation(_), _) => {
                if !to.is_open(Block::Text) {
                    to.open(self, Block::Text);
                }
                self.delta(delta.clone(), to);
            }
            (Delta::InputJson(text), Some(_)) => {
                self.make_room(text.len())?;
                if let Some((_, input)) = &mut self.building {
                    input.push_str(text);
                }
            }
            // An empty signature is not written.
            (Delta::Signature(text), _)
                if to.is_open(Block::Reasoning) && !self.is_signed && !text.is_empty() =>
            {
                self.is_signed = true;
                self.delta(delta.clone(), to);
            }
            (Delta::InputJson(_) | Delta::Other(_), _) if to.is_open(Block::Other) => {
                self.delta(delta.clone(), to);
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks that the client offers a tool, for a call in the form of this dialect.
    fn check_tool(&self, name: &str, to: &To<'_>) -> Result<(), SendError> {
        match self.typed.contains(name) {
            true => Ok(()),
            false => to.check_tool(name),
        }
    }

    /// Buffers calls: all of them, or none.
    fn buffer_calls(
        &mut self,
        calls: impl Iterator<Item = ToolUseBlock> + Clone,
    ) -> Result<(), SendError> {
        let odd = |call: ToolUseBlock| call.name.is_empty() || call.input.kind() != Kind::Object;
        // All calls are checked before the first is buffered: either all are sent, or none.
        if calls.clone().any(odd) {
            return Err(SendError::Invalid("arguments must be an object".into()));
        }
        let sizes = calls
            .clone()
            .map(|call| call.to_raw().as_bytes().len() + 64);
        self.make_room(sizes.sum())?;
        for mut call in calls {
            // The protocol allows only letters, digits, `_` and `-` in ids of calls.
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
            if call.id.is_empty() || !call.id.bytes().all(allowed) {
                call.id = self.env.new_id("toolu");
            }
            self.calls.push(call);
        }
        Ok(())
    }

    fn make_room(&mut self, bytes: usize) -> Result<(), SendError> {
        if self.buffered + bytes > MAX_BUFFERED {
            let message = format!("the calls are larger than {MAX_BUFFERED} bytes");
            return Err(SendError::Invalid(message));
        }
        self.buffered += bytes;
        Ok(())
    }

    /// Completes the current call.
    fn complete_call(&mut self) -> Result<(), SendError> {
        let Some((mut call, text)) = self.building.take() else {
            return Ok(());
        };
        // Without pieces the arguments in the start of the block count.
        if !text.is_empty() || call.input.is_null() {
            call.input = Json::parse_object(&text).unwrap_or_default();
        }
        self.buffer_calls(std::iter::once(call))
    }
}

/// Returns the arguments of a call as an object, which the dialect requires.
fn input(call: &ToolCall) -> Json {
    let Some(text) = call.arguments.string() else {
        return call.arguments.clone();
    };
    // Some models write `null`, or encode the object twice.
    let twice = || {
        Json::parse(text.as_bytes().to_vec())
            .ok()?
            .string()
            .map(|it| it.into_owned())
    };
    match text.trim() {
        "null" => Json::object(|_| ()),
        _ => twice()
            .and_then(|it| Json::parse_object(&it).ok())
            .unwrap_or_else(|| {
                Json::object(|object| {
                    object.str("invalid_json", &text);
                })
            }),
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
