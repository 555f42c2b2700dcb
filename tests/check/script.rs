//! An endpoint that does everything right, in process and without an agent, and can be told to do
//! one thing wrong.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::async_trait;
use copilot_wire::github::verify::verify;
use copilot_wire_kit::check::{Endpoint, EndpointBody, EndpointError, Target};
use copilot_wire_kit::github::RequestSigner;
use copilot_wire_kit::{Kit, kit};
use futures::Stream;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use serde_json::{Value, json};

use crate::streams;

/// A chat front end, by the protocol that it speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Front {
    OpenBb,
    GitHub,
    OpenAi,
    Meilisearch,
    Anthropic,
    AgUi,
    UiStream,
}

impl Front {
    pub(crate) fn kit(self) -> Kit {
        match self {
            Self::OpenBb => kit::<copilot_wire::openbb::OpenBb>(),
            Self::GitHub => kit::<copilot_wire::github::GitHub>(),
            Self::OpenAi => kit::<copilot_wire::openai::OpenAi>(),
            Self::Meilisearch => kit::<copilot_wire::meilisearch::Meilisearch>(),
            Self::Anthropic => kit::<copilot_wire::anthropic::Anthropic>(),
            Self::AgUi => kit::<copilot_wire::ag_ui::AgUi>(),
            Self::UiStream => kit::<copilot_wire::ui_stream::UiStream>(),
        }
    }
}

/// The response, before faults are added.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<Piece>,
    pub(crate) head: Head,
    /// `true` for the stream of an agent.
    pub(crate) streams: bool,
}

pub(crate) enum Head {
    AtOnce,
    Late,
    Never,
    Failed,
}

#[derive(Clone)]
pub(crate) enum Piece {
    Bytes(Bytes),
    /// Nothing, for longer than the first timer.
    Late,
    /// Nothing more, and no end.
    Never,
    /// This again and again.
    Forever(&'static [u8]),
    Failed,
}

impl Answer {
    fn new(status: u16, kind: &'static str, body: impl Into<Bytes>) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static(kind));
        Self {
            status: StatusCode::from_u16(status).unwrap(),
            headers,
            body: vec![Piece::Bytes(body.into())],
            head: Head::AtOnce,
            streams: false,
        }
    }

    fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    /// A stream, an event a piece.
    fn stream(text: &str) -> Self {
        let events = text.split_inclusive("\n\n").map(str::to_owned);
        let mut answer = Self::new(200, "text/event-stream", "");
        answer.body = events.map(|event| Piece::Bytes(event.into())).collect();
        answer.streams = true;
        answer
            .header("cache-control", "no-cache")
            .header("x-accel-buffering", "no")
    }

    pub(crate) fn header(mut self, name: &'static str, value: &'static str) -> Self {
        self.headers.insert(name, HeaderValue::from_static(value));
        self
    }

    pub(crate) fn without(mut self, name: &'static str) -> Self {
        self.headers.remove(name);
        self
    }

    pub(crate) fn status(mut self, status: u16) -> Self {
        self.status = StatusCode::from_u16(status).unwrap();
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let mut all = Vec::new();
        for piece in &self.body {
            if let Piece::Bytes(bytes) = piece {
                all.extend_from_slice(bytes);
            }
        }
        all
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.bytes()).unwrap()
    }

    /// Another body, in one piece.
    pub(crate) fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = vec![Piece::Bytes(body.into())];
        self
    }

    /// The same body with something else in place of every `from`.
    pub(crate) fn swap(self, from: &str, to: &str) -> Self {
        let text = self.text();
        self.body(text.replace(from, to))
    }

    /// The same stream with something else in place of every `from`.
    pub(crate) fn said(self, from: &str, to: &str) -> Self {
        if self.streams {
            self.swap(from, to)
        } else {
            self
        }
    }

    /// The same stream in these pieces.
    pub(crate) fn pieces(mut self, pieces: impl IntoIterator<Item = Piece>) -> Self {
        if self.streams {
            self.body = pieces.into_iter().collect();
        }
        self
    }

    /// The same stream with something behind it.
    pub(crate) fn then(mut self, piece: Piece) -> Self {
        if self.streams {
            self.body.push(piece);
        }
        self
    }
}

