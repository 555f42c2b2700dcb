//! What the chunks of one reply share, and the rules that hold between them.

use std::collections::HashSet;
use std::mem;

use serde::Serialize;

use super::calls::weight;
use super::turn::Turn;
use super::{
    Accumulator, ChatCompletion, ChatCompletionChunk, ChatRequest, Choice, Content, Delta, Ending,
    ErrorObject, Event, TooLarge, Usage, kept,
};
use crate::json::model::Field as _;
use crate::json::{Escape, Json, Kind, Members, ObjectWriter, ValueWriter, write};
use crate::protocol::{
    self, Citation, Env, Failure, Part, SendError, Session as _, TextFrame, ToolCall, markdown,
};

/// The largest number of choices that a request can ask for.
const MAX_CHOICES: u32 = 128;
/// How much of the calls in one reply is held.
const MAX_HELD: usize = 16 * 1024 * 1024;
/// The largest answer that is sent as one completion, in bytes.
const WHOLE_LIMIT: usize = 32 * 1024 * 1024;
/// How many members of chunks that are not written wait for one that is.
const MAX_PENDING: usize = 64;

/// What follows the text in a chunk.
const TEXT_TAIL: &[u8] = b"\"},\"finish_reason\":null}]}\n\n";
/// The same where usage was asked for.
const TEXT_TAIL_WITH_USAGE: &[u8] = b"\"},\"finish_reason\":null}],\"usage\":null}\n\n";

