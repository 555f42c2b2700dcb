//! Meilisearch chat in tests: a simulated client, and the protocol's part of the conformance kit
//! and the command line.

mod front_end;
mod native;
mod rules;
mod show;

pub use front_end::SearchChat;

use std::future::Future;

use bytes::Bytes;
use http::HeaderMap;

use super::{ChatRequest, Decoder, Event, Meilisearch, Outcome};
use crate::chat_stream;
use crate::router;
use crate::testing::check::{Exam, Judge, Rule, Stream};
use crate::testing::{BoxError, MissingEnd, Node, Sample, Setup, Summary, Toolkit};

/// The error for a stream without its last event.
const NOT_DONE: MissingEnd = MissingEnd::new("the stream ends without [DONE]", "chunk/done");

/// The error for a stream whose last round has no finish reason.
const NOT_FINISHED: MissingEnd = MissingEnd::new(
    "the answer did not end: no finish reason came",
    "chunk/finish-reason",
);

impl Toolkit for Meilisearch {
    const TITLE: &'static str = "Meilisearch chat";

    const SAMPLE: Sample = Sample::new(
        r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"_meiliSearchProgress"}}]}"#,
        &[
            "/chats/main/chat/completions",
            "/chats/%6dain%2f%ff/chat/completions",
        ],
        &[],
    );

    const RULES: &'static [&'static [&'static Rule]] = &[
        chat_stream::lines::RULES,
        chat_stream::chunk::RULES,
        chat_stream::complete::RULES,
        rules::RULES,
    ];

    // The server sends a `retry`, and its documentation has notifications in fragments.
    const TOLERATED: &'static [&'static str] = &[
        "sse/retry",
        "meilisearch/notification",
        "meilisearch/foreign-call",
    ];

    type FrontEnd = SearchChat;

    fn front_end(setup: &Setup<'_>) -> Result<SearchChat, BoxError> {
        let workspace = setup.workspace.as_deref().unwrap_or("default");
        let front = match &setup.request {
            Some(body) => SearchChat::continuing(workspace, ChatRequest::read(body)?),
            None => SearchChat::new(workspace),
        };
        Ok(match &setup.model {
            Some(model) => front.model(model),
            None => front,
        })
    }

    fn describe(event: &Event) -> Summary {
        show::describe(event)
    }

    fn native(request: &ChatRequest, headers: &HeaderMap) -> Node {
        native::native(request, headers)
    }

    fn to_body(request: &ChatRequest) -> Option<Bytes> {
        Some(request.to_json())
    }

    fn mount() -> impl router::Mount<Protocol = Self> {
        super::Mount::new()
    }

    fn judge(judge: &mut Judge, stream: &Stream<'_>) {
        rules::judge(judge, stream);
    }

    fn check(exam: &mut Exam<'_>) -> impl Future<Output = ()> + Send {
        rules::check(exam)
    }

    fn missing_end(decoder: &Decoder) -> Option<MissingEnd> {
        match decoder.outcome() {
            Outcome::Truncated => Some(NOT_DONE),
            Outcome::Incomplete => Some(NOT_FINISHED),
            _ => None,
        }
    }
}
