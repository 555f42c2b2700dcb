//! The state of one reply, and the rules of its chunks.

use std::collections::HashSet;
use std::mem;

use serde::Serialize;

use super::calls::weight;
use super::turn::Turn;
use super::{
    Accumulator, ChatCompletion, ChatCompletionChunk, ChatRequest, Choice, Content, Delta, Ending,
    ErrorObject, FinishReason, ToolCallDelta, Usage, retained,
};
use crate::json::{Escape, Json, Kind, Members, ObjectWriter, ValueWriter, Wire, write};
use crate::protocol::{
    self, Citation, Env, Failure, Part, SendError, Session as _, TextFrame, ToolCall, markdown,
};

/// The maximum number of choices of a request.
const MAX_CHOICES: u32 = 128;
/// The maximum size in bytes of the buffered calls of a reply.
const MAX_BUFFERED: usize = 16 * 1024 * 1024;
/// The maximum size in bytes of an answer without a stream.
const WHOLE_LIMIT: usize = 32 * 1024 * 1024;
/// The maximum number of members that are queued for the next chunk.
const MAX_PENDING: usize = 64;

/// The end of a chunk with text.
const TEXT_TAIL: &[u8] = b"\"},\"finish_reason\":null}]}\n\n";
/// The end of a chunk with text if usage was requested.
const TEXT_TAIL_WITH_USAGE: &[u8] = b"\"},\"finish_reason\":null}],\"usage\":null}\n\n";

/// The state of one reply.
///
/// It enforces these rules of the protocol: each event has one line of data; all chunks have the
/// same head; only the first chunk has the role; calls are written one at a time; each choice has
/// exactly one finish reason, then follows the usage if requested, then exactly one `[DONE]`; after
/// a failure there is one error and nothing else. Finish reasons and usage are therefore buffered
/// until the end of the turn.
pub struct Session {
    env: Env,
    /// The start of every chunk, up to its choices.
    head: Box<[u8]>,
    /// The frame around text for the first choice.
    frame: TextFrame,
    /// The choices with output. The first one is always present.
    turns: Vec<Turn>,
    citations: Vec<Citation>,
    /// The names of the tools that the request offers.
    tools: HashSet<String>,
    usage_requested: bool,
    usage: Option<Usage>,
    /// Members of chunks that were not written, for the next chunk that is.
    pending: Members,
    /// The size in bytes of the buffered calls.
    buffered: usize,
    /// The answer so far, if it is sent without a stream.
    completion: Option<Accumulator>,
    /// Set once a text, a refusal or a call was written.
    said: bool,
    /// Set once the stream has ended.
    done: bool,
    /// Set if it ended with an error.
    failed: bool,
}

