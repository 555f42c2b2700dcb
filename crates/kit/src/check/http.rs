//! Checks for all endpoints: heads, refusals, timing, and disconnects.

use bytes::Bytes;
use copilot_wire::protocol::Framing;
use http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, SERVER};
use http::{HeaderName, Method, StatusCode};
use serde_json::Value;

use super::blocks::Lines;
use super::exam::{Exam, Stream, Trial};
use super::exchange::{End, Exchange, NoAnswer};
use super::judge::Judge;
use super::rule::Rule;
use super::{pace, question, read};
use crate::rules;

rules! {
    UNREACHABLE = Error "http/unreachable",
        "every request gets a response",
        "front ends show a network failure, without a reason",
        "keep the connection open until the response is complete; look for a crash in the log";
    SERVER_ERROR = Warning "http/server-error",
        "no request is answered with a status of 500 or more",
        "the Workspace marks the message as failed and drops the body; clients of models try again, and pay again",
        "read leniently, refuse what is wrong with 4xx, and tell later failures in the stream";
    CONTENT_TYPE_IS = Error "http/content-type",
        "a stream is `text/event-stream`, or `application/x-ndjson` if it consists of lines, with `charset=utf-8` at most",
        "the Workspace shows the body of any other type as it is, and proxies compress or buffer it",
        "send `content-type: text/event-stream`, or `application/x-ndjson` for lines";
    CACHE = Warning "http/cache-control",
        "a stream is sent with `no-cache` or `no-store`",
        "caches and CDNs may keep the answer, or hold it back until it is complete",
        "send `cache-control: no-cache, no-transform`";
    LENGTH = Error "http/content-length",
        "a stream has no `content-length`",
        "the whole answer was there before the first byte left: the user waits, and sees it all at once",
        "send each event as it is said";
    ENCODING = Error "http/content-encoding",
        "a stream is not compressed",
        "compressors hold events back; `gh models` and other plain readers do not decompress",
        "leave streams out of the compression layer, or send `content-encoding: identity`";
    BUFFERING = Warning "http/accel-buffering",
        "a stream is sent with `x-accel-buffering: no`",
        "nginx holds responses back by default: the answer arrives in lumps",
        "send `x-accel-buffering: no`";
    SILENCE = Error "http/silence",
        "no silence is longer than twenty seconds",
        "load balancers and proxies cut idle connections, some after thirty seconds; a dead client is noticed by writing only",
        "send a comment, `: ping` and a blank line, after fifteen seconds of silence, or an event that says nothing where there are no comments";
    CUT = Error "http/cut",
        "a stream ends in the way of its transport",
        "the front end reports a network failure, whatever was said before",
        "catch the failure of the agent, tell it in the stream, and end the body";
    ENDLESS = Error "http/endless",
        "an answer ends: within five minutes, and 16 MiB",
        "the chat stays busy, and the user cannot go on",
        "end the body when the turn is over";
    BAD_JSON = Error "http/bad-json",
        "a body that is no JSON is refused with 4xx",
        "nobody finds out what is wrong with the request",
        "answer 400 before the stream begins";
    REFUSAL = Warning "http/refusal",
        "a refusal is JSON",
        "clients of models look for `error.message`; others show the body in the console",
        "send `application/json` with a sentence and the place of the fault";
    METHOD = Warning "http/method",
        "another method is answered with 405",
        "people who try the address in a browser are told that there is nothing",
        "answer 405 with `allow`";
    UNKNOWN_PATH = Warning "http/unknown-path",
        "an unknown path is answered with 404",
        "a mistake in the address looks like a fault of the agent; `copilots.json` is looked for on a 404 of `agents.json`",
        "answer 404";
    OVERSIZED = Warning "http/oversized",
        "a body of 48 MiB is refused with 4xx",
        "a few such requests fill the memory",
        "limit request bodies, to 32 MiB say: nine are real in the Workspace";
    DENIED = Error "http/denied",
        "the requests of the front end are not refused with 401, 403, 404 or 405",
        "every message is shown as failed",
        "check the URL and the model, and send the key that the endpoint needs: `wire check --header`, or `Target::header`";
    CONFIGURED = Warning "http/configured",
        "not every answer is about an API key",
        "users read how to configure the agent in place of an answer, and little else could be checked",
        "configure the agent, and check it again";
    DISCONNECT = Error "http/disconnect",
        "the endpoint answers after clients have left in the middle of a stream",
        "the agent of a client that left blocks or ends the server",
        "end the agent when a write fails, and never wait for it while others wait";
}

