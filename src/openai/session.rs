//! One reply, as a stream of chunks or as one completion.

use std::collections::{BTreeMap, HashSet};
use std::mem;

use super::turn::Turn;
use super::{
    ChatCompletion, ChatCompletionChunk, ChatRequest, Choice, Delta, Ending, ErrorObject, Event,
    FinishReason, OpenAi, ToolCallDelta, Usage,
};
use crate::json::{Escape, Json, List, Members, ValueWriter, Wire, own};
use crate::protocol::fragments::weight;
use crate::protocol::{
    self, Block, Blocks, Citation, Completion, End, Env, FrameKind, Part, Protocol as _, SendError,
    Session, ToolCall, Writer,
};

/// The maximum number of choices of a request.
const MAX_CHOICES: u32 = 128;
/// The maximum size in bytes of the buffered calls of a reply.
const MAX_BUFFERED: usize = 16 * 1024 * 1024;
/// The maximum size in bytes of an answer without a stream.
const WHOLE_LIMIT: usize = 32 * 1024 * 1024;
/// The maximum number of members that are queued for the next chunk.
const MAX_PENDING: usize = 64;

/// One reply: the head of its chunks, and what is buffered until its end.
///
/// It enforces these rules of the protocol: each event has one line of data; all chunks have the
/// same head; only the first chunk has the role; calls are written one at a time; each choice has
/// exactly one finish reason, then follows the usage if requested, then exactly one `[DONE]`; after
/// a failure there is one error and nothing else. Finish reasons and usage are therefore buffered
/// until the end of the turn. Blocks of text and of reasoning have neither a beginning nor an end.
pub struct Reply {
    env: Env,
    /// A chunk without choices, with the members that all chunks have.
    head: ChatCompletionChunk,
    /// The choices with output, by their index. The first one is always present.
    turns: BTreeMap<u32, Turn>,
    wants_usage: bool,
    usage: Option<Usage>,
    /// Members of chunks that were not written, for the next chunk that is.
    pending: Members,
    /// The size in bytes of the buffered calls.
    buffered: usize,
    /// Set once a chunk with a text, a refusal or a call was written.
    said: bool,
    /// Set once a chunk of another server was written as it came.
    is_passed: bool,
    /// The names of the tools with free text that the request offers.
    free_text: HashSet<String>,
}

/// The writer of a reply.
type To<'a> = Writer<'a, Reply>;

pub(super) fn session(request: &ChatRequest, env: &Env) -> Session<Reply> {
    let mut head = ChatCompletionChunk {
        id: Some(env.hex_id(["chatcmpl-", ""])),
        created: Some(env.unix_time()),
        model: Some(request.model.clone()),
        ..ChatCompletionChunk::default()
    };
    if request.is_stream() && request.wants_usage() {
        // OpenAI's API reference: with `include_usage` all chunks but the last have `usage: null`.
        head.unknown.push("usage", Json::default());
    }
    let reply = Reply {
        env: env.clone(),
        head,
        turns: BTreeMap::new(),
        wants_usage: request.wants_usage(),
        usage: None,
        pending: Members::new(),
        buffered: 0,
        said: false,
        is_passed: false,
        free_text: request
            .free_text_tools()
            .map(|tool| tool.name.into())
            .collect(),
    };
    let free_text: Vec<_> = reply.free_text.iter().cloned().collect();
    let functions = request.offered().map(|function| function.name.clone());
    let session = Session::new(reply).any_call().tools(
        functions
            .chain(request.deprecated_functions())
            .chain(free_text),
    );
    match request.is_stream() {
        true => session,
        false => session.document(Completion::new().limit(WHOLE_LIMIT), OpenAi::deltas),
    }
}

/// Follows an event of another server.
pub(super) fn follow(session: &mut Session<Reply>, event: &Event) -> FrameKind {
    let Event::Chunk(chunk) = event else {
        return FrameKind::Dropped;
    };
    let (reply, _) = session.follow();
    reply.is_passed = true;
    if chunk.usage.is_some() && chunk.choices.is_empty() && !reply.wants_usage {
        return FrameKind::Dropped;
    }
    let is_empty = |value: &Json| value.is_null() || value.string().is_some_and(|it| it.is_empty());
    let is_output = |choice: &Choice| {
        let mut others = choice.delta.unknown.iter();
        says(choice) || choice.finish_reason.is_some() || others.any(|(_, it)| !is_empty(it))
    };
    match chunk.usage.is_some() || chunk.choices.iter().any(is_output) {
        true => FrameKind::Output,
        false => FrameKind::Preamble,
    }
}

impl Blocks for Reply {
    type Output = ChatCompletionChunk;
    type Ending = Ending;
    type Event = Event;