/// A request, and how many clients have left in the middle of an answer.
pub(crate) struct Asked<'a> {
    pub(crate) request: &'a Request<Bytes>,
    pub(crate) left: usize,
}

impl Asked<'_> {
    /// Returns `true` if a small body contains `text`.
    pub(crate) fn has(&self, text: &str) -> bool {
        let body = self.request.body();
        body.len() < 100_000 && std::str::from_utf8(body).unwrap().contains(text)
    }

    pub(crate) fn is(&self, method: Method, path: &str) -> bool {
        self.request.method() == method && self.request.uri().path() == path
    }

    pub(crate) fn json(&self) -> Option<Value> {
        serde_json::from_slice(self.request.body()).ok()
    }
}

pub(crate) type Fault = Box<dyn Fn(&Asked<'_>, Answer) -> Answer + Send + Sync>;

pub(crate) struct Script {
    front: Front,
    fault: Fault,
    /// `true` if requests must be signed.
    signed: bool,
    left: Arc<AtomicUsize>,
}

impl Script {
    pub(crate) fn new(
        front: Front,
        fault: impl Fn(&Asked<'_>, Answer) -> Answer + Send + Sync + 'static,
    ) -> Self {
        Self {
            front,
            fault: Box::new(fault),
            signed: front == Front::GitHub,
            left: Arc::default(),
        }
    }

    pub(crate) fn target(&self) -> Target {
        let target = Target::new(self.front.kit());
        if self.signed {
            target.signer(signer())
        } else {
            target
        }
    }

    /// The same, to be used by anybody.
    pub(crate) fn open(self) -> Self {
        Self {
            signed: false,
            ..self
        }
    }

    fn path(&self) -> &'static str {
        match self.front {
            Front::OpenBb => "/v1/query",
            Front::GitHub => "/github",
            Front::OpenAi => "/v1/chat/completions",
            Front::Anthropic => "/v1/messages",
            Front::AgUi => "/agui",
            Front::UiStream => "/api/chat",
            _ => "/chats/default/chat/completions",
        }
    }

    fn refusal(&self, status: u16) -> Answer {
        let body = match self.front {
            Front::UiStream => return Answer::new(status, "text/plain", "No."),
            Front::Meilisearch => json!({
                "message": "no", "code": "bad_request", "type": "invalid_request", "link": "",
            }),
            _ => json!({
                "type": "error", "error": {"message": "no", "type": "invalid_request_error"},
            }),
        };
        Answer::json(status, &body)
    }

    fn good(&self, asked: &Asked<'_>) -> Answer {
        let request = asked.request;
        let answer = match (request.method(), request.uri().path()) {
            (&Method::OPTIONS, _) => Answer::new(204, "text/plain", "")
                .header("access-control-allow-methods", "GET, POST, OPTIONS")
                .header(
                    "access-control-allow-headers",
                    "content-type, x-trace-id, x-api-key",
                )
                .header("access-control-allow-private-network", "true"),
            (&Method::GET, "/agents.json") => Answer::json(200, &streams::descriptor()),
            (&Method::POST, "/feedback") => Answer::json(200, &json!({})),
            (&Method::GET, "/v1/models") => Answer::json(200, &json!({"data": [{"id": "m"}]})),
            (&Method::POST, "/v1/messages/count_tokens") => {
                Answer::json(200, &json!({"input_tokens": 1}))
            }
            (&Method::GET, path) if path.starts_with("/api/chat/") => {
                Answer::new(204, "text/plain", "")
            }
            (&Method::GET, "/github") => Answer::new(200, "text/plain", "OK"),
            (&Method::POST, path) if path == self.path() => self.post(asked),
            (_, path) if path == self.path() => self.refusal(405),
            _ => self.refusal(404),
        };
        answer
            .header("access-control-allow-origin", "*")
            .header("vary", "origin")
    }

    fn post(&self, asked: &Asked<'_>) -> Answer {
        let body = asked.request.body();
        if body.len() > 32 * 1024 * 1024 {
            return self.refusal(413);
        }
        let headers = asked.request.headers();
        if self.signed && verify(body, headers, &signer().key_set()).is_err() {
            return self.refusal(401);
        }
        // What is large is good: reading it takes long.
        let json = if body.len() < 100_000 {
            asked.json()
        } else {
            Some(json!({}))
        };
        let Some(request) = json.filter(Value::is_object) else {
            return self.refusal(400);
        };
        match self.front {
            Front::OpenBb => Answer::stream(streams::OPENBB),
            Front::GitHub => Answer::stream(streams::GITHUB),
            Front::OpenAi if request["stream"] != true => Answer::json(200, &streams::whole()),
            Front::OpenAi if asked.has("\"tools\":[{") => Answer::stream(streams::OPENAI_CALL),
            Front::OpenAi => Answer::stream(streams::OPENAI),
            Front::Anthropic if request["stream"] != true => Answer::json(200, &streams::message()),
            Front::Anthropic => {
                let stream = match asked.has("\"tools\":[{") {
                    true => streams::ANTHROPIC_CALL,
                    false => streams::ANTHROPIC,
                };
                Answer::stream(stream).header("x-should-retry", "false")
            }
            Front::AgUi | Front::UiStream if !request["messages"].is_array() => self.refusal(400),
            Front::AgUi => Answer::stream(&streams::ag_ui(&request)),
            Front::UiStream => Answer::stream(&streams::ui_stream(&request))
                .header("x-vercel-ai-ui-message-stream", "v1"),
            _ if asked.has("_meiliAppendConversationMessage") => {
                Answer::stream(&streams::searches())
            }
            _ => Answer::stream(streams::MEILISEARCH),
        }
    }
}

#[async_trait]
impl Endpoint for Script {
    async fn call(&self, request: Request<Bytes>) -> Result<Response<EndpointBody>, EndpointError> {
        let asked = Asked {
            request: &request,
            left: self.left.load(Ordering::Relaxed),
        };
        let answer = (self.fault)(&asked, self.good(&asked));
        match answer.head {
            Head::AtOnce => {}
            // Every timer rings at its second poll: this is longer than the first, and no longer.
            Head::Late => {
                yield_now().await;
                yield_now().await;
            }
            Head::Never => std::future::pending().await,
            Head::Failed => return Err(EndpointError::new("connection refused")),
        }
        let body = ScriptBody {
            waits: 0,
            pieces: answer.body.into_iter().collect(),
            left: Arc::clone(&self.left),
        };
        let mut response = Response::new(Box::pin(body) as EndpointBody);
        *response.status_mut() = answer.status;
        *response.headers_mut() = answer.headers;
        Ok(response)
    }

    /// Time passes as soon as there is nothing else to do.
    async fn sleep(&self, _: Duration) {
        yield_now().await;
    }
}

fn signer() -> RequestSigner {
    RequestSigner::from_seed(b"script")
}

async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

struct ScriptBody {
    /// The number of times that it returned `Pending`.
    waits: usize,
    pieces: std::collections::VecDeque<Piece>,
    left: Arc<AtomicUsize>,
}

impl Stream for ScriptBody {
    type Item = Result<Bytes, EndpointError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.pieces.pop_front() {
            // Every timer rings at its second poll.
            Some(Piece::Late) => {
                self.waits += 1;
                if self.waits % 2 == 1 {
                    self.pieces.push_front(Piece::Late);
                }
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            None => Poll::Ready(None),
            Some(Piece::Bytes(bytes)) => Poll::Ready(Some(Ok(bytes))),
            Some(Piece::Failed) => Poll::Ready(Some(Err(EndpointError::new("reset")))),
            Some(Piece::Never) => {
                self.pieces.push_front(Piece::Never);
                Poll::Pending
            }
            Some(Piece::Forever(bytes)) => {
                self.pieces.push_front(Piece::Forever(bytes));
                Poll::Ready(Some(Ok(Bytes::from_static(bytes))))
            }
        }
    }
}

impl Drop for ScriptBody {
    fn drop(&mut self) {
        if !self.pieces.is_empty() {
            self.left.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Returns `true` if the request is a preflight.
pub(crate) fn is_preflight(asked: &Asked<'_>) -> bool {
    asked.request.method() == Method::OPTIONS
}

/// Returns the value of a header of a request.
pub(crate) fn says(asked: &Asked<'_>, name: &'static str) -> String {
    let value = asked.request.headers().get(HeaderName::from_static(name));
    value.map_or_else(String::new, |value| value.to_str().unwrap().to_owned())
}