impl Session {
    pub(super) fn new(request: &ChatRequest, env: &Env) -> Self {
        #[derive(Serialize)]
        struct Head<'a> {
            id: &'a str,
            object: &'static str,
            created: u64,
            model: &'a str,
        }
        let id = format!("chatcmpl-{}", env.uuid().replace('-', ""));
        let fields = Head {
            id: &id,
            object: "chat.completion.chunk",
            created: env.unix_time(),
            model: &request.model,
        };
        let mut head = b"data: ".to_vec();
        // Serializing strings and a number cannot fail.
        let _ = write(&fields, Escape::JsonAndSeparators, &mut head);
        // The closing brace is removed: every chunk continues the object.
        head.pop();
        head.extend_from_slice(b",\"choices\":[");
        let text_head = [&*head, b"{\"index\":0,\"delta\":{\"content\":\""].concat();
        let tail = if request.wants_usage() {
            TEXT_TAIL_WITH_USAGE
        } else {
            TEXT_TAIL
        };
        // Without a stream the chunks are collected by the same accumulator that clients use: both
        // forms of an answer then have the same content.
        let completion = (!request.is_stream()).then(|| {
            let mut completion = Accumulator::new().limit(WHOLE_LIMIT);
            let head = ChatCompletionChunk {
                created: Some(fields.created),
                id: Some(id.clone()),
                model: Some(request.model.clone()),
                ..ChatCompletionChunk::default()
            };
            // The names come from the request, which was within its limit, so this cannot fail.
            let _ = completion.push(&head);
            completion
        });
        let tools = request.offered().map(|function| function.name.clone());
        Self {
            env: env.clone(),
            head: head.into(),
            frame: TextFrame::new(text_head, tail, Escape::JsonAndSeparators),
            turns: vec![Turn::new(0)],
            citations: Vec::new(),
            tools: tools.collect(),
            usage_requested: request.wants_usage() || completion.is_some(),
            usage: None,
            pending: Members::new(),
            buffered: 0,
            completion,
            said: false,
            done: false,
            failed: false,
        }
    }

    /// Writes the citations, once.
    fn sources(&mut self, out: &mut Vec<u8>) -> Result<(), SendError> {
        let citations = mem::take(&mut self.citations);
        if citations.is_empty() {
            return Ok(());
        }
        self.text(&markdown::sources(&citations), out)
    }

    /// Writes calls of the client's tools.
    fn calls(&mut self, calls: &[ToolCall], out: &mut Vec<u8>) -> Result<(), SendError> {
        // All calls are checked before the first is written: either all are sent, or none.
        for call in calls {
            if !self.tools.contains(&call.name) {
                return Err(SendError::Unsupported(
                    "a tool that the request did not offer",
                ));
            }
            if call.arguments.kind() != Kind::Object {
                return Err(SendError::Invalid("arguments must be an object".into()));
            }
        }
        // Calls may be the first output of the reply.
        self.said |= !calls.is_empty();
        self.open(out);
        self.sources(out)?;
        for call in calls {
            let env = &self.env;
            if let Some(turn) = self.turns.first_mut() {
                let new_id = &mut || env.new_id("call");
                let piece = turn.call(&call.name, call.arguments.text(), new_id);
                self.write(&[piece], None, out)?;
            }
        }
        Ok(())
    }

    /// Writes a piece of reasoning as `reasoning_content`, the member that other compatible servers
    /// use, in chunks and in the message of a completion.
    fn reasoning(&mut self, text: &str, out: &mut Vec<u8>) -> Result<(), SendError> {
        let mut delta = Delta::default();
        delta
            .unknown
            .push("reasoning_content", text.to_owned().to_raw());
        self.chunk(&ChatCompletionChunk::new(vec![Choice::new(0, delta)]), out)
    }

    /// Writes the addition of a chunk, in the form that the rules require.
    fn chunk(&mut self, chunk: &ChatCompletionChunk, out: &mut Vec<u8>) -> Result<(), SendError> {
        if self.done {
            return Ok(());
        }
        self.buffered = self.check(chunk)?;
        if let Some(usage) = &chunk.usage {
            self.usage = Some(usage.clone());
        }
        let mut pieces = Vec::with_capacity(chunk.choices.len());
        let mut openings = Vec::new();
        self.said |= chunk.choices.iter().any(says);
        for choice in &chunk.choices {
            let env = &self.env;
            let position = self
                .turns
                .iter()
                .position(|turn| turn.index() == choice.index);
            let position = position.unwrap_or_else(|| {
                self.turns.push(Turn::new(choice.index));
                self.turns.len() - 1
            });
            if let Some(turn) = self.turns.get_mut(position) {
                let piece = turn.add(choice, &mut || env.new_id("call"));
                if piece.is_some() && !turn.is_open() {
                    openings.push(turn.open());
                }
                pieces.extend(piece);
            }
        }
        if pieces.is_empty() {
            // Some clients treat a chunk without choices as the end, so its members are queued.
            self.pending.retain(|key| chunk.unknown.get(key).is_none());
            let room = MAX_PENDING.saturating_sub(self.pending.len());
            let unknown = unnamed(chunk).take(room);
            self.pending
                .extend(unknown.map(|(key, value)| (key, retained::copy(value))));
            return Ok(());
        }
        if !openings.is_empty() {
            // Rule 3: the role is in a chunk of its own, before all other output of the choice.
            self.write(&openings, None, out)?;
        }
        self.write(&pieces, Some(chunk), out)
    }

    /// Checks a chunk before any part of it is written, because written parts cannot be undone.
    /// Returns the size of the buffered calls including this chunk.
    fn check(&self, chunk: &ChatCompletionChunk) -> Result<usize, SendError> {
        if chunk
            .choices
            .iter()
            .any(|choice| choice.index >= MAX_CHOICES)
        {
            let message = format!("a choice's index must be below {MAX_CHOICES}");
            return Err(SendError::Invalid(message));
        }
        let fragments = chunk
            .choices
            .iter()
            .flat_map(|choice| &choice.delta.tool_calls);
        let buffered = self.buffered + fragments.map(weight).sum::<usize>();
        if buffered > MAX_BUFFERED {
            let message = format!("the calls are larger than {MAX_BUFFERED} bytes");
            return Err(SendError::Invalid(message));
        }
        Ok(buffered)
    }

    /// Writes an error as the end of a failed answer.
    fn error(&mut self, error: &ErrorObject, out: &mut Vec<u8>) {
        if mem::replace(&mut self.done, true) {
            return;
        }
        self.failed = true;
        if self.completion.is_some() {
            error.write_body(out);
            return;
        }
        out.extend_from_slice(b"data: ");
        error.write_body(out);
        out.extend_from_slice(b"\n\n");
    }

    /// Writes one chunk, with the other members of `from`.
    fn write(
        &mut self,
        pieces: &[Choice],
        from: Option<&ChatCompletionChunk>,
        out: &mut Vec<u8>,
    ) -> Result<(), SendError> {
        if let Some(completion) = &mut self.completion {
            let mut chunk = ChatCompletionChunk::new(pieces.to_vec());
            chunk.unknown = mem::take(&mut self.pending);
            if let Some(from) = from {
                chunk.service_tier.clone_from(&from.service_tier);
                chunk
                    .system_fingerprint
                    .clone_from(&from.system_fingerprint);
                let unknown = from.unknown.iter();
                chunk
                    .unknown
                    .extend(unknown.map(|(key, value)| (key, value.clone())));
            }
            return Ok(completion.push(&chunk)?);
        }
        out.extend_from_slice(&self.head);
        for (index, piece) in pieces.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            piece.write_to(ValueWriter::new(out, Escape::JsonAndSeparators));
        }
        out.push(b']');
        if self.usage_requested {
            // OpenAI's API reference: with `include_usage` all chunks but the last have `usage:
            // null`.
            out.extend_from_slice(b",\"usage\":null");
        }
        let mut pending = mem::take(&mut self.pending);
        let start = out.len();
        let mut extras = ObjectWriter::new(out, Escape::JsonAndSeparators);
        if let Some(chunk) = from {
            pending.retain(|key| chunk.unknown.get(key).is_none());
            extras
                .opt_str("service_tier", chunk.service_tier.as_deref())
                .opt_str("system_fingerprint", chunk.system_fingerprint.as_deref());
        }
        extras.members(&pending);
        for (key, value) in from.into_iter().flat_map(unnamed) {
            extras.member(key).raw(value);
        }
        extras.finish();
        // The members of the object become members of the chunk.
        match out.get(start..) {
            Some(b"{}") => out.truncate(start),
            _ => {
                if let Some(brace) = out.get_mut(start) {
                    *brace = b',';
                }
                out.pop();
            }
        }
        out.extend_from_slice(b"}\n\n");
        Ok(())
    }
}