/// What the chunks of one reply share.
///
/// OpenAI chat streams, rules for an encoder: one line of data an event; one head in every chunk;
/// the role in the first chunk only; one call at a time; exactly one finish reason a choice, then
/// the usage if asked for, then exactly one `[DONE]`; after a failure one error and nothing else.
/// Finish reasons and usage are therefore kept until the turn is over.
pub struct Session {
    env: Env,
    /// The start of every chunk, up to its choices.
    head: Box<[u8]>,
    /// A chunk with text for the first choice, around the text.
    frame: TextFrame,
    /// The choices that were spoken of; the first one always, and first.
    turns: Vec<Turn>,
    citations: Vec<Citation>,
    /// The names of the tools that the request offered.
    tools: HashSet<String>,
    usage_asked: bool,
    usage: Option<Usage>,
    /// Members of chunks that were not written, for the next one that is.
    pending: Members,
    /// How much of calls was held.
    held: usize,
    /// The answer so far, where it is sent as one completion.
    whole: Option<Accumulator>,
    /// Whether the stream is closed.
    done: bool,
    /// Whether it ended in an error.
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
        let id = format!("chatcmpl-{}", hex(env));
        let fields = Head {
            id: &id,
            object: "chat.completion.chunk",
            created: env.unix_time(),
            model: &request.model,
        };
        let mut head = b"data: ".to_vec();
        // Strings and a number always serialise.
        let _ = write(&fields, Escape::JsonAndSeparators, &mut head);
        head.pop();
        head.extend_from_slice(b",\"choices\":[");
        let text_head = [&*head, b"{\"index\":0,\"delta\":{\"content\":\""].concat();
        let tail = if request.wants_usage() {
            TEXT_TAIL_WITH_USAGE
        } else {
            TEXT_TAIL
        };
        let whole = (!request.is_stream()).then(|| {
            let mut whole = Accumulator::new().limit(WHOLE_LIMIT);
            let head = ChatCompletionChunk {
                created: Some(fields.created),
                id: Some(id.clone()),
                model: Some(request.model.clone()),
                ..ChatCompletionChunk::default()
            };
            // The request that the names come from was within its limit.
            let _ = whole.push(&head);
            whole
        });
        let tools = request.offered().map(|function| function.name.clone());
        Self {
            env: env.clone(),
            head: head.into(),
            frame: TextFrame::new(text_head, tail, Escape::JsonAndSeparators),
            turns: vec![Turn::new(0)],
            citations: Vec::new(),
            tools: tools.collect(),
            usage_asked: request.wants_usage() || whole.is_some(),
            usage: None,
            pending: Members::new(),
            held: 0,
            whole,
            done: false,
            failed: false,
        }
    }

    /// Names the sources, once.
    fn sources(&mut self, out: &mut Vec<u8>) -> Result<(), SendError> {
        let citations = mem::take(&mut self.citations);
        if citations.is_empty() {
            return Ok(());
        }
        self.text(&markdown::sources(&citations), out)
    }

    /// Calls tools of the client.
    fn calls(&mut self, calls: &[ToolCall], out: &mut Vec<u8>) -> Result<(), SendError> {
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
        self.open(out);
        self.sources(out)?;
        for call in calls {
            let id = new_call_id(&self.env);
            if let Some(turn) = self.turns.first_mut() {
                let piece = turn.call(id, &call.name, call.arguments.text());
                self.write(&[piece], None, out)?;
            }
        }
        Ok(())
    }

    /// Writes a piece of reasoning as `reasoning_content`, the member of other servers that speak
    /// this dialect. A completion has no place for it.
    fn reasoning(&mut self, text: &str, out: &mut Vec<u8>) -> Result<(), SendError> {
        if self.whole.is_some() {
            return Ok(());
        }
        let mut delta = Delta::default();
        delta
            .unknown
            .push("reasoning_content", text.to_owned().to_raw());
        self.chunk(&ChatCompletionChunk::new(vec![Choice::new(0, delta)]), out)
    }

    /// Writes what a chunk adds, in the form that the rules ask for.
    fn chunk(&mut self, chunk: &ChatCompletionChunk, out: &mut Vec<u8>) -> Result<(), SendError> {
        if self.done {
            return Ok(());
        }
        self.held = self.check(chunk)?;
        if let Some(usage) = &chunk.usage {
            self.usage = Some(usage.clone());
        }
        let mut pieces = Vec::with_capacity(chunk.choices.len());
        let mut openings = Vec::new();
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
                let piece = turn.add(choice, &mut || new_call_id(env));
                if piece.is_some() && !turn.is_open() {
                    openings.push(turn.open());
                }
                pieces.extend(piece);
            }
        }
        if pieces.is_empty() {
            // Some clients take a chunk without choices for the end, so its members wait.
            self.pending.retain(|key| chunk.unknown.get(key).is_none());
            let room = MAX_PENDING.saturating_sub(self.pending.len());
            let unknown = unnamed(chunk).take(room);
            self.pending
                .extend(unknown.map(|(key, value)| (key, kept::own(value))));
            return Ok(());
        }
        if !openings.is_empty() {
            self.write(&openings, None, out)?;
        }
        self.write(&pieces, Some(chunk), out)
    }

    /// Checks what could not be taken back; gives how much is held with this chunk.
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
        let held = self.held + fragments.map(weight).sum::<usize>();
        if held > MAX_HELD {
            let message = format!("the calls are larger than {MAX_HELD} bytes");
            return Err(SendError::Invalid(message));
        }
        Ok(held)
    }

    /// Writes the end of an answer that failed: an error, and nothing behind it.
    fn error(&mut self, error: &ErrorObject, out: &mut Vec<u8>) {
        if mem::replace(&mut self.done, true) {
            return;
        }
        self.failed = true;
        if self.whole.is_some() {
            error.write_body(out);
            return;
        }
        out.extend_from_slice(b"data: ");
        error.write_body(out);
        out.extend_from_slice(b"\n\n");
    }

    /// Writes one chunk; `from` is the one that its other members come from.
    fn write(
        &mut self,
        pieces: &[Choice],
        from: Option<&ChatCompletionChunk>,
        out: &mut Vec<u8>,
    ) -> Result<(), SendError> {
        if let Some(whole) = &mut self.whole {
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
            return Ok(whole.push(&chunk)?);
        }
        out.extend_from_slice(&self.head);
        for (index, piece) in pieces.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            piece.write_to(ValueWriter::new(out, Escape::JsonAndSeparators));
        }
        out.push(b']');
        if self.usage_asked {
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
        // The object's members join those of the chunk.
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
    type Event = Event;

    /// Writes the role, which the first chunk of a reply has and no other.
    fn open(&mut self, out: &mut Vec<u8>) {
        if let Some(turn) = self.turns.first_mut().filter(|turn| !turn.is_open()) {
            let opening = turn.open();
            // Nothing in it can fail to be written.
            let _ = self.write(&[opening], None, out);
        }
    }

    fn text_frame(&self) -> Option<TextFrame> {
        self.whole.is_none().then(|| self.frame.clone())
    }

    fn text(&mut self, text: &str, out: &mut Vec<u8>) -> Result<(), SendError> {
        match &mut self.whole {
            _ if self.done => {}
            Some(whole) => whole.push_text(text)?,
            None => self.frame.write(text, out),
        }
        Ok(())
    }

    fn part(&mut self, part: Part<'_>, out: &mut Vec<u8>) -> Result<(), SendError> {
        match part {
            // There is no place for a status, and as text it would become part of the answer.
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
            Part::Table(table) => self.text(&markdown::table(table), out),
            Part::Chart(chart) => self.text(&markdown::table(&chart.to_table()), out),
            Part::Error(notice) => self.text(&markdown::notice(notice), out),
            Part::Confirm(confirmation) => {
                // The question is the last text: that is how it is found again.
                self.sources(out)?;
                self.text(&markdown::question(confirmation), out)
            }
            Part::Calls(calls) => self.calls(calls, out),
        }
    }

    fn event(&mut self, event: &Event, out: &mut Vec<u8>) -> Result<(), SendError> {
        match event {
            Event::Chunk(chunk) => self.chunk(chunk, out)?,
            Event::End(Ending::Error(error)) | Event::Error(error) => self.error(error, out),
            Event::End(ending) => self.chunk(&ending.chunk(), out)?,
            Event::Done => self.finish(out),
        }
        Ok(())
    }

    fn is_failed(&self) -> bool {
        self.failed
    }

    /// Writes sources, finish reasons, the usage if asked for, and `[DONE]`.
    fn finish(&mut self, out: &mut Vec<u8>) {
        if self.done {
            return;
        }
        // Past the limit there are no sources: the answer has failed then.
        let _ = self.sources(out);
        self.done = true;
        let env = &self.env;
        let pieces: Vec<Choice> = self
            .turns
            .iter_mut()
            .flat_map(|turn| turn.finish(&mut || new_call_id(env)))
            .collect();
        for piece in &pieces {
            // Models of this crate serialise.
            let _ = self.write(std::slice::from_ref(piece), None, out);
        }
        let usage = self.usage.take().filter(|_| self.usage_asked);
        if let Some(mut whole) = self.whole.take() {
            let _ = usage.map(|usage| whole.push(&usage.into()));
            out.extend_from_slice(&completion(whole).to_json());
            return;
        }
        if let Some(usage) = usage {
            out.extend_from_slice(&self.head);
            out.extend_from_slice(b"],\"usage\":");
            usage.write_to(ValueWriter::new(out, Escape::JsonAndSeparators));
            out.extend_from_slice(b"}\n\n");
        }
        out.extend_from_slice(b"data: [DONE]\n\n");
    }

    fn fail(&mut self, failure: &Failure<'_>, out: &mut Vec<u8>) {
        let error = ErrorObject::new(failure.message);
        let error = match failure.retryable {
            true => error,
            // With a bare `server_error` Copilot's command line sends the same turn six times; after
            // this code no known client does.
            false => error.code("invalid_prompt"),
        };
        self.error(&error, out);
    }
}

/// Returns the answer to a request without a stream.
fn completion(whole: Accumulator) -> ChatCompletion {
    let mut completion = whole.finish();
    for choice in &mut completion.choices {
        let message = &mut choice.message;
        let instead = !message.tool_calls.is_empty() || message.refusal.is_some();
        // The empty text that the role comes with says nothing beside calls or a refusal.
        if instead && message.content.text().is_empty() {
            message.content = Content::Null;
        }
    }
    completion
}

impl From<TooLarge> for SendError {
    fn from(error: TooLarge) -> Self {
        Self::TooLarge { limit: error.limit }
    }
}

/// Returns the unknown members of a chunk. An odd value of a named one is not passed on.
fn unnamed(chunk: &ChatCompletionChunk) -> impl Iterator<Item = (&str, &Json)> {
    let members = chunk.unknown.iter();
    members.filter(|(key, _)| !ChatCompletionChunk::NAMES.contains(key))
}

fn hex(env: &Env) -> String {
    env.uuid().replace('-', "")
}

fn new_call_id(env: &Env) -> String {
    format!("call_{}", hex(env))
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("choices", &self.turns.len())
            .field("done", &self.done)
            .finish_non_exhaustive()
    }
}
