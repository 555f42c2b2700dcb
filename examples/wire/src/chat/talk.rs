//! A conversation, turn by turn.

use bytes::Bytes;
use copilot_wire::github::verify::RequestSigner;
use copilot_wire::json::Json;
use copilot_wire::protocol::{Confirmation, EventError, ToolCall};
use copilot_wire::testing::{Answer, FrontEnd, Next};
use futures_util::StreamExt;
use http::Request;
use http::header::CONTENT_TYPE;
use reqwest::Response;

use super::answers::{self, Answers};
use super::lines::Lines;
use super::voice::Voice;
use crate::client::{Client, ClientError};
use crate::screen::short;
use crate::verdict::{Failure, Verdict};

/// The most turns that one message of the user may lead to.
const TURNS: usize = 50;

/// The most bytes of a refusal that are read.
const REFUSAL: usize = 64 * 1024;

/// A front end that talks to an agent.
pub(super) struct Talk<'a, F> {
    pub(super) front: F,
    pub(super) client: &'a Client,
    pub(super) signer: Option<RequestSigner>,
    pub(super) answers: Answers,
    /// What is said to every question; without it the user decides.
    pub(super) decision: Option<bool>,
    pub(super) lines: Lines,
    pub(super) voice: Voice<'a>,
    pub(super) verdict: Verdict,
}

/// How a turn ended.
enum Turn {
    /// The front end goes on.
    Heard,
    /// The user stopped it, or there was no answer.
    Over,
}

impl<F: FrontEnd> Talk<'_, F> {
    /// Sends every line that the user types, until there are no more.
    pub(super) async fn run(mut self) -> Result<Verdict, Failure> {
        while let Some(line) = self.lines.ask(">", self.voice.screen).await? {
            if !line.trim().is_empty() {
                self.message(&line).await?;
            }
        }
        Ok(self.verdict)
    }

    /// Sends one message.
    pub(super) async fn once(mut self, text: &str) -> Result<Verdict, Failure> {
        self.message(text).await?;
        Ok(self.verdict)
    }

    /// Says something, and does what the agent asks for, until it is the user's turn again.
    async fn message(&mut self, text: &str) -> Result<(), Failure> {
        self.front.say(text);
        for _ in 0..TURNS {
            let turn = self.turn().await?;
            let next = self.front.next();
            if matches!(turn, Turn::Over) {
                return self.voice.end();
            }
            match next {
                Next::Calls(calls) => {
                    let mut answers = Vec::new();
                    for call in &calls {
                        answers.push(self.answer(call).await?);
                    }
                    self.front.answer(answers);
                }
                Next::Question(question) => {
                    self.voice.question(&question)?;
                    self.decide(&question).await?;
                }
                Next::Broken(why) => {
                    self.wrong(why)?;
                    return self.voice.end();
                }
                _ => return self.voice.end(),
            }
        }
        self.wrong("the agent calls again and again")
    }

    /// Sends the request that is due, and shows what comes as it comes, until Ctrl-C.
    async fn turn(&mut self) -> Result<Turn, Failure> {
        let mut request = self.front.request();
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
        let response = self.client.send(request).await.map_err(Failure::new)?;
        if let Some(refused) = refused(&response) {
            let body = beginning(response).await;
            self.wrong(&format!("{refused}: {}", short(&body)))?;
            return Ok(Turn::Over);
        }
        let mut body = response.bytes_stream();
        while let Some(piece) = body.next().await {
            match piece {
                Ok(bytes) => {
                    if !self.hear(&bytes)? {
                        break;
                    }
                }
                Err(error) => self.wrong(&ClientError::from(error).to_string())?,
            }
        }
        Ok(Turn::Heard)
    }

    /// Shows what a piece of the body says; whether the stream can be read on.
    fn hear(&mut self, mut bytes: &[u8]) -> Result<bool, Failure> {
        loop {
            match self.front.decode(&mut bytes) {
                Ok(Some(event)) => {
                    for heard in self.front.hear(&event) {
                        self.voice.hear(&heard)?;
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

    /// The answer to a call: the front end's own, the file's, the user's; without any, none.
    async fn answer(&mut self, call: &ToolCall) -> Result<Answer, Failure> {
        self.voice.call(call)?;
        let known = self.front.own_answer(call);
        if let Some(answer) = known.or_else(|| self.answers.of(call)) {
            return Ok(answer);
        }
        let typed = match self.lines.is_terminal() {
            true => {
                self.lines
                    .ask("result (JSON or text):", self.voice.screen)
                    .await?
            }
            false => None,
        };
        let typed = typed.filter(|line| !line.trim().is_empty());
        Ok(match typed {
            Some(line) => match Json::parse(line.clone()) {
                Ok(json) => answers::answer(json),
                Err(_) => Answer::text(line),
            },
            None => Answer::failed("the user gave no result"),
        })
    }

    /// Answers a question. Nothing is a no; where the text of the answer asked, anything but yes
    /// and no is a message like any other.
    async fn decide(&mut self, question: &Confirmation) -> Result<(), Failure> {
        if let Some(accepted) = self.decision {
            self.front.decide(accepted);
            return Ok(());
        }
        let line = self.lines.ask("accept? (y/n)", self.voice.screen).await?;
        let line = line.unwrap_or_default();
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => self.front.decide(true),
            "" | "n" | "no" => self.front.decide(false),
            _ if question.title.is_empty() => self.front.say(&line),
            _ => self.front.decide(false),
        }
        Ok(())
    }

    fn wrong(&mut self, what: &str) -> Result<(), Failure> {
        self.verdict = Verdict::Wrong;
        self.voice.wrong(what)?;
        self.voice.screen.flush()
    }
}

/// Why a response is no answer.
fn refused(response: &Response) -> Option<String> {
    let status = response.status();
    if !status.is_success() {
        return Some(format!("refused with {status}"));
    }
    let kind = response.headers().get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    let is_stream = essence.eq_ignore_ascii_case("text/event-stream");
    (!is_stream).then(|| format!("the answer is no event stream but {kind:?}"))
}

/// The beginning of a body, whatever it is.
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
