//! The state of one reply, and the writing of its chunks.

use crate::json::{Escape, Json, Wire, escape, write};
use crate::protocol::{self, Citation, Env, Part, SendError, Session as _, TextFrame, markdown};

use super::{ChatRequest, Ending, Failure, FinishReason, Output, Provider, Tools};

/// The state of one reply.
///
/// In Meilisearch 1.50 every chunk has all keys, absent values are `null`, and the order of the
/// keys is fixed. So a chunk of text is a head, the text and a tail; head and tail are written
/// once.
#[derive(Debug)]
pub struct Session {
    env: Env,
    tools: Tools,
    /// The frame around text.
    frame: TextFrame,
    /// The start of a chunk, up to the delta's content.
    head: Vec<u8>,
    /// The end of a chunk, after the choice.
    tail: Vec<u8>,
    /// The number of bytes of the end that are before the provider's statements.
    tail_start: usize,
    /// Citations to list at the end of the answer.
    citations: Vec<Citation>,
    /// Set once the current round has started.
    opened: bool,
    /// Set once the finish reason or a terminal error has been written.
    ended: bool,
}

const DONE: &[u8] = b"data: [DONE]\n\n";
const OPENING: &[u8] = br#""","function_call":null,"tool_calls":null,"role":"assistant","refusal":null},"finish_reason":null,"logprobs":null}]"#;
const AFTER_CONTENT: &[u8] = br#"","function_call":null,"tool_calls":null,"role":null,"refusal":null},"finish_reason":null,"logprobs":null}]"#;
const BEFORE_REFUSAL: &[u8] =
    br#"null,"function_call":null,"tool_calls":null,"role":null,"refusal":""#;
const AFTER_REFUSAL: &[u8] = br#""},"finish_reason":null,"logprobs":null}]"#;
const BEFORE_FINISH: &[u8] =
    br#"null,"function_call":null,"tool_calls":null,"role":null,"refusal":null},"finish_reason":""#;
const BEFORE_LOGPROBS: &[u8] = br#"null,"function_call":null,"tool_calls":null,"role":null,"refusal":null},"finish_reason":null,"logprobs":"#;
const AFTER_FINISH: &[u8] = br#"","logprobs":null}]"#;
const BEFORE_CALL: &[u8] = br#"null,"function_call":null,"tool_calls":[{"index":0,"id":""#;
const BEFORE_NAME: &[u8] = br#"","type":"function","function":{"name":""#;
const BEFORE_ARGUMENTS: &[u8] = br#"","arguments":""#;
const AFTER_CALL: &[u8] =
    br#""}}],"role":"assistant","refusal":null},"finish_reason":null,"logprobs":null}]"#;

