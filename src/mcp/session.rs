//! Writing one reply.

use std::convert::Infallible;
use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::dialog::Dialog;
use super::event::{
    CallResponse, CallToolResult, ContentBlock, ElicitParams, Elicitation, Event, TextContent,
};
use super::position::Position;
use super::request::{INPUT, SEPARATOR};
use super::versions::Era;
use super::{CallRequest, request};
use crate::json::escape::escaped_len;
use crate::json::wire::object;
use crate::json::{Escape, Json, ValueWriter, Wire as _, escape};
use crate::protocol::{
    Blocks, Citation, End, Env, FrameEvent as _, Part, Question, Room, SendError, Session, Writer,
    markdown, plain_text,
};

/// The maximum size of an answer in bytes, escapes included. It is sent as one event, and Python's `mcp` 2 reads no
/// event larger than 1 MiB. The difference is for the members around the answer and for an error message.
const LIMIT: usize = 960 * 1024;

/// The minimum time between two progress messages with text.
const PACE: Duration = Duration::from_secs(1);

/// The number of bytes of new text after which the time is checked.
const STEP: usize = 64;

/// The maximum size of a progress message in bytes: a line of a terminal.
const LINE: usize = 160;

/// The progress message of reasoning.
const THINKING: &str = "Thinking";

/// The text that is sent for an answer without text.
const EMPTY: &str = "There is no answer.";

/// The text of a question that cannot be asked.
const UNASKED: &str = "This client cannot ask its user, so nothing was done.";

/// The text of a question that was not answered.
const UNANSWERED: &str = "The question was not answered, so nothing was done.";

/// One reply: the text of the answer so far, and the progress messages about it.
///
/// A result contains the complete answer in one text: clients discard other parts, or hide the text because of them.
pub struct Reply {
    env: Env,
    /// The id of the call.
    id: Json,
    era: Era,
    reply: String,
    has_forms: bool,
    /// The random part of a question's scope.
    nonce: String,
    dialog: Option<Arc<Dialog>>,
    /// The handle of the conversation, if it can be continued.
    handle: Option<Arc<str>>,
    /// The bytes of a progress message before its number; empty if no progress is sent.
    head: Vec<u8>,
    progress: u64,
    /// The text of the last progress message.
    line: String,
    /// The time of the last progress message that showed text.
    shown: SystemTime,
    /// The number of bytes of text since that message.
    unshown: usize,
    /// The text so far.
    text: String,
    /// Parts besides the text.
    parts: Vec<ContentBlock>,
    room: Room<LIMIT>,
    asked: Asked,
    /// The position of the next event, if the reply is stored and its events have ids.
    events: Option<Position>,
    pub(super) is_stored: bool,
    is_primed: bool,
    is_plain: bool,
}

/// The question that ended the turn.
enum Asked {
    Nothing,
    /// The question is part of the result.
    Result(Box<CallToolResult>),
    /// The question was sent as a request on the stream.
    Stream,
}

/// The writer of a reply.
type To<'a> = Writer<'a, Reply>;

