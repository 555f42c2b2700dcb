//! What the events of one reply share, and how they are written.

use super::chunk::Chunk;
use super::chunk_form::ChunkForm;
use super::copilot_error::CopilotError;
use super::event::{Event, Say};
use super::reference::Reference;
use super::request::ChatRequest;
use crate::json::model::Field as _;
use crate::json::{Escape, List, ObjectWriter, ValueWriter, WriteError, write_raw};
use crate::protocol::{
    self, Citation, Confirmation, Env, Failure, Notice, Part, SendError, Session as _, TextFrame,
    markdown,
};
use crate::sse::EventWriter;

/// What GitHub's SDK writes around a piece of text; `content` comes before `role`.
const TEXT_HEAD: &[u8] = br#"data: {"choices":[{"index":0,"delta":{"content":""#;
const TEXT_TAIL: &[u8] = b"\",\"role\":\"assistant\"}}]}\n\n";
/// What stands around the text in a full chunk, behind the start that all have in common.
const FULL_HEAD: &[u8] = b"\"content\":\"";
const FULL_TAIL: &[u8] = b"\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n";
/// The acknowledgement: empty text.
const ACKNOWLEDGE: &[u8] =
    b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\",\"role\":\"assistant\"}}]}\n\n";
/// The two halves of the SDK's done event.
const FINISH: &[u8] =
    b"data: {\"choices\":[{\"index\":0,\"finish_reason\":\"stop\",\"delta\":{\"content\":null}}]}\n\n";
const DONE: &[u8] = b"data: [DONE]\n\n";

/// What the events of one reply share.
///
/// A reply has one `copilot_*` event at most, unless the agent itself sends more: the strictest
/// reader, the debug command line, rejects a reply with two. So citations
/// and notices of the shared vocabulary wait for the ending and go out together. A question comes
/// before errors, errors come before references; what has to yield becomes Markdown.
#[derive(Debug)]
pub struct Session {
    /// What full chunks have in common; the short form has nothing.
    head: Option<Head>,
    frame: TextFrame,
    /// The agent's slug, for errors.
    agent: String,
    citations: Vec<Citation>,
    notices: Vec<Notice>,
    /// Whether a `copilot_*` event has been written.
    named: bool,
    /// The chunk that ends the answer, and what was sent after it, until the turn is over.
    ending: Vec<u8>,
    /// Whether a question has been asked: nothing follows but the ending.
    asked: bool,
    finished: bool,
    done: bool,
}

/// The part that all full chunks of a reply have in common.
#[derive(Debug)]
struct Head {
    /// `"id":...,"object":...,"created":...,"model":...`
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
        // Without the braces.
        members.pop();
        members.remove(0);
        let choice: &[u8] = br#","choices":[{"index":0,"delta":{"#;
        let start = [b"data: {", members.as_slice(), choice].concat();
        Self { members, start }
    }
}

impl Session {
    pub(super) fn new(request: &ChatRequest, env: &Env) -> Self {
        let head = (request.chunks == ChunkForm::Full).then(|| Head::new(request, env));
        let frame = match &head {
            None => TextFrame::from_static(TEXT_HEAD, TEXT_TAIL, Escape::Json),
            Some(head) => {
                TextFrame::new([&head.start, FULL_HEAD].concat(), FULL_TAIL, Escape::Json)
            }
        };
        Self {
            head,
            frame,
            agent: request.agent.clone().unwrap_or_default(),
            citations: Vec::new(),
            notices: Vec::new(),
            named: false,
            ending: Vec::new(),
            asked: false,
            finished: false,
            done: false,
        }
    }

    /// Writes text. The bytes are those of `JSON.stringify`: U+2028 and U+2029 stay as they are.
    fn write_text(&self, text: &str, out: &mut Vec<u8>) {
        self.frame.write(text, out);
    }

    fn confirm(&mut self, question: &Confirmation, out: &mut Vec<u8>) -> Result<(), SendError> {
        let event = super::Confirmation::of(question)?.into();
        self.event(&event, out)
    }

