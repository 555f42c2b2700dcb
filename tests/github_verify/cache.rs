//! When keys are fetched, with what request, and what is answered meanwhile. Time is a number here.
//!
//! The same over a socket: serve `RequestSigner::key_document` with an `etag` from any HTTP server,
//! answer 304 when `if-none-match` has it, and give `CachedKeys::url` the address; then rotate the
//! document, and stop the server.

use std::{
    collections::VecDeque,
    error::Error,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use copilot_wire::github::verify::{CachedKeys, FetchKeys, KeyErrorKind, KeySource, Verifier};
use futures::executor::block_on;
use http::{Method, Request, Response, StatusCode, header};
use serde_json::Value;

use super::*;

pub(crate) const MINUTE: Duration = Duration::from_secs(60);
pub(crate) const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const TICK: Duration = Duration::from_millis(1);

/// A clock that stands still until it is moved.
#[derive(Clone, Default)]
pub(crate) struct Clock(Arc<AtomicU64>);

impl Clock {
    pub(crate) fn advance(&self, by: Duration) {
        self.0
            .fetch_add(u64::try_from(by.as_millis()).unwrap(), Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> impl Fn() -> Duration + Send + Sync + use<> {
        let millis = Arc::clone(&self.0);
        move || Duration::from_millis(millis.load(Ordering::Relaxed))
    }
}

/// An endpoint that answers as it is told, and not at all when it was told nothing.
#[derive(Clone, Default)]
struct Endpoint {
    answers: Arc<Mutex<VecDeque<Response<Bytes>>>>,
    requests: Arc<Mutex<Vec<Request<()>>>>,
}

impl Endpoint {
    fn answer(&self, status: u16, etag: Option<&str>, body: impl Into<Bytes>) {
        let mut response = Response::new(body.into());
        *response.status_mut() = StatusCode::from_u16(status).unwrap();
        let etag = etag.map(|etag| HeaderValue::from_str(etag).unwrap());
        response
            .headers_mut()
            .extend(etag.map(|etag| (header::ETAG, etag)));
        self.answers.lock().unwrap().push_back(response);
    }

    fn count(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    fn last(&self) -> Request<()> {
        self.requests.lock().unwrap().last().unwrap().clone()
    }

    fn last_tag(&self) -> Option<HeaderValue> {
        self.last().headers().get(header::IF_NONE_MATCH).cloned()
    }
}

#[async_trait::async_trait]
impl FetchKeys for Endpoint {
    async fn fetch(
        &self,
        request: Request<()>,
    ) -> Result<Response<Bytes>, Box<dyn Error + Send + Sync>> {
        self.requests.lock().unwrap().push(request);
        let answer = self.answers.lock().unwrap().pop_front();
        answer.ok_or_else(|| "refused: token ghu_secret".into())
    }
}

fn setup() -> (Endpoint, Clock, CachedKeys<Endpoint>) {
    let (endpoint, clock) = (Endpoint::default(), Clock::default());
    let keys = CachedKeys::new(endpoint.clone()).clock(clock.read());
    (endpoint, clock, keys)
}

fn signers() -> [RequestSigner; 2] {
    ["one", "two"].map(|seed| RequestSigner::from_seed(seed.as_bytes()))
}

fn document(signer: &RequestSigner) -> Bytes {
    RequestSigner::key_document([(signer, true)])
}

fn id(text: &str) -> KeyId {
    KeyId::new(text).unwrap()
}

fn identifiers(keys: &KeySet) -> Vec<String> {
    keys.iter()
        .map(|key| key.identifier().as_str().into())
        .collect()
}

/// The four fetches of the SDK: first, not modified, rotated, failed.
#[test]
fn the_sequence_of_the_sdk() {
    for token in [None, Some("ghu_example")] {
        let (endpoint, clock, mut keys) = setup();
        if let Some(token) = token {
            keys = keys.token(token).unwrap();
        }
        let mut held: Vec<String> = Vec::new();
        let sequence = json("key-fetch-sequence.json");
        for (at, step) in sequence["steps"].as_array().unwrap().iter().enumerate() {
            let (request, response) = (&step["request"], &step["response"]);
            let body = match &response["body"] {
                Value::Null => String::new(),
                body => body.to_string(),
            };
            let status = u16::try_from(response["status"].as_u64().unwrap()).unwrap();
            endpoint.answer(status, response["headers"]["etag"].as_str(), body);
            let wanted = held.first().map_or_else(|| id("unknown"), |held| id(held));
            let answer = block_on(keys.keys(&wanted)).unwrap();

            // What was sent.
            assert_eq!(endpoint.count(), at + 1);
            let sent = endpoint.last();
            assert_eq!(sent.method(), Method::GET);
            assert_eq!(sent.uri().host(), Some("api.github.com"));
            assert_eq!(sent.uri().path(), request["path"].as_str().unwrap());
            for (name, value) in request["headers"].as_object().unwrap() {
                if name != "authorization" || token.is_some() {
                    assert_eq!(sent.headers()[name], value.as_str().unwrap());
                }
            }
            let conditional = request["headers"].get("if-none-match").is_some();
            assert_eq!(endpoint.last_tag().is_some(), conditional);
            assert_eq!(
                sent.headers().contains_key(header::AUTHORIZATION),
                token.is_some()
            );
            let agent = sent.headers()[header::USER_AGENT].to_str().unwrap();
            assert!(agent.starts_with("copilot-wire/"));
            assert!(!format!("{sent:?}").contains("ghu_example"));

            // What is held: the keys of the SDK, and after the failure those from before.
            if let Some(keys) = step["sdk"]["result"]["keys"].as_array() {
                let identifier = |key: &Value| key["key_identifier"].as_str().unwrap().into();
                held = keys.iter().map(identifier).collect();
            }
            assert_eq!(identifiers(&answer), held);
            if at < 3 {
                clock.advance(HOUR);
            }
        }
        assert_eq!((endpoint.count(), held.len()), (4, 2));
        // After a failure nothing can be said about a key that is not known.
        let error = block_on(keys.keys(&id("unknown"))).unwrap_err();
        assert_eq!(
            error.kind(),
            KeyErrorKind::Status(StatusCode::INTERNAL_SERVER_ERROR)
        );
        assert_eq!(endpoint.count(), 4);
    }
}

#[test]
fn known_keys_are_fetched_once_an_age() {
    let (endpoint, clock, keys) = setup();
    let [one, _] = signers();
    let ask = || block_on(keys.keys(one.identifier())).unwrap();
    endpoint.answer(200, Some("\"a\""), document(&one));
    for _ in 0..60 {
        assert_eq!(identifiers(&ask()), [one.identifier().as_str()]);
        assert_eq!(endpoint.count(), 1);
        clock.advance(MINUTE);
    }
    endpoint.answer(304, None, "");
    ask();
    assert_eq!(endpoint.count(), 2);
    assert_eq!(endpoint.last_tag().unwrap(), "\"a\"");
    clock.advance(HOUR - TICK);
    ask();
    assert_eq!(endpoint.count(), 2, "304 makes the keys young again");
    clock.advance(TICK);
    endpoint.answer(200, None, document(&one));
    ask();
    assert_eq!(endpoint.last_tag().unwrap(), "\"a\"", "304 leaves the tag");
    clock.advance(HOUR);
    endpoint.answer(200, None, document(&one));
    ask();
    assert_eq!(endpoint.count(), 4);
    assert_eq!(endpoint.last_tag(), None, "the answer before had no tag");
}

#[test]
fn unknown_identifiers_cause_no_more_fetches() {
    let (endpoint, clock, keys) = setup();
    let [one, two] = signers();
    let verifier = Verifier::new(keys);
    let verify = |headers: &HeaderMap| {
        let verdict = block_on(verifier.verify(Bytes::from_static(BODY), headers));
        verdict.map(drop).map_err(|error| error.kind())
    };
    endpoint.answer(200, Some("\"a\""), document(&one));
    for number in 0..200 {
        let name = format!("stranger-{number}");
        let stranger = headers(HeaderPair::Newer, &name, &one.signature(BODY));
        assert_eq!(verify(&stranger), Err(Kind::UnknownKeyIdentifier));
    }
    assert_eq!(verify(&one.sign(BODY)), Ok(()));
    assert_eq!(endpoint.count(), 1);

    // A key that is published meanwhile is found once the interval is over.
    clock.advance(MINUTE - TICK);
    assert_eq!(verify(&two.sign(BODY)), Err(Kind::UnknownKeyIdentifier));
    assert_eq!(endpoint.count(), 1);
    clock.advance(TICK);
    endpoint.answer(200, Some("\"b\""), document(&two));
    assert_eq!(verify(&two.sign(BODY)), Ok(()));
    // And one that is no longer listed is refused from then on.
    assert_eq!(verify(&one.sign(BODY)), Err(Kind::UnknownKeyIdentifier));
    assert_eq!(endpoint.count(), 2);
}

#[test]
fn a_request_of_the_wrong_form_fetches_nothing() {
    let (endpoint, _, keys) = setup();
    let verifier = Verifier::new(keys);
    for (body, headers, expected) in [
        ("", signers()[0].sign(b""), Kind::EmptyBody),
        ("{}", HeaderMap::new(), Kind::MissingSignature),
        (
            "{}",
            headers(HeaderPair::Newer, "", "MAA="),
            Kind::MissingKeyIdentifier,
        ),
        (
            "{}",
            headers(HeaderPair::Newer, "a b", "MAA="),
            Kind::UnknownKeyIdentifier,
        ),
        (
            "{}",
            headers(HeaderPair::Newer, "a", "MAA="),
            Kind::MalformedSignature,
        ),
    ] {
        let refused = block_on(verifier.verify(body.into(), &headers)).unwrap_err();
        assert_eq!(refused.kind(), expected);
    }
    assert_eq!(endpoint.count(), 0);
}

#[test]
fn a_failed_fetch_is_503_unless_the_key_is_known() {
    let (endpoint, clock, keys) = setup();
    let [one, two] = signers();
    let verifier = Verifier::new(keys);
    let verify = |signer: &RequestSigner| {
        block_on(verifier.verify(Bytes::from_static(BODY), &signer.sign(BODY)))
    };

    // Nothing is known, and the endpoint does not answer. Once a minute it is asked.
    for _ in 0..5 {
        let error = verify(&one).unwrap_err();
        assert_eq!(
            (error.kind(), error.status().as_u16()),
            (Kind::KeysUnavailable, 503)
        );
        let source = error.source().unwrap();
        assert!(!format!("{error} {error:?} {source} {source:?}").contains("ghu_secret"));
        let words = source.source().unwrap().to_string();
        assert!(
            words.contains("ghu_secret"),
            "the client's own words are kept"
        );
    }
    assert_eq!(endpoint.count(), 1);
    clock.advance(MINUTE);
    endpoint.answer(200, None, document(&one));
    assert!(verify(&one).is_ok());

    // The key is known but old: it serves for a day more. The endpoint is asked once a minute.
    clock.advance(HOUR);
    for _ in 0..5 {
        assert!(verify(&one).is_ok());
        assert_eq!(verify(&two).unwrap_err().kind(), Kind::KeysUnavailable);
    }
    assert_eq!(endpoint.count(), 3);
    clock.advance(DAY - TICK);
    assert!(verify(&one).is_ok());
    clock.advance(TICK);
    assert_eq!(
        verify(&one).unwrap_err().kind(),
        Kind::KeysUnavailable,
        "but not for ever"
    );
    assert_eq!(endpoint.count(), 4);
    clock.advance(MINUTE);
    endpoint.answer(200, None, document(&one));
    assert!(verify(&one).is_ok());
}

#[test]
fn an_answer_without_keys_leaves_those_at_hand() {
    let [one, _] = signers();
    let status = |code| KeyErrorKind::Status(StatusCode::from_u16(code).unwrap());
    for (code, body, expected) in [
        (200, "", KeyErrorKind::Document),
        (200, "{}", KeyErrorKind::Document),
        (200, r#"{"public_keys":null}"#, KeyErrorKind::Document),
        (200, "<html>", KeyErrorKind::Document),
        (204, "", status(204)),
        (301, "", status(301)),
        (403, r#"{"public_keys":[]}"#, status(403)),
        (429, "", status(429)),
        (500, r#"{"message":"boom"}"#, status(500)),
    ] {
        let (endpoint, clock, keys) = setup();
        endpoint.answer(200, Some("W/\"a\""), document(&one));
        block_on(keys.keys(one.identifier())).unwrap();
        clock.advance(HOUR);
        endpoint.answer(code, Some("\"wrong\""), body);
        assert_eq!(
            block_on(keys.keys(&id("unknown"))).unwrap_err().kind(),
            expected
        );
        assert_eq!(block_on(keys.keys(one.identifier())).unwrap().len(), 1);
        // The entity tag is still the one of the keys at hand.
        clock.advance(MINUTE);
        endpoint.answer(304, None, "");
        block_on(keys.keys(&id("unknown"))).unwrap();
        assert_eq!(endpoint.last_tag().unwrap(), "W/\"a\"");
    }
    // "Not modified" means nothing to whoever has nothing.
    let (endpoint, _, keys) = setup();
    endpoint.answer(304, Some("\"a\""), "");
    assert_eq!(
        block_on(keys.keys(one.identifier())).unwrap_err().kind(),
        status(304)
    );
}

#[test]
fn settings() {
    let (endpoint, clock, keys) = setup();
    let [old, new] = signers();
    let keys = keys
        .url("http://127.0.0.1:8080/keys".parse().unwrap())
        .user_agent(HeaderValue::from_static("agent/1"))
        .max_age(10 * MINUTE)
        .max_stale(Duration::ZERO)
        .min_interval(5 * MINUTE)
        .current_only()
        .token("ghu_example")
        .unwrap();
    assert!(!format!("{keys:?}").contains("ghu_example"));
    endpoint.answer(
        200,
        None,
        RequestSigner::key_document([(&old, false), (&new, true)]),
    );
    let held = block_on(keys.keys(old.identifier())).unwrap();
    assert_eq!(identifiers(&held), [new.identifier().as_str()]);
    let sent = endpoint.last();
    assert_eq!(sent.uri(), "http://127.0.0.1:8080/keys");
    assert_eq!(sent.headers()[header::USER_AGENT], "agent/1");
    assert_eq!(sent.headers()[header::AUTHORIZATION], "token ghu_example");

    // The old key becomes current again: it was unknown, so it is asked for, but not at once.
    clock.advance(5 * MINUTE - TICK);
    block_on(keys.keys(old.identifier())).unwrap();
    assert_eq!(endpoint.count(), 1);
    clock.advance(TICK);
    endpoint.answer(200, None, document(&old));
    assert_eq!(block_on(keys.keys(old.identifier())).unwrap().len(), 1);
    assert_eq!(endpoint.count(), 2);

    clock.advance(10 * MINUTE);
    assert!(block_on(keys.keys(old.identifier())).is_err(), "no grace");
    assert!(keys.token("line\nbreak").is_err());
}

#[test]
fn sources_are_shared_and_fixed_ones_need_no_endpoint() {
    let [one, two] = signers();
    let source: Arc<dyn KeySource> = Arc::new(Box::new(one.key_set()));
    let verifier = Verifier::new(source);
    let body = Bytes::from_static(BODY);
    let verified = block_on(verifier.clone().verify(body.clone(), &one.sign(BODY))).unwrap();
    assert_eq!(*verified, body);
    assert_eq!(verified.as_ptr(), body.as_ptr(), "not copied");
    let refused = block_on(verifier.verify(body, &two.sign(BODY))).unwrap_err();
    assert_eq!(refused.kind(), Kind::UnknownKeyIdentifier);
}

#[test]
fn futures_can_be_spawned() {
    fn spawn(_: impl Future + Send) {}
    let (_, _, keys) = setup();
    let (verifier, headers) = (Verifier::new(keys), HeaderMap::new());
    spawn(verifier.verify(Bytes::new(), &headers));
}