    fn write(&self, event: &Event, out: &mut Vec<u8>) {
        out.extend_from_slice(b"data: ");
        match event {
            Event::Chunk(chunk) => {
                chunk.write_to(ValueWriter::new(out, Escape::JsonAndSeparators));
            }
            Event::Error(error) => error.write_body(out),
            Event::Done => out.extend_from_slice(b"[DONE]"),
        }
        out.extend_from_slice(b"\n\n");
    }

    fn document(answer: Completion, out: &mut Vec<u8>) {
        ChatCompletion::from(answer).write_to(ValueWriter::new(out, Escape::JsonAndSeparators));
    }

    /// Writes the role, which only the first chunk of a reply has.
    fn begin(&mut self, to: &mut To<'_>) {
        let opening = turn(&mut self.turns, 0).open();
        self.send(opening, to);
    }

    /// Returns a piece of text, or of reasoning as `reasoning_content`, the member that other
    /// compatible servers use, in chunks and in the message of a completion.
    fn piece(&self, block: Block, text: String) -> Option<Event> {
        let mut delta = Delta::default();
        match block {
            Block::Reasoning => delta.unknown.push("reasoning_content", text.to_raw()),
            _ => delta.content = Some(text),
        }
        Some(Event::Chunk(ChatCompletionChunk {
            choices: vec![Choice::new(0, delta)].into(),
            ..self.head.clone()
        }))
    }

    fn output(&mut self, chunk: &ChatCompletionChunk, to: &mut To<'_>) -> Result<(), SendError> {
        self.buffered = self.check(chunk, to)?;
        if let Some(usage) = &chunk.usage {
            self.usage = Some(usage.clone());
        }
        for (to, from) in [
            (&mut self.head.service_tier, &chunk.service_tier),
            (&mut self.head.system_fingerprint, &chunk.system_fingerprint),
        ] {
            if from.is_some() {
                to.clone_from(from);
            }
        }
        let (mut openings, mut pieces) = (Vec::new(), Vec::with_capacity(chunk.choices.len()));
        for choice in &chunk.choices {
            self.said |= says(choice);
            let turn = turn(&mut self.turns, choice.index);
            if let Some(piece) = turn.add(choice, &self.env) {
                if !turn.is_open() {
                    openings.push(turn.open());
                }
                pieces.push(piece);
            }
        }
        if !openings.is_empty() {
            // Rule 3: the role is in a chunk of its own, before all other output of the choice.
            let openings = self.chunk(openings);
            to.event(self, openings);
        }
        self.pending.retain(|key| chunk.unknown.get(key).is_none());
        // Invalid values of known members are not relayed.
        let unknown = chunk.unknown.iter();
        let unknown = unknown.filter(|(key, _)| !ChatCompletionChunk::NAMES.contains(key));
        if pieces.is_empty() {
            // Some clients treat a chunk without choices as the end, so its members are queued.
            let room = MAX_PENDING.saturating_sub(self.pending.len());
            let copies = unknown.map(|(key, value)| (key, own(value)));
            self.pending.extend(copies.take(room));
            return Ok(());
        }
        self.pending
            .extend(unknown.map(|(key, value)| (key, value.clone())));
        let pieces = self.chunk(pieces);
        to.event(self, pieces);
        Ok(())
    }

    fn ending(&mut self, ending: &Ending, to: &mut To<'_>) -> Result<(), SendError> {
        let (delta, reason) = match ending {
            Ending::Finish(reason) => (Delta::default(), reason.clone()),
            Ending::Calls(calls) => {
                for call in calls {
                    to.check_tool(&call.function.name)?;
                }
                let calls = (0..).zip(calls.iter().cloned());
                let calls = calls.map(|(index, call)| ToolCallDelta::complete(index, call));
                let delta = Delta {
                    tool_calls: calls.collect(),
                    ..Delta::default()
                };
                (delta, FinishReason::ToolCalls)
            }
            Ending::Error(error) => {
                self.fail_with(error.clone(), to);
                return Ok(());
            }
        };
        self.output(&Choice::new(0, delta).finish(reason).into(), to)
    }

    fn part(&mut self, part: Part<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        match part {
            Part::Usage(usage) => {
                // The usage of another server has more members.
                let is_same = |own: &Usage| protocol::Usage::from(own) == *usage;
                if !self.usage.as_ref().is_some_and(is_same) {
                    self.usage = Some((*usage).into());
                }
                Ok(())
            }
            Part::Cite(citation) if citation.by_model && citation.web_url().is_some() => {
                self.annotate(citation, to);
                Ok(())
            }
            Part::Calls(calls) => self.calls(calls, to),
            Part::Cut(cut) => match FinishReason::of(cut) {
                // Written at the end.
                Some(reason) => {
                    turn(&mut self.turns, 0).end_with(reason);
                    Ok(())
                }
                // The dialect has no reason for faults.
                None => to.part(self, part),
            },
            part => to.part(self, part),
        }
    }