    /// Writes a chunk, in the full form with the head of this reply: a client takes chunks of two
    /// ids for two answers.
    fn chunk(&self, chunk: &Chunk, out: &mut Vec<u8>) {
        out.extend_from_slice(b"data: ");
        match &self.head {
            None => write_raw(chunk.json(), Escape::Json, out),
            Some(head) => {
                out.push(b'{');
                out.extend_from_slice(&head.members);
                let own = ["id", "object", "created", "model"];
                for (key, value) in chunk.json().members() {
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

    /// Writes what waited for the ending, then the chunk that ends the answer: the agent's own if
    /// it sent one.
    fn finish_answer(&mut self, out: &mut Vec<u8>) {
        self.flush(out);
        self.finished = true;
        if !self.ending.is_empty() {
            out.append(&mut self.ending);
            return;
        }
        match &self.head {
            None => out.extend_from_slice(FINISH),
            Some(head) => {
                out.extend_from_slice(&head.start);
                out.extend_from_slice(b"},\"logprobs\":null,\"finish_reason\":\"stop\"}]}\n\n");
            }
        }
    }

    /// Writes what waited for the ending, one `copilot_*` event at most.
    fn flush(&mut self, out: &mut Vec<u8>) {
        if self.named || (self.notices.is_empty() && self.citations.is_empty()) {
            self.yield_to_text(out);
            return;
        }
        if self.notices.is_empty() {
            let citations = std::mem::take(&mut self.citations);
            let references: List<_> = citations.iter().map(Reference::of_citation).collect();
            // Strings and raw values always write; so below.
            let _ = named("copilot_references", out, |place| {
                references.write_to(place);
                Ok(())
            });
        } else {
            let notices = std::mem::take(&mut self.notices);
            self.yield_to_text(out);
            let list: List<_> = notices
                .iter()
                .map(|notice| CopilotError::agent(notice, &self.agent))
                .collect();
            let _ = errors(&list, out);
        }
        self.named = true;
    }

    /// Writes what waited as Markdown, because another event takes its place.
    fn yield_to_text(&mut self, out: &mut Vec<u8>) {
        let notices = std::mem::take(&mut self.notices);
        let mut text: String = notices.iter().map(markdown::notice).collect();
        let citations = std::mem::take(&mut self.citations);
        if !citations.is_empty() {
            text.push_str(&markdown::sources(&citations));
        }
        if !text.is_empty() {
            self.write_text(&text, out);
        }
    }
}

impl protocol::Session for Session {
    type Event = Event;

    /// The acknowledgement: the user interface then says that the agent is responding (the
    /// SDK's README asks for it). In full chunks it is the one that carries the role, as OpenAI's first chunk.
    fn open(&mut self, out: &mut Vec<u8>) {
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

    fn text_frame(&self) -> Option<TextFrame> {
        Some(self.frame.clone())
    }

    fn text(&mut self, text: &str, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.write_text(text, out);
        Ok(())
    }

    fn part(&mut self, part: Part<'_>, out: &mut Vec<u8>) -> Result<(), SendError> {
        match part {
            // There is no event for progress; it was asked for and never came (user-feedback#4).
            Part::Status(_) | Part::ToolRun(_) => {}
            // The platform counts tokens itself, and shows no reasoning.
            Part::Reasoning(_) | Part::Usage(_) => {}
            Part::Cite(citation) => {
                if !self.citations.contains(citation) {
                    self.citations.push(citation.clone());
                }
            }
            Part::Table(table) => self.write_text(&markdown::table(table), out),
            Part::Chart(chart) => self.write_text(&markdown::table(&chart.to_table()), out),
            Part::Error(notice) => self.notices.push(notice.clone()),
            Part::Confirm(question) => self.confirm(question, out)?,
            Part::Calls(_) => return Err(SendError::Unsupported("calls of tools")),
        }
        Ok(())
    }

    fn event(&mut self, event: &Event, out: &mut Vec<u8>) -> Result<(), SendError> {
        match event {
            // The ending is written once, whoever asks for it.
            Event::Finish if self.finished => return Ok(()),
            Event::Done => {
                self.finish(out);
                return Ok(());
            }
            // A chunk with the usage figures may follow the one that ends the answer.
            Event::Say(Say::Chunk(_)) if !self.done => {}
            _ if self.finished => {
                return Err(SendError::Invalid("the answer has ended".into()));
            }
            _ => {}
        }
        match event {
            Event::Say(Say::Text(text)) => self.write_text(text, out),
            Event::Say(Say::References(list)) => {
                self.named = true;
                named("copilot_references", out, |place| {
                    list.write_to(place);
                    Ok(())
                })?;
            }
            Event::Say(Say::Errors(list)) => {
                self.named = true;
                errors(list, out)?;
            }
            Event::Say(Say::Chunk(chunk)) => {
                let ends = chunk.finish_reason().is_some();
                let follows = !self.ending.is_empty() && chunk.content().is_none();
                if !self.finished && (ends || follows) {
                    let mut ending = std::mem::take(&mut self.ending);
                    self.chunk(chunk, &mut ending);
                    self.ending = ending;
                } else {
                    self.chunk(chunk, out);
                }
            }
            Event::Say(Say::Raw(raw)) => {
                if raw.data.contains(['\r', '\n']) {
                    return Err(SendError::Invalid("data must be a single line".into()));
                }
                EventWriter::new(out)
                    .name(&raw.name)
                    .data(&raw.data)
                    .finish();
            }
            Event::Confirmation(confirmation) => {
                self.yield_to_text(out);
                self.named = true;
                self.asked = true;
                named("copilot_confirmation", out, |place| {
                    confirmation.write_to(place);
                    Ok(())
                })?;
            }
            Event::Finish => self.finish_answer(out),
            // It has returned above.
            Event::Done => {}
        }
        Ok(())
    }

    /// There is no event for this; an empty text event is the only harmless filler
    /// (copilot-extensions/user-feedback#4 asked for one), with the id of all other chunks where they have one. It would be text
    /// behind the ending, so nothing then.
    fn keep_alive(&mut self, out: &mut Vec<u8>) {
        if !self.asked && !self.finished {
            self.write_text("", out);
        }
    }

    /// Closes a turn that went well: what waited, then the done event, once.
    fn finish(&mut self, out: &mut Vec<u8>) {
        if !self.finished {
            self.finish_answer(out);
        }
        if !self.done {
            self.done = true;
            out.extend_from_slice(DONE);
        }
    }

    /// Closes a turn that failed: `copilot_errors`, then done. The HTTP status is
    /// long gone.
    fn fail(&mut self, failure: &Failure<'_>, out: &mut Vec<u8>) {
        if !self.finished {
            self.notices
                .push(Notice::new(failure.message).code("agent_failed"));
            // The failure is told as the protocol wants it, whatever the agent sent before.
            self.named = false;
        }
        self.finish(out);
    }
}

fn errors(list: &List<CopilotError>, out: &mut Vec<u8>) -> Result<(), WriteError> {
    named("copilot_errors", out, |place| {
        list.write_to(place);
        Ok(())
    })
}

/// Writes a named event with one line of data, as the SDK frames it.
fn named(
    name: &'static str,
    out: &mut Vec<u8>,
    write: impl FnOnce(ValueWriter<'_>) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    out.extend_from_slice(b"event: ");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\ndata: ");
    write(ValueWriter::new(out, Escape::Json))?;
    out.extend_from_slice(b"\n\n");
    Ok(())
}
