//! Meilisearch chat in tests: an emulated client, and the protocol's part of the conformance kit and the command line.

mod front_end;
mod native;
mod rules;
mod show;

pub use front_end::SearchChat;
use front_end::{MODEL, default_request};

use crate::chat_stream;
use crate::check::Rule;
use crate::{BoxError, Sample, Setup, Toolkit, in_modules};
use copilot_wire::meilisearch::Meilisearch;
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

    in_modules!();

    type FrontEnd = SearchChat;

    fn front_end(setup: &Setup<'_>) -> Result<SearchChat, BoxError> {
        let workspace = setup.workspace.as_deref().unwrap_or("default");
        let mut request = setup.read::<Self>()?.unwrap_or_else(default_request);
        request.model = setup.model(request.model, MODEL);
        Ok(SearchChat::continuing(workspace, request))
    }

    fn mount() -> impl router::Mount<Protocol = Self> {
        copilot_wire::meilisearch::Mount::new()
    }
}