impl Session {
    pub(super) fn new(request: &ChatRequest, env: &Env) -> Self {
        let mut tail = format!(r#","created":{},"model":""#, env.unix_time()).into_bytes();
        // The server repeats the model of the provider; here the request's is the only one known.
        escape(&request.model, Escape::Json, &mut tail);
        tail.extend_from_slice(b"\"");
        let tail_start = tail.len();
        end_tail(&Provider::default(), &mut tail);
        let head = head(env);
        Self {
            env: env.clone(),
            tools: request.tools,
            frame: frame(&head, &tail),
            head,
            tail,
            tail_start,
            citations: Vec::new(),
            opened: false,
            ended: false,
        }
    }

    fn refusal(&mut self, text: &str, out: &mut Vec<u8>) {
        self.open(out);
        out.extend_from_slice(&self.head);
        out.extend_from_slice(BEFORE_REFUSAL);
        escape(text, Escape::Json, out);
        out.extend_from_slice(AFTER_REFUSAL);
        out.extend_from_slice(&self.tail);
    }

    /// Writes a notification, unless the request did not switch it on.
    fn notify(&mut self, tool: Tools, id: &str, arguments: &Json, out: &mut Vec<u8>) {
        if self.tools.contains(tool) {
            // One tool, so one name.
            let name = tool.names().next().unwrap_or_default();
            self.call(id, name, arguments.text(), out);
        }
    }

    /// Writes one chunk with one complete call at index 0 and a unique id.
    fn call(&mut self, id: &str, name: &str, arguments: &str, out: &mut Vec<u8>) {
        self.open(out);
        out.extend_from_slice(&self.head);
        out.extend_from_slice(BEFORE_CALL);
        self.id(id, out);
        out.extend_from_slice(BEFORE_NAME);
        escape(name, Escape::Json, out);
        out.extend_from_slice(BEFORE_ARGUMENTS);
        escape(arguments, Escape::Json, out);
        out.extend_from_slice(AFTER_CALL);
        out.extend_from_slice(&self.tail);
    }

    fn logprobs(&mut self, logprobs: &Json, out: &mut Vec<u8>) {
        self.open(out);
        out.extend_from_slice(&self.head);
        out.extend_from_slice(BEFORE_LOGPROBS);
        let _ = write(logprobs, Escape::Json, out);
        out.extend_from_slice(b"}]");
        out.extend_from_slice(&self.tail);
    }

    fn provider(&mut self, provider: &Provider) {
        self.tail.truncate(self.tail_start);
        end_tail(provider, &mut self.tail);
        self.frame = frame(&self.head, &self.tail);
    }

    fn id(&self, id: &str, out: &mut Vec<u8>) {
        if id.is_empty() {
            out.extend_from_slice(self.env.uuid().as_bytes());
        } else {
            escape(id, Escape::Json, out);
        }
    }

    /// Writes an error. After a terminal one no part of the answer may follow.
    fn error(&mut self, failure: &Failure, out: &mut Vec<u8>) {
        if !failure.is_terminal() {
            // A search belongs to a round, so the round must be open.
            self.open(out);
        }
        if failure.event_id.is_empty() {
            failure.write(&self.env.uuid(), out);
        } else {
            failure.write(&failure.event_id, out);
        }
        self.ended |= failure.is_terminal();
    }

    /// Starts a new round: other chunk ids, and an opening chunk.
    fn round_break(&mut self, out: &mut Vec<u8>) {
        // A round without any chunk would not be visible, so the current one is opened first.
        self.open(out);
        self.head = head(&self.env);
        self.frame = frame(&self.head, &self.tail);
        self.opened = false;
        self.open(out);
    }

    /// Writes the citations as text, once. A sources notification would need the id of a search.
    fn sources_text(&mut self, out: &mut Vec<u8>) {
        let citations = std::mem::take(&mut self.citations);
        self.write_text(&markdown::sources(&citations), out);
    }

    /// Writes text. Empty text is skipped, because no client needs it.
    fn write_text(&mut self, text: &str, out: &mut Vec<u8>) {
        if !text.is_empty() {
            self.open(out);
            self.frame.write(text, out);
        }
    }

    /// Writes the end of the answer.
    fn end(&mut self, reason: &FinishReason, out: &mut Vec<u8>) {
        self.sources_text(out);
        self.open(out);
        out.extend_from_slice(&self.head);
        out.extend_from_slice(BEFORE_FINISH);
        escape(reason.as_str(), Escape::Json, out);
        out.extend_from_slice(AFTER_FINISH);
        out.extend_from_slice(&self.tail);
        self.ended = true;
    }
}

impl protocol::Session for Session {
    type Output = Output;
    type Ending = Ending;

    /// Opens a round with a chunk that has the role.
    fn open(&mut self, out: &mut Vec<u8>) {
        if !self.opened {
            self.opened = true;
            out.extend_from_slice(&self.head);
            out.extend_from_slice(OPENING);
            out.extend_from_slice(&self.tail);
        }
    }

    fn text_frame(&self) -> Option<TextFrame> {
        // Before the opening chunk text must take the slow path, which writes it.
        self.opened.then(|| self.frame.clone())
    }

