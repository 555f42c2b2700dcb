//! One response as it is written.
//!
//! It is no `BlockSession`: every event has the next number, so no bytes are the same around two pieces of text, and
//! output that would exceed the limit is refused before the item that it belongs to is opened.

mod items;

use std::collections::HashSet;
use std::mem;

use serde::Serialize;

use items::item_at;

use super::block::{Block, BlockKind};
use super::number::Number;
use super::{Annotation, Ending, ErrorObject, EventKind, ResponsesRequest, StreamEvent, Usage};
use crate::json::wire::object;
use crate::json::{Escape, ValueWriter, Wire, write};
use crate::protocol::{
    self, Citation, Env, Failure, Framing, Level, Part, SendError, Status, TooLarge, markdown,
};

/// The largest output that is kept to be repeated at the end, in bytes.
const LIMIT: usize = 8 * 1024 * 1024;

/// The members of a response object that are the same in all responses of this crate, before and after
/// `background`. The schema requires every one of them.
const CONSTANTS: [&[u8]; 2] = [br#","previous_response_id":null,"instructions":null,"tools":[],"tool_choice":"auto","truncation":"disabled","parallel_tool_calls":true,"text":{"format":{"type":"text"}},"top_p":1.0,"presence_penalty":0.0,"frequency_penalty":0.0,"top_logprobs":0,"temperature":1.0,"reasoning":null,"max_output_tokens":null,"max_tool_calls":null,"store":false,"background":"#, br#","service_tier":"default","metadata":{},"safety_identifier":null,"prompt_cache_key":null}"#];

/// One response as it is written.
///
/// Responses, rules for an encoder: events are numbered from 0 without gaps; items are not
/// interleaved; a message stays open until a call or reasoning interrupts it; what was streamed is
/// repeated when its part, its item and the response are complete. So the output is kept, up to
/// 8 MiB.
pub struct Session {
    env: Env,
    id: String,
    /// The members of a response object up to its status.
    head: Box<[u8]>,
    /// The names of the functions that the request offered.
    tools: HashSet<String>,
    /// `true` if events are written; otherwise one document is, at the end.
    streams: bool,
    /// `true` if the request said so.
    background: bool,
    /// The sequence number of the next event.
    number: Number,
    /// The item that is open.
    block: Option<Block>,
    /// The items that are complete, as the elements of an array.
    output: Vec<u8>,
    /// The number of complete items.
    items: u64,
    /// The size in bytes of the retained output, including the open item.
    kept: usize,
    citations: Vec<Citation>,
    /// Annotations that wait for a message to be opened.
    annotations: Vec<Annotation>,
    usage: Usage,
    /// `true` once there is a message, a call or another item that is not reasoning.
    said: bool,
    /// `true` once the response has ended.
    done: bool,
}

/// The end of a response.
enum End<'a> {
    Completed,
    Incomplete(&'a str),
    Failed(&'a ErrorObject),
    Cancelled,
}

impl End<'_> {
    fn status(&self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Incomplete(_) => "incomplete",
            Self::Failed(_) => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl Session {
    pub(super) fn new(request: &ResponsesRequest, env: &Env) -> Self {
        #[derive(Serialize)]
        struct Head<'a> {
            // VS Code strips ids of another prefix.
            id: &'a str,
            object: &'static str,
            created_at: u64,
            model: &'a str,
        }
        let id = env.new_id("resp");
        let fields = Head {
            id: &id,
            object: "response",
            created_at: env.unix_time(),
            model: &request.model,
        };
        let mut head = Vec::new();
        // Strings and a number always serialise.
        let _ = write(&fields, Escape::JsonAndSeparators, &mut head);
        head.pop();
        let tools = request.offered().map(|(name, _)| name.to_owned());
        Self {
            env: env.clone(),
            id,
            head: head.into(),
            tools: tools.collect(),
            streams: request.is_stream(),
            background: request.is_background(),
            number: Number::ZERO,
            block: None,
            output: Vec::new(),
            items: 0,
            kept: 0,
            citations: Vec::new(),
            annotations: Vec::new(),
            usage: Usage::default(),
            said: false,
            done: false,
        }
    }

    /// Writes an event up to its number. Returns `false` if no events are written.
    fn start(&mut self, kind: &EventKind, out: &mut Vec<u8>) -> bool {
        if self.streams {
            let name = kind.as_str().as_bytes();
            for piece in [b"event: ", name, b"\ndata: {\"type\":\"", name] {
                out.extend_from_slice(piece);
            }
            out.extend_from_slice(b"\",\"sequence_number\":");
            self.number.next(out);
        }
        self.streams
    }

    /// Writes one event; `members` appends its members behind the number, each with a comma first.
    fn write(&mut self, kind: &EventKind, out: &mut Vec<u8>, members: impl FnOnce(&mut Vec<u8>)) {
        if self.start(kind, out) {
            members(out);
            out.extend_from_slice(TAIL);
        }
    }

    /// Writes an event with the response while it is in progress.
    fn in_progress(&mut self, kind: &EventKind, out: &mut Vec<u8>) {
        if self.start(kind, out) {
            out.extend_from_slice(b",\"response\":");
            self.head_to(out, "in_progress");
            out.extend_from_slice(
                br#","completed_at":null,"incomplete_details":null,"error":null,"output":[],"usage":null"#,
            );
            self.constants_to(out);
            out.extend_from_slice(TAIL);
        }
    }

    fn constants_to(&self, out: &mut Vec<u8>) {
        let [before, after] = CONSTANTS;
        out.extend_from_slice(before);
        out.extend_from_slice(if self.background { b"true" } else { b"false" });
        out.extend_from_slice(after);
    }

    fn head_to(&self, out: &mut Vec<u8>, status: &str) {
        out.extend_from_slice(&self.head);
        out.extend_from_slice(b",\"status\":\"");
        out.extend_from_slice(status.as_bytes());
        out.push(b'"');
    }

    /// Appends the response object at its end.
    fn response_to(&self, end: &End<'_>, out: &mut Vec<u8>) {
        self.head_to(out, end.status());
        out.extend_from_slice(b",\"completed_at\":");
        match end {
            End::Completed => ValueWriter::new(out, ESCAPE).u64(self.env.unix_time()),
            _ => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(b",\"incomplete_details\":");
        match end {
            End::Incomplete(reason) => object(ValueWriter::new(out, ESCAPE), |details| {
                details.str("reason", reason);
            }),
            _ => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(b",\"error\":");
        match end {
            End::Failed(error) => error.write_to(ValueWriter::new(out, ESCAPE)),
            _ => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(b",\"output\":[");
        out.extend_from_slice(&self.output);
        // The AI SDK's provider up to its version 2 takes no end of a response without numbers.
        out.extend_from_slice(b"],\"usage\":");
        self.usage.write_to(ValueWriter::new(out, ESCAPE));
        self.constants_to(out);
    }

    /// Checks that `more` bytes of output can be kept.
    fn check(&self, more: usize) -> Result<(), SendError> {
        if self.kept.saturating_add(more) > LIMIT {
            return Err(TooLarge::new(LIMIT).into());
        }
        Ok(())
    }

    /// Writes a piece of a message or of reasoning. An open item of another kind is closed first.
    fn say(&mut self, kind: BlockKind, text: &str, out: &mut Vec<u8>) -> Result<(), SendError> {
        if self.done || text.is_empty() {
            return Ok(());
        }
        self.check(text.len())?;
        if self.block.as_ref().is_none_or(|block| block.kind != kind) {
            self.begin(kind, out);
        }
        let Some(block) = &mut self.block else {
            return Ok(());
        };
        // The limit was checked with the unescaped length, so one piece can exceed it by its
        // escapes.
        let start = block.push(text);
        self.kept += block.text_from(start).len();
        if self.streams {
            out.extend_from_slice(kind.delta_head());
            self.number.next(out);
            block.delta_to(start, out);
        }
        Ok(())
    }

    /// Opens a message or a reasoning item.
    fn begin(&mut self, kind: BlockKind, out: &mut Vec<u8>) {
        self.close(out);
        // Items do not overlap, so the number of complete ones is the index of the next.
        let block = Block::new(kind, self.env.new_id(kind.prefix()), self.items);
        self.write(&EventKind::ItemAdded, out, |out| block.added_to(out));
        self.write(&kind.part_added(), out, |out| block.part_added_to(out));
        self.block = Some(block);
        if kind == BlockKind::Message {
            for annotation in mem::take(&mut self.annotations) {
                self.place_annotation(annotation, out);
            }
        }
    }

    /// Closes what is open: its text, its part and itself are repeated.
    fn close(&mut self, out: &mut Vec<u8>) {
        let Some(block) = self.block.take() else {
            return;
        };
        self.write(&block.kind.text_done(), out, |out| block.text_done_to(out));
        self.write(&block.kind.part_done(), out, |out| block.part_done_to(out));
        let mut item = Vec::new();
        block.item_to(&mut item);
        let said = self.said || block.kind == BlockKind::Message;
        self.item_done(&item, out);
        self.said = said;
    }

    /// Writes that an item is complete, and keeps it.
    fn item_done(&mut self, item: &[u8], out: &mut Vec<u8>) {
        let index = self.items;
        self.write(&EventKind::ItemDone, out, |out| item_at(index, item, out));
        if index > 0 {
            self.output.push(b',');
        }
        self.output.extend_from_slice(item);
        self.items += 1;
        self.said = true;
    }

    /// Adds a source to the message. While none is open, it waits for one.
    fn annotate(&mut self, annotation: &Annotation, out: &mut Vec<u8>) -> Result<(), SendError> {
        let len = annotation.to_raw().as_bytes().len();
        self.check(len)?;
        self.kept += len;
        match &self.block {
            Some(block) if block.kind == BlockKind::Message => {
                self.place_annotation(annotation.clone(), out);
            }
            // An annotation needs a part of a message to point into.
            _ => self.annotations.push(annotation.clone()),
        }
        Ok(())
    }

    /// Writes a source of the open message.
    fn place_annotation(&mut self, mut annotation: Annotation, out: &mut Vec<u8>) {
        let Some(block) = &mut self.block else { return };
        // Without a place it stands at the end of the text so far.
        annotation.start_index.get_or_insert(block.chars);
        annotation.end_index.get_or_insert(block.chars);
        let index = block.annotations;
        let annotation = annotation.to_raw();
        block.annotate(&annotation);
        // Copied, because writing needs the session, which owns the block.
        let place = block.place.clone();
        self.write(&EventKind::AnnotationAdded, out, |out| {
            out.extend_from_slice(&place);
            out.extend_from_slice(b",\"annotation_index\":");
            ValueWriter::new(out, ESCAPE).u64(index);
            out.extend_from_slice(b",\"annotation\":");
            out.extend_from_slice(annotation.as_bytes());
        });
    }

    fn cite(&mut self, citation: &Citation, out: &mut Vec<u8>) -> Result<(), SendError> {
        if let Some(url) = citation.web_url() {
            let title = match citation.title.trim() {
                "" => url,
                title => title,
            };
            self.annotate(&Annotation::url_citation(url, title), out)?;
        }
        // With or without a link: the list at the end has all of them.
        self.citations.push(citation.clone());
        Ok(())
    }

    /// Returns the list of the sources, once: coding clients do not show annotations.
    fn sources(&mut self) -> String {
        markdown::sources(&mem::take(&mut self.citations))
    }

    fn text_of(&mut self, text: &str, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.say(BlockKind::Message, text, out)
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
        self.check(text.len())?;
        self.close(out);
        self.say(BlockKind::Reasoning, &text, out)?;
        self.close(out);
        Ok(())
    }

    /// Writes what an event of another server means.
    fn relay(&mut self, event: &StreamEvent, out: &mut Vec<u8>) -> Result<(), SendError> {
        let usage = event.response.as_ref().and_then(|it| it.usage.as_ref());
        if let Some(usage) = usage {
            self.usage = usage.clone();
        }
        let delta = event.delta.as_deref().unwrap_or_default();
        match event.kind {
            EventKind::TextDelta | EventKind::RefusalDelta => self.text_of(delta, out),
            EventKind::SummaryDelta | EventKind::ReasoningDelta => {
                self.say(BlockKind::Reasoning, delta, out)
            }
            // The parts of one summary are paragraphs of one.
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
                // Their deltas have said it.
                Some(item) if item.is_message() || item.kind == "reasoning" => Ok(()),
                Some(item) => {
                    let (item, len) = self.prepare(item)?;
                    self.check(len)?;
                    self.item(item, out);
                    Ok(())
                }
                None => Ok(()),
            },
            EventKind::Incomplete => {
                let response = event.response.as_ref();
                let details = response.and_then(|response| response.incomplete_details.as_ref());
                let reason = details.map_or("max_output_tokens", |details| &details.reason);
                self.end(&End::Incomplete(reason), out);
                Ok(())
            }
            EventKind::Failed | EventKind::Error => {
                self.end(&End::Failed(&event.error().unwrap_or_default()), out);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Writes the end of the response, and of the stream.
    fn end(&mut self, end: &End<'_>, out: &mut Vec<u8>) {
        if self.done {
            return;
        }
        let kind = match end {
            End::Completed => EventKind::Completed,
            // Clients know no other event for a response that was cancelled; its status says so.
            End::Incomplete(_) | End::Cancelled => EventKind::Incomplete,
            End::Failed(_) => EventKind::Failed,
        };
        if matches!(end, End::Failed(_)) {
            // What was begun is not complete, and is not repeated.
            self.block = None;
        } else {
            // Past the limit there are no sources: the turn has failed then.
            let sources = self.sources();
            let _ = self.text_of(&sources, out);
            self.close(out);
            if matches!(end, End::Completed) && !self.said {
                // Without a text Copilot's command line fails.
                let _ = self.text_of(crate::models::NO_ANSWER, out);
                self.close(out);
            }
        }
        self.done = true;
        if !self.start(&kind, out) {
            self.response_to(end, out);
            return;
        }
        out.extend_from_slice(b",\"response\":");
        self.response_to(end, out);
        out.extend_from_slice(TAIL);
        out.extend_from_slice(b"data: [DONE]\n\n");
    }
}

impl protocol::Session for Session {
    type Output = StreamEvent;
    type Ending = Ending;

    fn open(&mut self, out: &mut Vec<u8>) {
        self.in_progress(&EventKind::Created, out);
        self.in_progress(&EventKind::InProgress, out);
    }

    fn text(&mut self, text: &str, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.text_of(text, out)
    }

    fn part(&mut self, part: Part<'_>, out: &mut Vec<u8>) -> Result<(), SendError> {
        match part {
            Part::Reasoning(text) => self.say(BlockKind::Reasoning, text, out),
            Part::Status(status) => self.status(status, out),
            Part::ToolRun(run) => self.status(&run.to_status(), out),
            Part::Usage(usage) => {
                self.usage = (*usage).into();
                Ok(())
            }
            Part::Cite(citation) => self.cite(citation, out),
            Part::Table(table) => self.text(&table.to_markdown(), out),
            Part::Chart(chart) => self.text(&chart.to_markdown(), out),
            Part::Error(notice) => self.text(&notice.to_markdown(), out),
            Part::Confirm(confirmation) => {
                // The question is the last text: that is how it is found again.
                // One write for both, so that an exceeded limit refuses both.
                let text = confirmation.to_text()?;
                let text = self.sources() + &text;
                self.text(&text, out)
            }
            Part::Calls(calls) => self.calls(calls, out),
        }
    }

    fn output(&mut self, event: &StreamEvent, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.relay(event, out)
    }

    fn ending(&mut self, ending: &Ending, out: &mut Vec<u8>) -> Result<(), SendError> {
        match ending {
            Ending::Calls(calls) => self.end_with(calls, out)?,
            Ending::Incomplete(reason) => self.end(&End::Incomplete(reason), out),
            Ending::Failed(error) => self.end(&End::Failed(error), out),
        }
        Ok(())
    }

    /// Writes that the response is in progress: comments do not reset the idle clock of Codex.
    fn keep_alive(&mut self, _: Framing, out: &mut Vec<u8>) {
        self.in_progress(&EventKind::InProgress, out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        self.end(&End::Completed, out);
    }

    fn cancelled(&mut self, out: &mut Vec<u8>) {
        self.end(&End::Cancelled, out);
    }

    fn reply_id(&self) -> Option<&str> {
        Some(&self.id)
    }

    fn fail(&mut self, failure: &Failure<'_>, out: &mut Vec<u8>) {
        self.end(&End::Failed(&ErrorObject::failure(failure)), out);
    }
}

/// The end of an event.
const TAIL: &[u8] = b"}\n\n";

/// The escaping of strings.
const ESCAPE: Escape = Escape::JsonAndSeparators;

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("items", &self.items)
            .field("kept", &self.kept)
            .field("done", &self.done)
            .finish_non_exhaustive()
    }
}
