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

use crate::chat_stream;
use crate::check::{Exam, Judge, Rule, Stream};
use crate::{BoxError, Node, Sample, Setup, Summary, Toolkit};
use copilot_wire::meilisearch::{ChatRequest, Event, Meilisearch};
use copilot_wire::router;

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
        let front = match setup.read::<Self>()? {
            Some(request) => SearchChat::continuing(workspace, request),
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
        copilot_wire::meilisearch::Mount::new()
    }

    fn judge(judge: &mut Judge, stream: &Stream<'_>) {
        rules::judge(judge, stream);
    }

    fn check(exam: &mut Exam<'_>) -> impl Future<Output = ()> + Send {
        rules::check(exam)
    }
}