impl protocol::Session for Session {
    type Output = ChatCompletionChunk;
    type Ending = Ending;

    /// Writes the role, which only the first chunk of a reply has.
    fn open(&mut self, out: &mut Vec<u8>) {
        if let Some(turn) = self.turns.first_mut().filter(|turn| !turn.is_open()) {
            let opening = turn.open();
            // The chunk has no value whose serialization can fail.
            let _ = self.write(&[opening], None, out);
        }
    }

    fn text_frame(&self) -> Option<TextFrame> {
        // Without a stream there are no frames: all text goes through `text` into the accumulator. So does the
        // first text of a stream, which is noted there.
        let is_framed = self.said && self.completion.is_none();
        is_framed.then(|| self.frame.clone())
    }

    fn text(&mut self, text: &str, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.said |= !text.is_empty();
        match &mut self.completion {
            _ if self.done => {}
            Some(completion) => completion.push_text(text)?,
            None => self.frame.write(text, out),
        }
        Ok(())
    }

    fn part(&mut self, part: Part<'_>, out: &mut Vec<u8>) -> Result<(), SendError> {
        match part {
            // The protocol has no member for a status, and text would become part of the answer.
            Part::Status(_) | Part::ToolRun(_) => Ok(()),
            Part::Reasoning(text) => self.reasoning(text, out),
            Part::Usage(usage) => {
                self.usage = Some((*usage).into());
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

    fn output(&mut self, chunk: &ChatCompletionChunk, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.chunk(chunk, out)
    }

    fn ending(&mut self, ending: &Ending, out: &mut Vec<u8>) -> Result<(), SendError> {
        let (delta, reason) = match ending {
            Ending::Finish(reason) => (Delta::default(), reason.clone()),
            Ending::Calls(calls) => {
                let calls = (0..).zip(calls.iter().cloned());
                let calls = calls.map(|(index, call)| ToolCallDelta::complete(index, call));
                let delta = Delta {
                    tool_calls: calls.collect(),
                    ..Delta::default()
                };
                (delta, FinishReason::ToolCalls)
            }
            Ending::Error(error) => {
                self.error(error, out);
                return Ok(());
            }
        };
        self.chunk(&Choice::new(0, delta).finish(reason).into(), out)
    }

    fn is_failed(&self) -> bool {
        self.failed
    }

    /// Writes citations, finish reasons, the usage if requested, and `[DONE]`.
    fn finish(&mut self, out: &mut Vec<u8>) {
        if self.done {
            return;
        }
        // If the limit is exceeded, the answer has failed, and citations do not matter.
        let _ = self.sources(out);
        if !self.said && self.turns.iter().all(Turn::is_complete) {
            // Without a text Copilot's command line fails.
            let _ = self.text(crate::models::NO_ANSWER, out);
        }
        self.done = true;
        let env = &self.env;
        let pieces: Vec<Choice> = self
            .turns
            .iter_mut()
            .flat_map(|turn| turn.finish(&mut || env.new_id("call")))
            .collect();
        for piece in &pieces {
            // Serializing models of this crate cannot fail.
            let _ = self.write(std::slice::from_ref(piece), None, out);
        }
        let usage = self.usage.take().filter(|_| self.usage_requested);
        if let Some(mut collected) = self.completion.take() {
            let _ = usage.map(|usage| collected.push(&usage.into()));
            completion(collected).write_to(ValueWriter::new(out, Escape::JsonAndSeparators));
            return;
        }
        if let Some(usage) = usage {
            out.extend_from_slice(&self.head);
            // The one chunk that may have no choices. It must follow every finish reason.
            out.extend_from_slice(b"],\"usage\":");
            usage.write_to(ValueWriter::new(out, Escape::JsonAndSeparators));
            out.extend_from_slice(b"}\n\n");
        }
        out.extend_from_slice(b"data: [DONE]\n\n");
    }

    fn fail(&mut self, failure: &Failure<'_>, out: &mut Vec<u8>) {
        self.error(&ErrorObject::failure(failure), out);
    }
}

/// Returns `true` if a choice has more than a role, reasoning and a finish reason.
fn says(choice: &Choice) -> bool {
    let delta = &choice.delta;
    let has = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    // Such as a sound, or images.
    let other = |(key, value): (&str, &Json)| !key.starts_with("reasoning") && !value.is_null();
    has(&delta.content)
        || has(&delta.refusal)
        || !delta.tool_calls.is_empty()
        || delta.function_call.is_some()
        || delta.unknown.iter().any(other)
}

/// Returns the response to a request without a stream.
fn completion(whole: Accumulator) -> ChatCompletion {
    let mut completion = whole.finish();
    for choice in &mut completion.choices {
        let message = &mut choice.message;
        let instead = !message.tool_calls.is_empty() || message.refusal.is_some();
        // The empty text of the chunk with the role is omitted beside calls or a refusal.
        if instead && message.content.text().is_empty() {
            message.content = Content::Null;
        }
    }
    completion
}

/// Returns an iterator over the unknown members of a chunk. Invalid values of known members are not
/// relayed.
fn unnamed(chunk: &ChatCompletionChunk) -> impl Iterator<Item = (&str, &Json)> {
    let members = chunk.unknown.iter();
    members.filter(|(key, _)| !ChatCompletionChunk::NAMES.contains(key))
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("choices", &self.turns.len())
            .field("done", &self.done)
            .finish_non_exhaustive()
    }
}
