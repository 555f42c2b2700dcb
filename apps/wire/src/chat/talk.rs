//! A conversation, turn by turn.

use bytes::Bytes;
use copilot_wire::json::Json;
use copilot_wire::protocol::{Confirmation, EventError, Framing, ToolCall};
use copilot_wire_kit::{Effect, Next, Signer, ToolOutcome};
use futures_util::StreamExt;
use http::Request;
use http::header::CONTENT_TYPE;
use reqwest::Response;

use super::answers::{self, Answers};
use super::lines::{Lines, Said};
use super::undo::Undo;
use super::voice::Voice;
use crate::client::{Client, ClientError};
use crate::decode::Blocks;
use crate::screen::short;
use crate::verdict::{self, Failure, Verdict};

/// The maximum number of turns after one message of the user.
const TURNS: usize = 50;

/// The maximum number of bytes of a refusal that are read.
const REFUSAL: usize = 64 * 1024;

/// The maximum size in bytes of the answers to one message of the user, over all turns.
const ANSWERS: usize = 32 * 1024 * 1024;

/// A conversation of an emulated front end with an agent.
pub(super) struct Talk<'a> {
    pub(super) front: Undo<'a>,
    pub(super) client: &'a Client,
    pub(super) framing: Framing,
    pub(super) signer: Option<Box<dyn Signer>>,
    pub(super) answers: &'a Answers,
    /// The answer to every question; `None` if the user decides.
    pub(super) decision: Option<bool>,
    pub(super) lines: Lines,
    pub(super) voice: Voice<'a>,
    pub(super) verdict: Verdict,
    /// The number of bytes that the agent may still send in answer to the latest message.
    pub(super) left: usize,
}

/// The state of a conversation after a turn.
enum User {
    Here,
    /// The user has left.
    Left,
    /// The message was not delivered, with the reason.
    Undelivered(Failure),
}

/// The end of a turn.
enum Turn {
    /// The front end continues the conversation.
    Delivered,
    /// The user cancelled the turn, or the response was not an answer.
    Over,
    /// There was no response.
    Failed(Failure),
}

