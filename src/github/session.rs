//! The state of one reply, and the writing of its events.

use std::collections::HashMap;
use std::convert::Infallible;

use super::chunk::Chunk;
use super::chunk_form::ChunkForm;
use super::copilot_error::CopilotError;
use super::event::Output;
use super::reference::Reference;
use super::request::ChatRequest;
use crate::json::{Escape, List, ObjectWriter, ValueWriter, Wire, write_raw};
use crate::protocol::{
    AgentError, Blocks, Citation, End, Env, Notice, Part, SendError, Session, TextFrame, Writer,
    markdown,
};
use crate::sse::EventWriter;

/// The start of a text event, as GitHub's SDK writes it: `content` precedes `role`.
const TEXT_HEAD: &[u8] = br#"data: {"choices":[{"index":0,"delta":{"content":""#;
const TEXT_TAIL: &[u8] = b"\",\"role\":\"assistant\"}}]}\n\n";
/// The start of the text in a full chunk, after the part that all full chunks have in common.
const FULL_HEAD: &[u8] = b"\"content\":\"";
const FULL_TAIL: &[u8] = b"\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n";
/// The acknowledgement: an empty text.
const ACKNOWLEDGE: &[u8] =
    b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\",\"role\":\"assistant\"}}]}\n\n";
/// The two halves of the SDK's done event.
const FINISH: &[u8] =
    b"data: {\"choices\":[{\"index\":0,\"finish_reason\":\"stop\",\"delta\":{\"content\":null}}]}\n\n";
const DONE: &[u8] = b"data: [DONE]\n\n";

/// The state of one reply.
///
/// A reply has at most one `copilot_*` event, unless the agent itself sends more: the strictest client, the debug
/// command line, rejects a reply with two. So citations and notices are queued until the ending and written together.
/// Confirmations take precedence over errors, and errors over references; the parts with lower precedence become
/// Markdown.
#[derive(Debug)]
pub struct Reply {
    /// The common part of full chunks; `None` for the short form.
    head: Option<Head>,
    frame: TextFrame,
    /// The agent's slug, for errors.
    agent: String,
    /// The queued citations, each with its place.
    citations: HashMap<Citation, usize>,
    notices: Vec<Notice>,
    /// Set once a `copilot_*` event has been written.
    named: bool,
    /// The chunk that ends the answer and the events after it, buffered until the end of the turn.
    ending: Vec<u8>,
    /// Set once a confirmation has been written: only the ending may follow.
    has_confirmation: bool,
}

/// The common part of all full chunks of a reply.
#[derive(Debug)]
struct Head {
    /// The members `"id":...,"object":...,"created":...,"model":...`.
    members: Vec<u8>,
    /// The start of a chunk's event, up to and including `"delta":{`.
    start: Vec<u8>,
}

impl Head {
    fn new(request: &ChatRequest, env: &Env) -> Self {
        let model = request
            .unknown
            .get("model")
            .and_then(|model| Some(model.string()?.into_owned()))
            .filter(|model| !model.is_empty())
            .or_else(|| request.agent.clone())
            .unwrap_or_else(|| "agent".to_owned());
        let mut members = Vec::new();
        let mut object = ObjectWriter::new(&mut members, Escape::Json);
        object
            .str("id", &format!("chatcmpl-{}", env.uuid()))
            .str("object", "chat.completion.chunk")
            .u64("created", env.unix_time())
            .str("model", &model);
        object.finish();
        // Removes the closing brace; the opening one is skipped below.
        members.pop();
        members.remove(0);
        let choice: &[u8] = br#","choices":[{"index":0,"delta":{"#;
        let start = [b"data: {", members.as_slice(), choice].concat();
        Self { members, start }
    }
}

/// The writer of a reply.
type To<'a> = Writer<'a, Reply>;

pub(super) fn session(request: &ChatRequest, chunks: ChunkForm, env: &Env) -> Session<Reply> {
    let head = (chunks == ChunkForm::Full).then(|| Head::new(request, env));
    let frame = match &head {
        None => TextFrame::from_static(TEXT_HEAD, TEXT_TAIL, Escape::Json),
        Some(head) => TextFrame::new([&head.start, FULL_HEAD].concat(), FULL_TAIL, Escape::Json),
    };
    let reply = Reply {
        head,
        frame: frame.clone(),
        agent: request.agent.clone().unwrap_or_default(),
        citations: HashMap::new(),
        notices: Vec::new(),
        named: false,
        ending: Vec::new(),
        has_confirmation: false,
    };
    Session::new(reply).frame(frame).unchecked()
}