/// The header that turns off nginx's buffering.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The size in bytes of the upload that must be refused.
const OVERSIZED_BYTES: usize = 48 * 1024 * 1024;

/// The number of bytes of an answer that are searched for the words of a missing key.
const BEGINNING: usize = 4096;

/// The number of consecutive requests without a response, with a response that does not end, or with a refusal, after
/// which requests are skipped.
const GONE: usize = 3;

/// The number of requests of [`Exam::rest`].
pub(super) const REQUESTS: usize = 9;

impl Exam<'_> {
    /// Sends a request. Returns `None`, with a finding, if there is no answer; and without one, if the endpoint was
    /// given up.
    pub async fn ask(&mut self, name: &str, request: http::Request<Bytes>) -> Option<Exchange> {
        if gone(self.judge) {
            self.judge.skipped.push(name.into());
            return None;
        }
        let answer = self.asker.ask(name, request).await;
        let judge = &mut *self.judge;
        // One answer shows that the endpoint is running, so only consecutive failures give it up.
        judge.unanswered = match answer {
            Ok(_) => 0,
            Err(_) => judge.unanswered + 1,
        };
        let silent = matches!(answer, Err(NoAnswer::Silent));
        judge.expect(&SILENCE, !silent, name, "no head");
        match answer {
            Ok(exchange) => {
                judge.expect(&UNREACHABLE, true, name, "");
                let failed = exchange.head.status.is_server_error()
                    // 501 is a refusal, not a failure of the server.
                    && exchange.head.status != StatusCode::NOT_IMPLEMENTED;
                judge.expect_answer(&SERVER_ERROR, !failed, &exchange);
                Some(exchange)
            }
            Err(NoAnswer::Failed(error)) => {
                judge.expect(&UNREACHABLE, false, name, error.to_string());
                None
            }
            Err(NoAnswer::Silent) => None,
        }
    }

    /// Posts a request that the agent answers. Nothing more is posted after three consecutive answers without an end,
    /// as each would run into the timeout. Returns `None` without an answer, and for a refusal that is about the
    /// address or the key if no request was answered yet: that is one finding, not one for each rule.
    pub async fn ask_agent(&mut self, path: &str, trial: &Trial) -> Option<Exchange> {
        let Trial { name, body, .. } = trial;
        if self.judge.endless >= GONE {
            self.judge.skipped.push(name.into());
            return None;
        }
        let exchange = self.ask(name, self.post(path, body.clone())).await?;
        self.judge.endless = match exchange.end {
            End::Silent | End::Endless => self.judge.endless + 1,
            End::Clean | End::Cut(_) => 0,
        };
        if exchange.is_ok() {
            self.judge.answered = true;
            match mentions_key(&exchange.body) {
                true => self.judge.about_key = Some(exchange.evidence()),
                false => self.judge.configured = true,
            }
        } else if !self.judge.answered && self.is_denied(exchange.head.status) {
            self.judge.denied += 1;
            // A query may contain a secret.
            let path = path.split('?').next().unwrap_or_default();
            let evidence = [format!("POST {path}: ").into_bytes(), exchange.evidence()].concat();
            self.judge.expect(&DENIED, false, name, evidence);
            return None;
        }
        self.judge.expect(&DENIED, true, name, "");
        self.judge.denied = 0;
        Some(exchange)
    }

    /// Returns `true` if a status is about the address or the key rather than the content of a request.
    /// For front ends that sign, 401 and 403 are covered by their rules for signatures.
    fn is_denied(&self, status: StatusCode) -> bool {
        match status {
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => true,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => !self.signs(),
            _ => false,
        }
    }

    /// Checks that a request was answered, and checks the stream by the rules for all protocols. Returns the stream,
    /// or `None` if the status is not 200.
    pub fn answered<'e>(&mut self, trial: &Trial, exchange: &'e Exchange) -> Option<Stream<'e>> {
        self.expect_answer(trial, exchange);
        exchange.is_ok().then(|| {
            let framing = self.kit.framing;
            let blocks = read(self.judge, framing, exchange);
            stream(self.judge, framing, exchange, &blocks);
            let kit = self.kit;
            question::judge(self.judge, kit, exchange);
            let asked = Some(trial.json());
            Stream {
                exchange,
                blocks,
                asked,
            }
        })
    }

    /// Sends recorded requests, and checks that they are answered. `stream` judges each stream. With `whole`, the
    /// answer to a request without `stream: true` is one document, which `whole` judges.
    pub async fn replay(
        &mut self,
        path: &str,
        requests: &[Trial],
        stream: impl Fn(&mut Judge, &Stream<'_>) + Send,
        whole: Option<fn(&mut Judge, &Exchange)>,
    ) {
        for trial in requests {
            let Some(exchange) = self.ask_agent(path, trial).await else {
                continue;
            };
            let is_stream = || trial.json().get("stream") == Some(&Value::Bool(true));
            match whole.filter(|_| !is_stream()) {
                None => {
                    if let Some(answer) = self.answered(trial, &exchange) {
                        stream(self.judge, &answer);
                    }
                }
                Some(whole) => {
                    self.expect_answer(trial, &exchange);
                    if exchange.is_ok() {
                        whole(self.judge, &exchange);
                    }
                }
            }
        }
    }

    fn expect_answer(&mut self, trial: &Trial, exchange: &Exchange) {
        if let Some(rule) = trial.rule {
            self.judge.expect_answer(rule, exchange.is_ok(), exchange);
        }
    }

    /// Posts a request that is a list. If the answer is a client error, it must satisfy `rule`, which `holds` checks.
    pub async fn refusal(
        &mut self,
        path: &str,
        rule: &'static Rule,
        holds: impl FnOnce(&Exchange) -> bool,
    ) {
        let name = "a request that is a list";
        if let Some(answer) = self.ask(name, self.post(path, "[]")).await {
            let holds = !answer.head.status.is_client_error() || holds(&answer);
            self.judge.expect_answer(rule, holds, &answer);
        }
    }

    /// Sets the model of requests: that of the target, else the first one in the list at the path `list`, else
    /// `default`. With a `rule`, the list is always requested, and must have a model.
    pub async fn with_model(
        &mut self,
        requests: Vec<Trial>,
        list: Option<String>,
        rule: Option<&'static Rule>,
    ) -> Vec<Trial> {
        let wanted = self.model().map(str::to_owned);
        let listed = match (&wanted, rule) {
            (Some(_), None) => None,
            _ => self.first_model(list, rule).await,
        };
        let model = wanted.or(listed).unwrap_or_else(|| "default".to_owned());
        let requests = requests.into_iter();
        requests.map(|request| request.model(&model)).collect()
    }

    async fn first_model(
        &mut self,
        path: Option<String>,
        rule: Option<&'static Rule>,
    ) -> Option<String> {
        let path = path?;
        self.plan(1);
        let name = "the list of models";
        let request = self.request(Method::GET, &path, Bytes::new());
        let answer = self.ask(name, request).await?;
        let document = answer.json();
        let first = document.pointer("/data/0/id").and_then(Value::as_str);
        if let Some(rule) = rule {
            self.judge.expect_answer(rule, first.is_some(), &answer);
        }
        first.map(str::to_owned)
    }

    /// Sends requests that must be refused, and disconnects in the middle of answers. `sample` is a valid
    /// request body.
    pub async fn rest(&mut self, path: &str, sample: &Bytes) {
        for (name, body) in [
            ("an empty body", ""),
            ("half a JSON body", "{\"messages\":["),
        ] {
            let Some(answer) = self.ask(name, self.post(path, body)).await else {
                continue;
            };
            let status = answer.head.status;
            let refused = status.is_client_error() || status.is_server_error();
            self.judge.expect_answer(&BAD_JSON, refused, &answer);
            if self.refuses_with_json() {
                let json = answer.is("application/json") && is_json(&answer.body);
                // An endpoint does not choose the form of a 5xx: another rule reports it.
                let deliberate = status.is_client_error();
                let right = json || !deliberate;
                self.judge.expect_answer(&REFUSAL, right, &answer);
            }
        }
        // This request needs no signature: an endpoint refuses the method before it reads the body.
        let put = self.request(Method::PUT, path, sample.clone());
        let unknown = self.post("/there-is-no-such-path", sample.clone());
        if let Some(answer) = self.ask("PUT instead of POST", put).await {
            let told = answer.head.status == StatusCode::METHOD_NOT_ALLOWED;
            self.judge.expect_answer(&METHOD, told, &answer);
        }
        if let Some(answer) = self.ask("an unknown path", unknown).await {
            let told = answer.head.status == StatusCode::NOT_FOUND;
            self.judge.expect_answer(&UNKNOWN_PATH, told, &answer);
        }
        let late = ["48 MiB", "a client after three that left"];
        if gone(self.judge) {
            self.judge.skipped.extend(late.map(str::to_owned));
            return;
        }
        let [name, after] = late;
        // A server may close the connection on a body that it refuses to read: that counts as a refusal.
        let request = self.post(path, oversized(sample));
        // Sent without `Exam::ask`, which would report a broken connection as a missing response.
        if let Ok(answer) = self.asker.ask(name, request).await {
            let refused = answer.head.status.is_client_error();
            self.judge.expect_answer(&OVERSIZED, refused, &answer);
        }
        if self.judge.answered {
            let (configured, at) = (self.judge.configured, "every request");
            let evidence = self.judge.about_key.take().unwrap_or_default();
            self.judge.expect(&CONFIGURED, configured, at, evidence);
        }
        for _ in 0..3 {
            // The request after the loop checks the effect of these disconnects.
            let request = self.post(path, sample.clone());
            let _ = self.asker.leave("a client that leaves", request).await;
        }
        let request = self.post(path, sample.clone());
        let answer = self.asker.ask(after, request).await;
        let (alive, evidence) = match answer {
            Ok(answer) => (answer.head.status.is_success(), answer.evidence()),
            Err(NoAnswer::Failed(error)) => (false, error.to_string().into_bytes()),
            Err(NoAnswer::Silent) => (false, b"no head".to_vec()),
        };
        self.judge.expect(&DISCONNECT, alive, after, evidence);
    }
}