    fn text(&mut self, text: &str, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.write_text(text, out);
        Ok(())
    }

    fn part(&mut self, part: Part<'_>, out: &mut Vec<u8>) -> Result<(), SendError> {
        match part {
            Part::Cite(citation) => self.citations.push(citation.clone()),
            Part::Table(table) => self.write_text(&table.to_markdown(), out),
            Part::Chart(chart) => self.write_text(&chart.to_markdown(), out),
            // An error frame would abort OpenAI's clients, on which most clients are built. So this
            // is text.
            Part::Error(notice) => self.write_text(&notice.to_markdown(), out),
            Part::Confirm(confirmation) => {
                let text = confirmation.to_text()?;
                // The question must be the last text.
                self.sources_text(out);
                self.write_text(&text, out);
            }
            Part::Calls(_) => return Err(SendError::Unsupported("calls")),
            // A progress notification must name a search, so there is none for other steps.
            Part::Status(_) | Part::ToolRun(_) => {}
            // A Meilisearch server drops both.
            Part::Reasoning(_) | Part::Usage(_) => {}
        }
        Ok(())
    }

    fn output(&mut self, output: &Output, out: &mut Vec<u8>) -> Result<(), SendError> {
        match output {
            Output::Text(text) => self.write_text(text, out),
            Output::Refusal(text) => self.refusal(text, out),
            Output::Progress(it) => self.notify(Tools::PROGRESS, &it.id, &it.to_raw(), out),
            Output::Append(it) => self.notify(Tools::APPEND, &it.id, it.message.json(), out),
            Output::Sources(it) => self.notify(Tools::SOURCES, &it.id, &it.to_raw(), out),
            Output::SearchFailure(failure) => self.error(&failure.clone().into(), out),
            Output::RoundBreak => self.round_break(out),
            Output::Provider(provider) => self.provider(provider),
            Output::Logprobs(logprobs) => self.logprobs(logprobs, out),
            Output::Call(call) => self.call(&call.id, &call.name, &call.arguments, out),
        }
        Ok(())
    }

    fn ending(&mut self, ending: &Ending, out: &mut Vec<u8>) -> Result<(), SendError> {
        match ending {
            Ending::Finish(reason) => self.end(reason, out),
            Ending::Failure(failure) if failure.is_terminal() => self.error(failure, out),
            // Clients go on after a failed search, and would wait for an answer that does not come.
            Ending::Failure(failure) => {
                let mut failure = failure.clone();
                failure.kind = "server_error".into();
                self.error(&failure, out);
            }
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        if !self.ended {
            self.end(&FinishReason::Stop, out);
        }
        out.extend_from_slice(DONE);
    }

    fn fail(&mut self, failure: &protocol::Failure<'_>, out: &mut Vec<u8>) {
        self.error(&Failure::new("server_error", failure.message), out);
        out.extend_from_slice(DONE);
    }
}

fn frame(head: &[u8], tail: &[u8]) -> TextFrame {
    TextFrame::new(
        [head, b"\""].concat(),
        [AFTER_CONTENT, tail].concat(),
        Escape::Json,
    )
}

/// Writes the end of a chunk from the provider's statements on.
fn end_tail(provider: &Provider, out: &mut Vec<u8>) {
    let statements = [
        ("service_tier", &provider.service_tier),
        ("system_fingerprint", &provider.system_fingerprint),
    ];
    for (name, statement) in statements {
        out.extend_from_slice(format!(r#","{name}":"#).as_bytes());
        // Serializing text cannot fail.
        let _ = write(statement, Escape::Json, out);
    }
    out.extend_from_slice(br#","object":"chat.completion.chunk","usage":null}"#);
    out.extend_from_slice(b"\n\n");
}

fn head(env: &Env) -> Vec<u8> {
    format!(
        r#"data: {{"id":"chatcmpl-{}","choices":[{{"index":0,"delta":{{"content":"#,
        env.uuid()
    )
    .into_bytes()
}