    /// Writes finish reasons, the usage if requested, and `[DONE]`.
    fn end(&mut self, end: End<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        if let End::Failed(failure) = end {
            self.fail_with(ErrorObject::failure(failure), to);
            return Ok(());
        }
        if self.is_passed {
            to.event(self, Event::Done);
            return Ok(());
        }
        if !to.has_text() && !self.said && self.turns.values().all(Turn::is_complete) {
            // Without a text Copilot's command line fails.
            to.text(self, crate::models::NO_ANSWER);
        }
        for (_, mut turn) in mem::take(&mut self.turns) {
            for piece in turn.finish(&self.env) {
                self.send(piece, to);
            }
        }
        if let Some(usage) = self.usage.take().filter(|_| self.wants_usage) {
            self.head.usage = Some(usage);
            // The one chunk that may have no choices. It must follow every finish reason.
            to.event(self, self.head.clone());
        }
        to.event(self, Event::Done);
        Ok(())
    }
}

impl Reply {
    fn calls(&mut self, calls: &[ToolCall], to: &mut To<'_>) -> Result<(), SendError> {
        // Calls may be the first output of the reply.
        self.said |= !calls.is_empty();
        to.sources(self)?;
        for call in calls {
            let turn = turn(&mut self.turns, 0);
            let piece = match self.free_text.contains(&call.name) {
                true => turn.free_text_call(call, &self.env),
                false => turn.call(call, &self.env),
            };
            self.send(piece, to);
        }
        Ok(())
    }

    /// Checks a chunk before any part of it is written, because written parts cannot be undone.
    /// Returns the size of the buffered calls including this chunk.
    fn check(&self, chunk: &ChatCompletionChunk, to: &To<'_>) -> Result<usize, SendError> {
        for choice in &chunk.choices {
            let calls = choice.delta.tool_calls.iter();
            let functions = calls.filter_map(|call| call.function.as_ref());
            let names = functions
                .chain(&choice.delta.function_call)
                .filter_map(|function| function.name.as_deref());
            for name in names.filter(|name| !name.is_empty()) {
                to.check_tool(name)?;
            }
        }
        let mut choices = chunk.choices.iter();
        if choices.any(|choice| choice.index >= MAX_CHOICES) {
            let message = format!("a choice's index must be below {MAX_CHOICES}");
            return Err(SendError::Invalid(message));
        }
        let choices = chunk.choices.iter();
        let fragments = choices.flat_map(|choice| &choice.delta.tool_calls);
        let buffered = self.buffered + fragments.map(|it| weight(&it.delta())).sum::<usize>();
        if buffered > MAX_BUFFERED {
            let message = format!("the calls are larger than {MAX_BUFFERED} bytes");
            return Err(SendError::Invalid(message));
        }
        Ok(buffered)
    }

    /// Writes a citation of a model as an annotation.
    fn annotate(&mut self, citation: &Citation, to: &mut To<'_>) {
        let source = Json::object(|source| {
            // The place is required, and not known.
            source.u64("start_index", 0).u64("end_index", 0);
            let url = citation.web_url().unwrap_or_default();
            source.str("title", &citation.title).str("url", url);
        });
        let annotation = Json::object(|annotation| {
            annotation
                .str("type", "url_citation")
                .raw("url_citation", &source);
        });
        let annotations: List<Json> = [annotation].into_iter().collect();
        let mut delta = Delta::default();
        delta.unknown.push("annotations", annotations.to_raw());
        self.send(Choice::new(0, delta), to);
    }

    /// Returns a chunk with these choices, the head and the members that were queued.
    fn chunk(&mut self, choices: Vec<Choice>) -> ChatCompletionChunk {
        let mut chunk = self.head.clone();
        chunk.choices = choices.into();
        chunk.unknown.extend(mem::take(&mut self.pending));
        chunk
    }

    /// Writes a chunk with one choice.
    fn send(&mut self, choice: Choice, to: &mut To<'_>) {
        let chunk = self.chunk(vec![choice]);
        to.event(self, chunk);
    }

    /// Writes an error as the end of a failed answer.
    fn fail_with(&self, error: ErrorObject, to: &mut To<'_>) {
        match to.fail() {
            Some(body) => error.write_body(body),
            None => to.event(self, Event::Error(error)),
        }
    }
}

/// Returns the choice with this index, creating it if there is none.
fn turn(turns: &mut BTreeMap<u32, Turn>, index: u32) -> &mut Turn {
    turns.entry(index).or_insert_with(|| Turn::new(index))
}

/// Returns `true` if a choice has members besides the role, reasoning and the finish reason.
fn says(choice: &Choice) -> bool {
    let delta = &choice.delta;
    let has = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    // Other members are, for example, audio or images.
    let other = |(key, value): (&str, &Json)| !key.starts_with("reasoning") && !value.is_null();
    has(&delta.content)
        || has(&delta.refusal)
        || !delta.tool_calls.is_empty()
        || delta.function_call.is_some()
        || delta.unknown.iter().any(other)
}

opaque_debug!(Reply);
