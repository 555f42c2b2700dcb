//! One response as it is written.
//!
//! The items are not blocks of the shared session: the bytes around two pieces of text differ, because events are
//! numbered, and output beyond the limit is refused before its item is opened.

mod items;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::mem;

use super::block::{Block, BlockKind};
use super::stored_turn::stored_item_id;
use super::{
    Annotation, Ending, ErrorObject, Event, EventKind, IncompleteDetails, Item, Response,
    ResponsesRequest, Storage, StreamEvent, Usage,
};

use crate::json::escape::escaped_len;
use crate::json::{Escape, Json, List, ValueWriter, Wire, own};
use crate::protocol::{
    self, Blocks, Citation, Completion, Cut, End, Env, FrameKind, Level, Part, Room, SendError,
    Session, Status, Writer, markdown,
};

/// The maximum size in bytes of the output, which is retained because the last event repeats it.
const LIMIT: usize = 8 * 1024 * 1024;

/// The members of a response object that have no field. The schema requires every one of them.
const REQUIRED: &str = r#","previous_response_id":null,"instructions":null,"tools":[],"tool_choice":"auto","truncation":"disabled","parallel_tool_calls":true,"text":{"format":{"type":"text"}},"top_p":1.0,"presence_penalty":0.0,"frequency_penalty":0.0,"top_logprobs":0,"temperature":1.0,"reasoning":null,"max_output_tokens":null,"max_tool_calls":null,"store":false,"background":false,"service_tier":"default","metadata":{},"safety_identifier":null,"prompt_cache_key":null"#;

/// One response as it is written.
///
/// Responses, rules for an encoder: events are numbered from 0 without gaps; items are not interleaved; a message stays
/// open until a call or reasoning interrupts it; what was streamed is repeated when its part, its item and the response
/// are complete. So the output is retained, up to 8 MiB.
pub struct Reply {
    env: Env,
    /// The response object, without output and usage until its end.
    response: Response,
    /// The response object of another server, which is read at the end.
    passed: Option<Json>,
    /// The members of the response object that have no field.
    required: Cow<'static, str>,
    /// `true` if the response is stored.
    is_stored: bool,
    /// The functions that the request offered, by the names that agents know: their own names, and their namespaces.
    tools: HashMap<String, (String, Option<String>)>,
    /// The kinds and names of the other tools that the request offered.
    others: BTreeSet<(String, Option<String>)>,
    /// `true` if events are written; `false` if one document is written at the end.
    streams: bool,
    /// The sequence number of the next event.
    number: u64,
    /// The item that is open.
    block: Option<Block>,
    /// The items that are complete.
    output: List<Item>,
    /// The size accounting of the retained output, including the open item.
    room: Room<LIMIT>,
    /// Annotations that are written as soon as a message is open.
    annotations: Vec<Annotation>,
    usage: Usage,
    /// `true` once the response has ended.
    done: bool,
    /// `true` once an event of another server was written as it came.
    is_passed: bool,
    /// `true` if the request only prepares the next one.
    is_prepared: bool,
}

/// The writer of a response.
type To<'a> = Writer<'a, Reply>;