pub(super) fn session(request: &CallRequest, env: &Env) -> Session<Reply> {
    let found = &request.found;
    let token = &request.params.meta.progress_token;
    let mut head = Vec::new();
    if found.is_stream && !token.is_null() {
        head.extend_from_slice(
            br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"#,
        );
        ValueWriter::new(&mut head, Escape::JsonAndSeparators).raw(token);
        head.extend_from_slice(br#","progress":"#);
    }
    let reply = Reply {
        env: env.clone(),
        id: request.id.clone(),
        era: found.era,
        reply: match &found.reply {
            Some(reply) => reply.clone(),
            None => env.hex_id([""; 2]),
        },
        has_forms: request.has_forms(),
        nonce: request.nonce().to_owned(),
        dialog: found.dialog.clone(),
        handle: found.handle.clone(),
        head,
        progress: 0,
        line: String::new(),
        shown: env.now(),
        unshown: 0,
        text: String::new(),
        parts: Vec::new(),
        room: Room::default(),
        asked: Asked::Nothing,
        events: None,
        is_stored: false,
        is_primed: found.is_primed,
        is_plain: found.is_plain,
    };
    Session::new(reply).unchecked()
}

/// Returns the lines of a text, each converted by [`plain_text`], without empty lines.
fn plain_lines(text: &str) -> String {
    let lines = text.lines().map(plain_text);
    let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

impl Reply {
    /// Writes the lines of an event before its data.
    fn begin(&mut self, out: &mut Vec<u8>) {
        if let Some(position) = &mut self.events {
            position.write(out);
        }
        out.extend_from_slice(b"data: ");
    }

    fn event(&mut self, event: &Event, out: &mut Vec<u8>) {
        self.begin(out);
        event.write_data(out);
        out.extend_from_slice(b"\n\n");
    }

    /// Sends the line as progress, if the client has sent a token. Allocates only to enlarge the buffers.
    fn write_progress(&mut self, out: &mut Vec<u8>) {
        if self.head.is_empty() {
            return;
        }
        self.begin(out);
        out.extend_from_slice(&self.head);
        // Writing to a vector cannot fail.
        let _ = write!(out, "{}", self.progress);
        self.progress += 1;
        if !self.line.is_empty() {
            out.extend_from_slice(br#","message":""#);
            escape(&self.line, Escape::JsonAndSeparators, out);
            out.push(b'"');
        }
        out.extend_from_slice(b"}}\n\n");
    }

    /// Sends the first line of a message as progress, truncated to the width of a terminal.
    fn show(&mut self, message: &str, out: &mut Vec<u8>) {
        let line = message.lines().next().unwrap_or_default().trim();
        let end = (0..=line.len().min(LINE)).rfind(|at| line.is_char_boundary(*at));
        let line = line.get(..end.unwrap_or_default());
        self.line.clear();
        self.line.push_str(line.unwrap_or_default());
        self.write_progress(out);
    }

    /// Returns `true` if it is time to show the text, of which `size` bytes are new.
    fn is_due(&mut self, size: usize) -> bool {
        self.unshown += size;
        if self.head.is_empty() || self.unshown < STEP {
            return false;
        }
        self.unshown = 0;
        let now = self.env.now();
        // If the clock was set back, the time counts as over.
        let is_early = now
            .duration_since(self.shown)
            .is_ok_and(|since| since < PACE);
        if !is_early {
            self.shown = now;
        }
        !is_early
    }

    /// Adds text to the answer. About once a second, its last line is shown as progress.
    fn push(&mut self, text: &str, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.room.take(escaped_len(text))?;
        self.text.push_str(text);
        if self.is_due(text.len()) {
            let all = self.text.trim_end();
            let mut starts = all.len().saturating_sub(LINE)..all.len();
            let start = starts.find(|at| all.is_char_boundary(*at));
            let tail = all.get(start.unwrap_or_default()..).unwrap_or_default();
            let line = tail.rsplit(['\n', '\r']).next().unwrap_or_default().trim();
            self.line.clear();
            self.line.push_str(line);
            self.write_progress(out);
        }
        Ok(())
    }

    fn confirm(&mut self, question: &Question<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        // Control characters and markup would change what the user sees and confirms.
        let texts = [&*question.title, &*question.message].map(plain_lines);
        let texts = texts.into_iter().filter(|text| !text.is_empty());
        let message = texts.collect::<Vec<_>>().join("\n\n");
        let schema = Json::object(|schema| {
            schema.str("type", "object");
            // Writing an empty object cannot fail.
            let _ = schema.object("properties", |_| Ok(()));
        });
        let params = ElicitParams {
            mode: Some("form".to_owned()),
            message,
            requested_schema: schema,
            ..ElicitParams::default()
        };
        if self.has_forms {
            let text = question.to_text()?;
            let mut result = CallToolResult::default();
            "input_required".clone_into(&mut result.result_type);
            let request = Json::object(|request| {
                request.str("method", "elicitation/create");
                params.write_to(request.member("params"));
            });
            result.input_requests.push(INPUT, request);
            result.request_state = format!("{}{SEPARATOR}{}", self.nonce, text.trim());
            self.asked = Asked::Result(Box::new(result));
            return Ok(());
        }
        if let Some(dialog) = self.dialog.clone() {
            let text = question.to_text()?;
            if let Some(id) = dialog.ask(text) {
                let id = Json::encode(&id).unwrap_or_default();
                let question = Elicitation { id, params };
                self.event(&Event::Question(question), to.stream());
                self.asked = Asked::Stream;
                // The agent runs again from the start with the answer.
                self.text.clear();
                to.take_sources();
                self.parts.clear();
                return Ok(());
            }
        }
        // A question in text needs a conversation, which connects the answer with it. A client with dialogs could only
        // answer it in a dialog.
        let in_text = self.handle.is_some() && self.dialog.is_none();
        let text = match in_text {
            false => format!("\n\n{}\n\n{UNASKED}", params.message),
            true => question.to_text()?,
        };
        self.room.take(escaped_len(&text))?;
        to.sources(self)?;
        if in_text {
            self.continued();
        }
        self.text.push_str(&text);
        Ok(())
    }

    /// Appends the handle of the conversation.
    fn continued(&mut self) {
        if let Some(handle) = self.handle.take() {
            if self.text.trim().is_empty() {
                self.text.push_str(EMPTY);
            }
            self.text.push_str(&request::continuation(&handle));
        }
    }

    /// Writes the result.
    fn result(&mut self, is_error: bool, out: &mut Vec<u8>) {
        self.begin(out);
        let to = ValueWriter::new(out, Escape::JsonAndSeparators);
        let text = match self.text.trim_matches(['\n', '\r']) {
            text if text.trim().is_empty() => EMPTY,
            text => text,
        };
        object(to, |message| {
            message.str("jsonrpc", "2.0").raw("id", &self.id);
            // Writing texts and raw values cannot fail.
            let _ = message.object("result", |result| {
                if self.era == Era::Stateless {
                    result.str("resultType", "complete");
                }
                let text = TextContent::new(text);
                let text = std::iter::once(ContentBlock::Text(text));
                let parts = text.chain(self.parts.iter().cloned());
                result.array("content", parts, |part, to| {
                    part.write_to(to);
                    Ok(())
                })?;
                if is_error {
                    result.bool("isError", true);
                }
                Ok(())
            });
        });
        out.extend_from_slice(b"\n\n");
    }
}

impl Blocks for Reply {
    type Output = ContentBlock;
    type Ending = Infallible;
    type Event = Infallible;

    fn write(&self, never: &Infallible, _: &mut Vec<u8>) {
        match *never {}
    }

    /// Writes a first event that has only an id, so that a client can resume a stream that breaks before the next
    /// event.
    fn begin(&mut self, to: &mut To<'_>) {
        if !self.is_stored {
            return;
        }
        let out = to.stream();
        let position = Position::new(&self.reply, &self.id);
        if self.head.is_empty() && !self.is_primed {
            // Clients of these versions may reject events without data. If the reply is lost, the failed result needs
            // the id of the call.
            position.write_comment(out);
            return;
        }
        self.events = Some(position);
        match self.head.is_empty() {
            true => {
                self.begin(out);
                out.extend_from_slice(b"\n\n");
            }
            false => self.write_progress(out),
        }
    }

    fn part(&mut self, part: Part<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        match part {
            Part::Text(text) => self.push(text, to.stream())?,
            Part::Reasoning(text) => {
                if self.is_due(text.len()) {
                    self.show(THINKING, to.stream());
                }
            }
            Part::Status(status) => self.show(&status.message, to.stream()),
            Part::Cite(citation) => {
                let texts = [&citation.url, &citation.excerpt].into_iter().flatten();
                let size = citation.title.len() + texts.map(String::len).sum::<usize>();
                self.room.take(size + 64)?;
                return to.part(self, part);
            }
            // Their size was taken before.
            Part::Sources(citations) => self.text.push_str(&markdown::sources(citations)),
            Part::Confirm(question) => self.confirm(question, to)?,
            part => return to.part(self, part),
        }
        Ok(())
    }

    fn output(&mut self, output: &ContentBlock, to: &mut To<'_>) -> Result<(), SendError> {
        match output {
            ContentBlock::Text(text) => self.push(&text.text, to.stream()),
            ContentBlock::Other(_) => Err(SendError::Invalid(
                "content of a type that clients do not know".to_owned(),
            )),
            // Clients of these versions lose an answer with content of a type that they do not know.
            ContentBlock::ResourceLink(link) if self.is_plain => {
                let link = Citation::new(&*link.name).url(&*link.uri);
                self.part(Part::Cite(&link), to)
            }
            part => {
                self.room.take(part.to_raw().as_bytes().len())?;
                self.parts.push(part.clone());
                Ok(())
            }
        }
    }

    fn ending(&mut self, never: &Infallible, _: &mut To<'_>) -> Result<(), SendError> {
        match *never {}
    }

    /// Writes progress, or a comment for a client without a token, which keeps the connection open but resets no
    /// timeout.
    fn keep_alive(&mut self, to: &mut To<'_>) -> bool {
        if !self.head.is_empty() {
            self.write_progress(to.stream());
        }
        // Each reader of a stored reply adds its own comments.
        !self.head.is_empty() || self.is_stored
    }

    /// Writes the result. That of a failure is the text so far, and then the message: with it, no client repeats the
    /// call, and all clients pass the text to their models. A cancelled turn has no handle, because it is not recorded.
    fn end(&mut self, end: End<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        let out = to.stream();
        match (end, std::mem::replace(&mut self.asked, Asked::Nothing)) {
            (End::Failed(failure), _) => {
                self.text.push_str("\n\n");
                self.text.push_str(failure.message);
                self.result(true, out);
            }
            (_, Asked::Result(result)) => {
                let (id, result) = (self.id.clone(), *result);
                self.event(&Event::Result(CallResponse { id, result }), out);
            }
            (_, Asked::Stream) if self.dialog.as_ref().is_some_and(|it| it.is_open()) => {
                self.text.push_str(UNANSWERED);
                self.result(true, out);
            }
            (end, _) => {
                if let End::Answered = end {
                    self.continued();
                }
                self.result(false, out);
            }
        }
        Ok(())
    }

    fn reply_id(&self) -> Option<&str> {
        Some(&self.reply)
    }
}

opaque_debug!(Reply);