/// Returns `true` if the endpoint was given up.
fn gone(judge: &Judge) -> bool {
    judge.unanswered >= GONE || judge.denied >= GONE
}

/// Checks the head of a stream, its timing and its end.
fn stream(judge: &mut Judge, framing: Framing, exchange: &Exchange, blocks: &[Lines<'_>]) {
    pace::judge(judge, exchange, blocks);
    let at = &*exchange.name;
    let value = |name: &HeaderName| {
        let value = exchange.header(name).unwrap_or_default();
        value.to_ascii_lowercase()
    };
    let shown = |name: &HeaderName| [name.as_str().as_bytes(), b": ", &value(name)].concat();
    let has = |name: &HeaderName, word: &str| {
        let value = String::from_utf8_lossy(&value(name)).into_owned();
        value.split(',').any(|part| part.trim() == word)
    };
    let kind = value(&CONTENT_TYPE);
    // Servers write the parameter with and without a space after the semicolon.
    let kind: Vec<u8> = kind.into_iter().filter(|byte| *byte != b' ').collect();
    let rest = kind.strip_prefix(framing.content_type().as_bytes());
    let right = matches!(rest, Some(b"" | b";charset=utf-8"));
    judge.expect(&CONTENT_TYPE_IS, right, at, shown(&CONTENT_TYPE));
    let uncached = has(&CACHE_CONTROL, "no-cache") || has(&CACHE_CONTROL, "no-store");
    judge.expect(&CACHE, uncached, at, shown(&CACHE_CONTROL));
    let open = exchange.header(CONTENT_LENGTH).is_none();
    judge.expect(&LENGTH, open, at, shown(&CONTENT_LENGTH));
    let encoding = value(&CONTENT_ENCODING);
    let plain = matches!(&*encoding, b"" | b"identity");
    judge.expect(&ENCODING, plain, at, shown(&CONTENT_ENCODING));
    // nginx removes the header from the response.
    if !value(&SERVER).starts_with(b"nginx") {
        let unbuffered = has(&X_ACCEL_BUFFERING, "no");
        judge.expect(&BUFFERING, unbuffered, at, shown(&X_ACCEL_BUFFERING));
    }
    let cut = match &exchange.end {
        End::Cut(error) => Some(error.to_string()),
        _ => None,
    };
    judge.expect(&CUT, cut.is_none(), at, cut.unwrap_or_default());
    let is_silent = matches!(exchange.end, End::Silent);
    judge.expect(&SILENCE, !is_silent, at, exchange.last());
    let is_endless = matches!(exchange.end, End::Endless);
    judge.expect(&ENDLESS, !is_endless, at, exchange.last());
}

/// Returns `true` if an answer begins with the words of an agent that lacks its own key.
fn mentions_key(body: &[u8]) -> bool {
    let body = body.iter().take(BEGINNING).copied().collect::<Vec<_>>();
    let body = body.to_ascii_lowercase();
    let has = |word: &[u8]| body.windows(word.len()).any(|bytes| bytes == word);
    has(b"api key") || has(b"api_key") || has(b"apikey")
}

fn is_json(body: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok()
}

/// Creates a valid body after so much white space that it must be refused.
fn oversized(sample: &Bytes) -> Bytes {
    // White space is legal before JSON, so only the size can be the reason to refuse it.
    let mut body = vec![b' '; OVERSIZED_BYTES];
    body.extend_from_slice(sample);
    body.into()
}