/// Returns the members of the response object that have no field.
fn required(request: &ResponsesRequest, storage: &Storage) -> Cow<'static, str> {
    let mut required = Cow::Borrowed(REQUIRED);
    let mut set = |default: &str, value: &str| required = required.replace(default, value).into();
    if request.is_background() {
        set(r#""background":false"#, r#""background":true"#);
    }
    if storage.is_stored {
        set(r#""store":false"#, r#""store":true"#);
    }
    if let Some(id) = &storage.previous {
        let id = Json::object(|member| {
            member.str("previous_response_id", id);
        });
        let member = id.text().trim_matches(['{', '}']);
        set(r#""previous_response_id":null"#, member);
    }
    if let Some(id) = &storage.conversation {
        let conversation = Json::object(|conversation| {
            conversation.str("id", id);
        });
        let member = format!(r#","conversation":{}"#, conversation.text());
        required.to_mut().push_str(&member);
    }
    required
}

pub(super) fn session(request: &ResponsesRequest, storage: &Storage, env: &Env) -> Session<Reply> {
    Session::new(Reply::new(request, storage, env)).unchecked()
}

/// Returns the stream that answers a request which only prepares the next one: a response without output.
pub(super) fn prepared(request: &ResponsesRequest, storage: &Storage, env: &Env) -> Vec<u8> {
    let mut reply = Reply::new(request, storage, env);
    reply.is_prepared = true;
    let (mut session, mut out) = (Session::new(reply), Vec::new());
    session.finish(&mut out);
    out
}

impl Reply {
    fn new(request: &ResponsesRequest, storage: &Storage, env: &Env) -> Self {
        let response = Response {
            // VS Code strips ids of another prefix.
            id: env.new_id("resp"),
            created_at: env.unix_time(),
            model: request.model.clone(),
            status: "in_progress".into(),
            ..Response::default()
        };
        let tools = request.offered().map(|function| {
            let name = function.full_name().into_owned();
            (name, (function.name, function.namespace))
        });
        let others = request
            .others()
            .map(|it| (it.kind.clone(), it.name.clone()));
        Self {
            env: env.clone(),
            response,
            passed: None,
            required: required(request, storage),
            is_stored: storage.is_stored,
            tools: tools.collect(),
            others: others.collect(),
            streams: request.is_stream(),
            number: 0,
            block: None,
            output: List::new(),
            room: Room::default(),
            annotations: Vec::new(),
            usage: Usage::default(),
            done: false,
            is_passed: false,
            is_prepared: false,
        }
    }

    /// Follows an event of another server.
    pub(super) fn follow(&mut self, event: &Event) -> FrameKind {
        let Some(event) = event.stream() else {
            return FrameKind::Dropped;
        };
        self.is_passed = true;
        let number = event.sequence_number.unwrap_or(self.number);
        self.number = self.number.max(number.saturating_add(1));
        if let (Some(response), false) = (&event.response, event.is_last()) {
            // A copy, which does not keep the event in memory.
            self.passed = Some(response.to_raw());
        }
        self.done |= event.is_last();
        match event.kind {
            EventKind::Created | EventKind::InProgress => FrameKind::Preamble,
            EventKind::Other(ref name) if name == "response.queued" => FrameKind::Preamble,
            _ => FrameKind::Output,
        }
    }

    /// Writes an event with the next number, if events are written, and returns it.
    fn event(&mut self, mut event: StreamEvent, out: &mut Vec<u8>) -> StreamEvent {
        if self.streams {
            event.sequence_number = Some(self.number);
            self.number += 1;
            event.write(out);
        }
        event
    }

    /// Writes an event with the response.
    fn event_of_response(&mut self, kind: EventKind, out: &mut Vec<u8>) {
        if self.streams {
            self.event(StreamEvent::new(kind), out);
            out.truncate(out.len().saturating_sub("}\n\n".len()));
            out.extend_from_slice(b",\"response\":");
            self.write_response(out);
            out.extend_from_slice(b"}\n\n");
        }
    }

    /// Writes the response object, with the required members before its last byte.
    fn write_response(&self, out: &mut Vec<u8>) {
        self.response
            .write_to(ValueWriter::new(out, Escape::JsonAndSeparators));
        out.pop();
        out.extend_from_slice(self.required.as_bytes());
        out.push(b'}');
    }

    /// Writes an event with an item. Its index is that of the next item, because items do not overlap.
    fn event_of_item(&mut self, kind: EventKind, item: Item, out: &mut Vec<u8>) -> Item {
        let event = StreamEvent {
            output_index: Some(self.index()),
            item: Some(Box::new(item)),
            ..StreamEvent::new(kind)
        };
        *self.event(event, out).item.unwrap_or_default()
    }

    /// Returns the index of the next item.
    fn index(&self) -> u64 {
        self.output.len() as u64
    }

    /// Writes a piece of a message or of reasoning. An open item of another kind is closed first.
    fn say(&mut self, kind: BlockKind, text: &str, out: &mut Vec<u8>) -> Result<(), SendError> {
        if self.done || text.is_empty() {
            return Ok(());
        }
        self.room.take(escaped_len(text))?;
        if self.block.as_ref().is_none_or(|block| block.kind != kind) {
            self.begin(kind, out);
        }
        let Some(block) = &mut self.block else {
            return Ok(());
        };
        block.push(text);
        if self.streams {
            block.write_delta(self.number, text, out);
            self.number += 1;
        }
        Ok(())
    }

    /// Opens a message or a reasoning item.
    fn begin(&mut self, kind: BlockKind, out: &mut Vec<u8>) {
        self.close(out);
        let block = Block::new(kind, self.item_id(kind.prefix()), self.index());
        let [part_added, ..] = kind.events();
        let begun = block.item("in_progress", Vec::new());
        self.event_of_item(EventKind::ItemAdded, begun, out);
        let part = StreamEvent {
            part: Some(Box::new(block.part(String::new()))),
            ..block.event(part_added)
        };
        self.event(part, out);
        self.block = Some(block);
        if kind == BlockKind::Message {
            for annotation in mem::take(&mut self.annotations) {
                self.place_annotation(annotation, out);
            }
        }
    }

    /// Returns the id of the next item. If the response is stored, the id contains the digits of the response's id, by
    /// which a reference to the item finds the stored response.
    fn item_id(&self, prefix: &str) -> String {
        match self.is_stored {
            true => stored_item_id(prefix, &self.response.id, 'o', self.index()),
            false => self.env.new_id(prefix),
        }
    }

    /// Closes the open item; the events repeat its text, its part and the complete item.
    fn close(&mut self, out: &mut Vec<u8>) {
        let Some(mut block) = self.block.take() else {
            return;
        };
        let [.., text_done, part_done] = block.kind.events();
        // The text is moved from event to event, not cloned, because it may be large.
        let text = Some(mem::take(&mut block.text));
        let (text, refusal) = match block.kind {
            BlockKind::Refusal => (None, text),
            _ => (text, None),
        };
        let done = StreamEvent {
            text,
            refusal,
            logprobs: block.logprobs(),
            ..block.event(text_done)
        };
        let done = self.event(done, out);
        let text = done.text.or(done.refusal).unwrap_or_default();
        let part = StreamEvent {
            part: Some(Box::new(block.part(text))),
            ..block.event(part_done)
        };
        let part = self.event(part, out).part.unwrap_or_default();
        self.item_done(block.item("completed", vec![*part]), out);
    }

    /// Writes the event of a complete item, and retains the item.
    fn item_done(&mut self, item: Item, out: &mut Vec<u8>) {
        let item = self.event_of_item(EventKind::ItemDone, item, out);
        self.output.push(item);
    }

    /// Adds a source to the open message. If none is open, the source is buffered for the next one.
    fn annotate(&mut self, annotation: &Annotation, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.room.take(annotation.to_raw().as_bytes().len())?;
        let annotation = own(annotation);
        match &self.block {
            Some(block) if block.kind == BlockKind::Message => {
                self.place_annotation(annotation, out);
            }
            // An annotation needs a part of a message to point into.
            _ => self.annotations.push(annotation),
        }
        Ok(())
    }

    /// Writes a source of the open message.
    fn place_annotation(&mut self, mut annotation: Annotation, out: &mut Vec<u8>) {
        let Some(block) = &mut self.block else { return };
        // A source without a position is placed at the end of the text so far.
        annotation.start_index.get_or_insert(block.chars);
        annotation.end_index.get_or_insert(block.chars);
        let event = StreamEvent {
            annotation_index: Some(block.annotations.len() as u64),
            annotation: Some(Box::new(annotation.clone())),
            ..block.event(EventKind::AnnotationAdded)
        };
        block.annotations.push(annotation);
        self.event(event, out);
    }

    /// Writes a source as an annotation. Coding clients do not show annotations, so the list at the end has the sources
    /// too, except those of a model with a link: its text has them.
    fn cite(&mut self, citation: &Citation, to: &mut To<'_>) -> Result<(), SendError> {
        if let Some(url) = citation.web_url() {
            let title = match citation.title.trim() {
                "" => url,
                title => title,
            };
            self.annotate(&Annotation::url_citation(url, title), to.stream())?;
        }
        match citation.by_model && citation.web_url().is_some() {
            true => Ok(()),
            false => to.part(self, Part::Cite(citation)),
        }
    }

    /// Writes a step of the work as a reasoning item of its own.
    fn status(&mut self, status: &Status, out: &mut Vec<u8>) -> Result<(), SendError> {
        let mut text = match status.level {
            Level::Info => String::new(),
            Level::Warning => "Warning: ".to_owned(),
            Level::Error => "Error: ".to_owned(),
        };
        text.push_str(&status.message);
        for (name, value) in &status.details {
            text.push_str(&format!("\n{name}: {value}"));
        }
        if text.is_empty() {
            return Ok(());
        }
        self.room.check(escaped_len(&text))?;
        self.close(out);
        self.say(BlockKind::Reasoning, &text, out)?;
        self.close(out);
        Ok(())
    }

    /// Writes the content of an event of another server.
    fn relay(&mut self, event: &StreamEvent, to: &mut To<'_>) -> Result<(), SendError> {
        let out = to.stream();
        let mut response = event.response();
        if let Some(usage) = response.as_mut().and_then(|it| it.usage.take()) {
            self.usage = usage;
        }
        let delta = event.delta.as_deref().unwrap_or_default();
        match event.kind {
            EventKind::TextDelta => self.say(BlockKind::Message, delta, out),
            EventKind::RefusalDelta => self.say(BlockKind::Refusal, delta, out),
            EventKind::SummaryDelta => self.say(BlockKind::Reasoning, delta, out),
            EventKind::ReasoningDelta => self.say(BlockKind::RawReasoning, delta, out),
            // The parts of a summary become paragraphs of one part.
            EventKind::SummaryPartAdded => match &self.block {
                Some(block) if block.kind == BlockKind::Reasoning && block.chars > 0 => {
                    self.say(BlockKind::Reasoning, "\n\n", out)
                }
                _ => Ok(()),
            },
            EventKind::AnnotationAdded => match &event.annotation {
                Some(annotation) => self.annotate(annotation, out),
                None => Ok(()),
            },
            EventKind::ItemDone => match event.item.as_deref() {
                Some(item) if item.is_message() || item.kind == "reasoning" => self.said(item, out),
                Some(item) => {
                    self.check_tool(item)?;
                    let (item, len) = self.prepare(item)?;
                    self.room.take(len)?;
                    self.item(item, out);
                    Ok(())
                }
                None => Ok(()),
            },
            EventKind::Incomplete => {
                let details = response.and_then(|response| response.incomplete_details);
                let reason = details.map(|details| details.reason);
                self.incomplete(reason.as_deref().unwrap_or("max_output_tokens"), to)
            }
            EventKind::Failed | EventKind::Error => {
                self.failed(event.error().unwrap_or_default(), out);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn incomplete(&mut self, reason: &str, to: &mut To<'_>) -> Result<(), SendError> {
        let details = Some(IncompleteDetails::new(reason));
        to.sources(self)?;
        self.end_as(
            "incomplete",
            |it| it.incomplete_details = details,
            to.stream(),
        );
        Ok(())
    }

    fn failed(&mut self, error: ErrorObject, out: &mut Vec<u8>) {
        self.end_as("failed", |it| it.error = Some(error), out);
    }

    /// Writes the end of the response, and of the stream.
    fn end_as(&mut self, status: &str, set: impl FnOnce(&mut Response), out: &mut Vec<u8>) {
        if self.done {
            return;
        }
        if status == "failed" {
            // The open item is incomplete and is not repeated.
            self.block = None;
        } else {
            self.close(out);
            let is_silent = self.output.iter().all(|item| item.kind == "reasoning");
            if status == "completed" && is_silent && !self.is_prepared {
                // Without a text Copilot's command line fails. Its size is within every limit but a full one.
                let _ = self.say(BlockKind::Message, crate::models::NO_ANSWER, out);
                self.close(out);
            }
        }
        self.finish_as(status, set, out);
    }

    /// Writes the last event, with the output so far.
    fn finish_as(&mut self, status: &str, set: impl FnOnce(&mut Response), out: &mut Vec<u8>) {
        let kind = match status {
            "completed" => EventKind::Completed,
            "failed" => EventKind::Failed,
            // Clients know no other event for a response that was cancelled; its status says so.
            _ => EventKind::Incomplete,
        };
        self.done = true;
        let response = &mut self.response;
        if let Some(passed) = self.passed.take().and_then(|it| Response::from_raw(&it)) {
            // It has the members that have no field.
            self.required = Cow::Borrowed("");
            *response = passed;
        }
        response.status = status.into();
        response.output = mem::take(&mut self.output);
        // The AI SDK's provider up to its version 2 rejects the end of a response whose usage has no numbers.
        response.usage = Some(mem::take(&mut self.usage));
        set(response);
        if self.streams {
            self.event_of_response(kind, out);
            out.extend_from_slice(b"data: [DONE]\n\n");
        } else {
            self.write_response(out);
        }
    }
}

impl Blocks for Reply {
    type Output = StreamEvent;
    type Ending = Ending;
    type Event = Infallible;

    fn write(&self, never: &Infallible, _: &mut Vec<u8>) {
        match *never {}
    }

    fn document(answer: Completion, out: &mut Vec<u8>) {
        Response::from(answer).write_to(ValueWriter::new(out, Escape::JsonAndSeparators));
    }

    fn begin(&mut self, to: &mut To<'_>) {
        self.event_of_response(EventKind::Created, to.stream());
        self.event_of_response(EventKind::InProgress, to.stream());
    }

    fn part(&mut self, part: Part<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        match part {
            Part::Text(text) => self.say(BlockKind::Message, text, to.stream()),
            Part::Reasoning(text) => self.say(BlockKind::Reasoning, text, to.stream()),
            Part::Status(status) => self.status(status, to.stream()),
            Part::Usage(usage) => {
                // Figures of another server have more members.
                if protocol::Usage::from(&self.usage) != *usage {
                    self.usage = (*usage).into();
                }
                Ok(())
            }
            Part::Cite(citation) => self.cite(citation, to),
            Part::Confirm(question) => {
                // The question must be the last text: the next request is searched for it there. One write for both, so
                // that an exceeded limit refuses both.
                let text = question.to_text()?;
                let text = markdown::sources(&to.take_sources()) + &text;
                self.say(BlockKind::Message, &text, to.stream())
            }
            Part::Calls(calls) => self.calls(calls, to),
            // The dialect has no reason for faults.
            Part::Cut(Cut::Length) => self.incomplete("max_output_tokens", to),
            Part::Cut(Cut::Filter) => self.incomplete("content_filter", to),
            part => to.part(self, part),
        }
    }

    fn output(&mut self, event: &StreamEvent, to: &mut To<'_>) -> Result<(), SendError> {
        self.relay(event, to)
    }

    fn ending(&mut self, ending: &Ending, to: &mut To<'_>) -> Result<(), SendError> {
        match ending {
            Ending::Calls(calls) => {
                for call in calls {
                    self.check_tool(call)?;
                }
                self.end_with(calls, to)?;
            }
            Ending::Incomplete(reason) => self.incomplete(reason, to)?,
            Ending::Failed(error) => self.failed(error.clone(), to.stream()),
        }
        Ok(())
    }

    fn end(&mut self, end: End<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        let out = to.stream();
        match end {
            End::Failed(failure) => self.failed(ErrorObject::failure(failure), out),
            End::Cancelled => self.end_as("cancelled", |_| (), out),
            End::Answered if self.is_passed && self.done => {
                out.extend_from_slice(b"data: [DONE]\n\n");
            }
            End::Answered => {
                let now = (!self.is_prepared).then(|| self.env.unix_time());
                self.end_as("completed", |it| it.completed_at = now, out);
            }
        }
        Ok(())
    }

    /// Writes that the response is in progress: comments do not reset the idle timer of Codex. After the end nothing is
    /// written.
    fn keep_alive(&mut self, to: &mut To<'_>) -> bool {
        // The other server numbers the events of its answer.
        let is_comment = self.streams && (self.done || self.is_passed || self.number == 0);
        if !is_comment {
            self.event_of_response(EventKind::InProgress, to.stream());
        }
        !is_comment
    }

    fn reply_id(&self) -> Option<&str> {
        Some(&self.response.id)
    }
}

opaque_debug!(Reply);
