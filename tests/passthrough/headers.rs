//! Rate limits of a successful answer reach the client, in the names of its dialect.

use copilot_wire::protocol::{AgentError, Protocol, Refusal};
use copilot_wire::{Agent, Reply, Router, async_trait};
use http::header::{HeaderName, HeaderValue};
use http::request::Parts;
use http::{HeaderMap, Request, StatusCode};

use crate::documents::documents;
use crate::exchange::{send, whole};
use crate::streams::{CHAT, MESSAGES, RESPONSES};
use crate::{Gateway, request};

/// The headers of a server: the first ones are those of chat completions and Responses, the others those of Messages.
const SENT: [(&str, &str); 8] = [
    ("x-ratelimit-limit-requests", "60"),
    ("x-ratelimit-remaining-tokens", "149984"),
    ("x-ratelimit-reset-tokens", "6m0s"),
    ("anthropic-ratelimit-input-tokens-limit", "9"),
    ("anthropic-ratelimit-unified-5h-reset", "1764000000"),
    ("x-ratelimit-limit", "7"),
    ("retry-after", "2"),
    ("set-cookie", "secret"),
];

#[test]
fn rate_limits_of_an_answer_are_those_of_the_front_ends_dialect() {
    for (server, document) in documents() {
        for front_end in [CHAT, RESPONSES, MESSAGES] {
            for is_stream in [true, false] {
                let mut gateway = Gateway::new(server, document.to_string());
                let named = |(name, value): (&'static str, &str)| {
                    (HeaderName::from_static(name), value.parse().unwrap())
                };
                gateway.headers = SENT.into_iter().map(named).collect::<HeaderMap>();
                let body = request(front_end, is_stream).to_string();
                let (head, body) = send(&gateway.router(), Request::post(front_end), body)
                    .map(whole)
                    .into_parts();
                let place = format!("{server} {front_end} {is_stream}: {body}");
                assert_eq!(head.status, 200, "{place}");
                let renamed = match front_end {
                    MESSAGES => [
                        "anthropic-ratelimit-requests-limit",
                        "anthropic-ratelimit-tokens-remaining",
                        "anthropic-ratelimit-input-tokens-limit",
                    ],
                    _ => [
                        "x-ratelimit-limit-requests",
                        "x-ratelimit-remaining-tokens",
                        "x-ratelimit-limit-input-tokens",
                    ],
                };
                let expected = renamed.into_iter().zip(["60", "149984", "9"]);
                // The time of a reset has another form in each dialect.
                let kept = [SENT[2], SENT[4], SENT[5], SENT[6]];
                for (name, value) in expected.clone().chain(kept) {
                    assert_eq!(head.headers[name], value, "{name}: {place}");
                }
                let count = head
                    .headers
                    .keys()
                    .filter(|it| it.as_str().contains("rate"));
                assert_eq!(count.count(), 6, "{:?}: {place}", head.headers);
                assert!(!head.headers.contains_key("set-cookie"), "{place}");
            }
        }
    }
}

/// The names of more headers than a response can have.
fn names() -> impl Iterator<Item = HeaderName> {
    (0..40_000).map(|at| HeaderName::try_from(format!("x-{at}")).unwrap())
}

/// Sets headers, and fails with them if `true`.
struct Headers(bool);

#[async_trait]
impl<P: Protocol> Agent<P> for Headers {
    async fn answer(&self, _: copilot_wire::Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let value = HeaderValue::from_static("1");
        if self.0 {
            let error = AgentError::new("away");
            return Err(names().fold(error, |error, name| error.header(name, value.clone())));
        }
        names().for_each(|name| reply.header(name, value.clone()));
        Ok(reply.text("a").await?)
    }
}

#[test]
fn of_too_many_headers_the_first_ones_are_sent() {
    let refuse = async |_: Parts| {
        let refusal = Refusal::new(StatusCode::BAD_REQUEST, "no");
        let value = HeaderValue::from_static("1");
        Err::<Parts, _>(names().fold(refusal, |refusal, name| refusal.header(name, value.clone())))
    };
    let router = |fails| Router::new().mount_model("m", Headers(fails)).unwrap();
    for (router, is_answered) in [
        (router(false), true),
        (router(true), false),
        (router(false).guard(refuse), false),
    ] {
        for path in [CHAT, RESPONSES, MESSAGES] {
            for is_stream in [true, false] {
                let body = request(path, is_stream).to_string();
                let (head, body) = send(&router, Request::post(path), body)
                    .map(whole)
                    .into_parts();
                assert_eq!(head.status.is_success(), is_answered, "{path}: {body}");
                assert!((100..120).contains(&head.headers.len()), "{path}: {body}");
                assert_eq!(head.headers["x-99"], "1", "{path}");
                assert!(!head.headers.contains_key("x-100"), "{path}");
            }
        }
    }
}