impl Talk<'_> {
    /// Sends every line that the user types. A line that cannot be delivered is reported, and the conversation
    /// continues without it; if it is the last line, the command fails.
    pub(super) async fn run(mut self) -> Result<Verdict, Failure> {
        let mut undelivered = None;
        while let Said::Line(line) = self.lines.ask(">", self.voice.screen).await? {
            if line.trim().is_empty() {
                continue;
            }
            // The failure of the last line is not reported here but returned, and becomes the exit status.
            if let Some(failure) = undelivered.take() {
                self.failed(failure)?;
            }
            match self.message(&line).await? {
                User::Here => {}
                User::Left => break,
                User::Undelivered(failure) if self.lines.is_terminal() => self.failed(failure)?,
                User::Undelivered(failure) => undelivered = Some(failure),
            }
        }
        match undelivered {
            Some(failure) => Err(failure),
            None => Ok(self.verdict),
        }
    }

    /// Sends one message.
    pub(super) async fn once(mut self, text: &str) -> Result<Verdict, Failure> {
        match self.message(text).await? {
            User::Undelivered(failure) => Err(failure),
            User::Here | User::Left => Ok(self.verdict),
        }
    }

    /// Sends a message and answers the calls of the agent, until the user must send the next message.
    async fn message(&mut self, text: &str) -> Result<User, Failure> {
        // The server did not receive an undelivered message. If the front end kept it in the conversation, it would
        // send it again with the next message.
        let mark = self.front.mark();
        self.front.prompt(text);
        self.left = ANSWERS;
        for _ in 0..TURNS {
            self.voice.has_output = false;
            let turn = self.turn().await?;
            if let Turn::Failed(failure) = turn {
                self.front.back(mark)?;
                return Ok(User::Undelivered(failure));
            }
            // Called also for a cancelled turn: the front end stores the part of the answer that it has shown.
            let next = self.front.next();
            let user = match (turn, next) {
                (Turn::Delivered, Next::Calls(calls)) => self.answer(&calls).await?,
                (Turn::Delivered, Next::Question(question)) => {
                    self.voice.question(&question)?;
                    self.decide(&question).await?
                }
                (turn, next) => {
                    match (turn, next) {
                        (Turn::Delivered, Next::Broken(why)) => self.wrong(why)?,
                        (Turn::Delivered, _) if !self.voice.has_output => self.voice.nothing()?,
                        _ => {}
                    }
                    self.voice.end()?;
                    return Ok(User::Here);
                }
            };
            if !matches!(user, User::Here) {
                return Ok(user);
            }
        }
        self.wrong("the agent calls again and again")?;
        Ok(User::Here)
    }

    /// Sends the next request and shows the answer while it arrives, until Ctrl-C.
    async fn turn(&mut self) -> Result<Turn, Failure> {
        let mut request = self.front.front.request();
        if let Some(path) = self.client.path() {
            *request.uri_mut() = path.parse().map_err(Failure::new)?;
        }
        if let Some(signer) = &self.signer {
            let headers = signer.sign(request.body());
            request.headers_mut().extend(headers);
        }
        tokio::select! {
            turn = self.exchange(request) => turn,
            stopped = tokio::signal::ctrl_c() => Ok(stopped.map(|()| Turn::Over)?),
        }
    }

    async fn exchange(&mut self, request: Request<Bytes>) -> Result<Turn, Failure> {
        let response = match self.client.send(request).await {
            Ok(response) => response,
            Err(error) => return Ok(Turn::Failed(Failure::new(error))),
        };
        if let Some(refused) = refused(&response, self.framing) {
            let body = beginning(response).await;
            self.wrong(&format!("{refused}: {}", short(&body)))?;
            return Ok(Turn::Over);
        }
        let mut body = response.bytes_stream();
        let mut blocks = Blocks::new(self.framing);
        while let Some(piece) = body.next().await {
            match piece {
                Ok(bytes) => {
                    // The front end and the log store the complete answer.
                    let Some(left) = self.left.checked_sub(bytes.len()) else {
                        self.wrong(&format!("the answer is longer than {ANSWERS} bytes"))?;
                        return Ok(Turn::Over);
                    };
                    self.left = left;
                    blocks.pass(&bytes);
                    self.front.reads(&bytes);
                    // Logged before it is decoded: a replay must include the bytes that caused an error.
                    if !self.receive(&bytes)? {
                        return Ok(Turn::Delivered);
                    }
                }
                Err(error) => {
                    self.wrong(&ClientError::from(error).to_string())?;
                    return Ok(Turn::Delivered);
                }
            }
        }
        // Readers discard a last event without its blank line, and some protocols end without a final event.
        if blocks.is_cut() {
            self.wrong("the answer ends inside an event")?;
            return Ok(Turn::Over);
        }
        Ok(Turn::Delivered)
    }

    /// Shows a piece of the body. Returns `true` if more of the stream can be read.
    fn receive(&mut self, mut bytes: &[u8]) -> Result<bool, Failure> {
        loop {
            match self.front.front.read(&mut bytes) {
                Ok(Some(effects)) => {
                    for effect in &effects {
                        if let Effect::Error(_) = effect {
                            self.verdict = Verdict::Wrong;
                        }
                        self.voice.receive(effect)?;
                    }
                }
                Ok(None) => {
                    self.voice.screen.flush()?;
                    return Ok(true);
                }
                Err(error) => {
                    self.wrong(&error.to_string())?;
                    if matches!(error, EventError::Stream(_)) {
                        return Ok(false);
                    }
                }
            }
        }
    }

    /// Answers calls, all of them or none.
    async fn answer(&mut self, calls: &[ToolCall]) -> Result<User, Failure> {
        let mut answers = Vec::new();
        for call in calls {
            self.voice.call(call)?;
            // The front end's own data has precedence: nobody is asked for it.
            let known = self.front.front.own_answer(call);
            let answer = match known.or_else(|| self.answers.of(call)) {
                Some(answer) => Some(answer),
                None => self.result().await?,
            };
            let Some(answer) = answer else {
                return Ok(User::Left);
            };
            answers.push(answer);
        }
        self.front.answer(answers);
        Ok(User::Here)
    }

    /// Reads the result of a call from the user, on a terminal. `None` if the user has left.
    async fn result(&mut self) -> Result<Option<ToolOutcome>, Failure> {
        let said = match self.lines.is_terminal() {
            true => {
                let prompt = "result (JSON or text):";
                self.lines.ask(prompt, self.voice.screen).await?
            }
            false => Said::Nothing,
        };
        Ok(match said {
            Said::Left => None,
            Said::Line(line) if !line.trim().is_empty() => Some(match Json::parse(line.clone()) {
                Ok(json) => answers::answer(json),
                Err(_) => ToolOutcome::text(line),
            }),
            _ => Some(ToolOutcome::failed("the user gave no result")),
        })
    }

    /// Answers a question. An empty line, or no terminal, is a refusal. If the question is part of the text, any other
    /// line is sent unchanged: `y` must not stand for the code, or the user could agree without reading the question.
    async fn decide(&mut self, question: &Confirmation) -> Result<User, Failure> {
        if let Some(accepted) = self.decision {
            self.front.decide(question, accepted);
            return Ok(User::Here);
        }
        let in_text = question.title.is_empty();
        let prompt = match in_text {
            true => "answer as the question says:",
            false => "accept? (y/n)",
        };
        let line = match self.lines.ask(prompt, self.voice.screen).await? {
            Said::Line(line) => line,
            Said::Nothing => String::new(),
            Said::Left => return Ok(User::Left),
        };
        match line.trim().to_lowercase().as_str() {
            "" => self.front.decide(question, false),
            _ if in_text => self.front.prompt(&line),
            "y" | "yes" => self.front.decide(question, true),
            _ => self.front.decide(question, false),
        }
        Ok(User::Here)
    }

    /// Reports an undelivered message.
    fn failed(&mut self, failure: Failure) -> Result<(), Failure> {
        self.verdict = Verdict::Wrong;
        match failure {
            Failure::Said(message) => verdict::tell(message),
            Failure::Closed => return Err(failure),
        }
        Ok(())
    }

    fn wrong(&mut self, what: &str) -> Result<(), Failure> {
        self.verdict = Verdict::Wrong;
        self.voice.wrong(what)?;
        self.voice.screen.flush()
    }
}

/// Returns the reason why a response is not an answer.
fn refused(response: &Response, framing: Framing) -> Option<String> {
    let status = response.status();
    if !status.is_success() {
        let path = response.url().path();
        return Some(format!("POST {path} was refused with {status}"));
    }
    let kind = response.headers().get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    let is_stream = essence.eq_ignore_ascii_case(framing.content_type());
    (!is_stream).then(|| format!("the answer is no event stream but {kind:?}"))
}

/// Returns the beginning of a body.
async fn beginning(response: Response) -> String {
    let mut body = response.bytes_stream();
    let mut bytes = Vec::new();
    while let Some(Ok(piece)) = body.next().await {
        let piece: Bytes = piece;
        bytes.extend_from_slice(&piece);
        if bytes.len() > REFUSAL {
            break;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