impl Reply {
    /// Writes text. The bytes are those of `JSON.stringify`: U+2028 and U+2029 are not escaped.
    fn write_text(&self, text: &str, out: &mut Vec<u8>) {
        self.frame.write(text, out);
    }

    /// Writes a chunk, in the full form with the common part of this reply: a client treats chunks
    /// with two ids as two answers.
    fn chunk(&self, chunk: &Chunk, out: &mut Vec<u8>) {
        out.extend_from_slice(b"data: ");
        match &self.head {
            None => write_raw(chunk.json(), Escape::Json, out),
            Some(head) => {
                out.push(b'{');
                out.extend_from_slice(&head.members);
                let own = ["id", "object", "created", "model"];
                for (key, value) in chunk.json().members() {
                    // The four members of the head are this reply's: those of the model's chunk would give the reply
                    // two ids.
                    if !own.contains(&&*key) {
                        out.push(b',');
                        ValueWriter::new(out, Escape::Json).str(&key);
                        out.push(b':');
                        write_raw(&value, Escape::Json, out);
                    }
                }
                out.push(b'}');
            }
        }
        out.extend_from_slice(b"\n\n");
    }

    /// Writes the queued citations and notices as at most one `copilot_*` event.
    fn flush(&mut self, out: &mut Vec<u8>) {
        // `gh debug-cli` fails on a second `copilot_*` event, so the remaining parts become text.
        if self.named || (self.notices.is_empty() && self.citations.is_empty()) {
            self.yield_to_text(out);
            return;
        }
        if self.notices.is_empty() {
            let citations = self.take_citations();
            let references: List<_> = citations.iter().map(Reference::of_citation).collect();
            named("copilot_references", &references, out);
        } else {
            let notices = std::mem::take(&mut self.notices);
            self.yield_to_text(out);
            let list: List<_> = notices
                .iter()
                .map(|notice| CopilotError::agent(notice, &self.agent))
                .collect();
            named("copilot_errors", &list, out);
        }
        self.named = true;
    }

    /// Takes the queued citations, in their order.
    fn take_citations(&mut self) -> Vec<Citation> {
        let mut citations: Vec<_> = std::mem::take(&mut self.citations).into_iter().collect();
        citations.sort_unstable_by_key(|(_, place)| *place);
        citations
            .into_iter()
            .map(|(citation, _)| citation)
            .collect()
    }

    /// Writes the queued citations and notices as Markdown, because another event takes precedence.
    fn yield_to_text(&mut self, out: &mut Vec<u8>) {
        let notices = std::mem::take(&mut self.notices);
        let mut text: String = notices.iter().map(Notice::to_markdown).collect();
        let citations = self.take_citations();
        if !citations.is_empty() {
            text.push_str(&markdown::sources(&citations));
        }
        if !text.is_empty() {
            self.write_text(&text, out);
        }
    }
}

impl Blocks for Reply {
    type Output = Output;
    type Ending = super::Confirmation;
    type Event = Infallible;

    fn write(&self, never: &Infallible, _: &mut Vec<u8>) {
        match *never {}
    }

    /// Writes the acknowledgement, on which the user interface reports that the agent is responding
    /// (the SDK's README requires it). Of the full chunks only this one has the role, like OpenAI's
    /// first chunk.
    fn begin(&mut self, to: &mut To<'_>) {
        let out = to.stream();
        match &self.head {
            None => out.extend_from_slice(ACKNOWLEDGE),
            Some(head) => {
                out.extend_from_slice(&head.start);
                out.extend_from_slice(b"\"role\":\"assistant\",");
                out.extend_from_slice(FULL_HEAD);
                out.extend_from_slice(FULL_TAIL);
            }
        }
    }

    fn part(&mut self, part: Part<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        match part {
            // The platform counts tokens itself, and displays no reasoning. The protocol has no event for progress
            // (requested in user-feedback#4, never added).
            Part::Reasoning(_) => {}
            Part::Cite(citation) => {
                // Sent at the end, in one event: a second one would fail in `gh debug-cli`.
                let place = self.citations.len();
                if !self.citations.contains_key(citation) {
                    self.citations.insert(citation.clone(), place);
                }
            }
            Part::Error(notice) => self.notices.push(notice.clone()),
            Part::Confirm(question) => {
                self.ending(&super::Confirmation::of(question)?, to)?;
            }
            part => return to.part(self, part),
        }
        Ok(())
    }

    fn output(&mut self, output: &Output, to: &mut To<'_>) -> Result<(), SendError> {
        let out = to.stream();
        match output {
            Output::Text(text) => self.write_text(text, out),
            // The agent's own events are written at once. They also decide that the queued ones
            // become text.
            Output::References(list) => {
                self.named = true;
                named("copilot_references", list, out);
            }
            Output::Errors(list) => {
                self.named = true;
                named("copilot_errors", list, out);
            }
            Output::Chunk(chunk) => {
                let ends = chunk.finish_reason().is_some();
                // The agent may continue after a relayed ending, so the ending and the usage after it
                // are buffered until the end of the turn.
                let follows = !self.ending.is_empty() && chunk.content().is_none();
                if ends || follows {
                    let mut ending = std::mem::take(&mut self.ending);
                    // Moved out and back because `chunk` borrows the session.
                    self.chunk(chunk, &mut ending);
                    self.ending = ending;
                } else {
                    self.chunk(chunk, out);
                }
            }
            Output::Raw(raw) => {
                // Known clients treat each `data` line as an event.
                if raw.data.contains(['\r', '\n']) {
                    return Err(SendError::Invalid("data must be a single line".into()));
                }
                EventWriter::new(out)
                    .name(&raw.name)
                    .data(&raw.data)
                    .finish();
            }
        }
        Ok(())
    }

    fn ending(
        &mut self,
        confirmation: &super::Confirmation,
        to: &mut To<'_>,
    ) -> Result<(), SendError> {
        let out = to.stream();
        // Queued citations and notices cannot follow: only the ending may.
        self.yield_to_text(out);
        self.named = true;
        self.has_confirmation = true;
        named("copilot_confirmation", confirmation, out);
        Ok(())
    }

    /// Writes an empty text event, the only harmless filler, because the protocol has no event for
    /// this (requested in copilot-extensions/user-feedback#4). It has the id of all other chunks if
    /// they have one. Nothing is written after a confirmation: any text would follow the question.
    fn keep_alive(&mut self, to: &mut To<'_>) -> bool {
        if !self.has_confirmation {
            self.write_text("", to.stream());
        }
        true
    }

    /// Writes the queued events, then the chunk that ends the answer (the agent's own if it sent one), then `[DONE]`. A
    /// failure is one of the `copilot_errors`: the HTTP status has been sent before.
    fn end(&mut self, end: End<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        if let End::Failed(failure) = end {
            let notice = Notice::new(failure.message).code("agent_failed");
            self.notices.push(notice);
            // The failure is always sent as `copilot_errors`, even if another `copilot_*` event was written before.
            self.named = false;
        }
        let out = to.stream();
        self.flush(out);
        match &self.head {
            _ if !self.ending.is_empty() => out.append(&mut self.ending),
            None => out.extend_from_slice(FINISH),
            Some(head) => {
                out.extend_from_slice(&head.start);
                out.extend_from_slice(b"},\"logprobs\":null,\"finish_reason\":\"stop\"}]}\n\n");
            }
        }
        out.extend_from_slice(DONE);
        Ok(())
    }
}

/// Writes the failure of a reply whose server died, and the end of the stream.
pub(super) fn lost(out: &mut Vec<u8>) {
    let notice = Notice::new(AgentError::LOST).code("agent_failed");
    let list = List::from(vec![CopilotError::agent(&notice, "")]);
    named("copilot_errors", &list, out);
    out.extend_from_slice(DONE);
}

/// Writes a named event with one line of data, framed as in the SDK.
fn named(name: &'static str, data: &impl Wire, out: &mut Vec<u8>) {
    out.extend_from_slice(b"event: ");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\ndata: ");
    data.write_to(ValueWriter::new(out, Escape::Json));
    out.extend_from_slice(b"\n\n");
}
