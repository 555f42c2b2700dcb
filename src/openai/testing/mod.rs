//! OpenAI chat streams in tests: the played client, and what the conformance kit and the command
//! line know of the protocol.

mod front_end;
mod native;
mod requests;
mod rules;
mod show;

pub use front_end::OpenAiClient;

use std::error::Error;
use std::future::Future;

use http::HeaderMap;
use serde_json::Value;

use super::{ChatRequest, Decoder, Event, OpenAi};
use crate::agent::Agent;
use crate::chat_stream;
use crate::router::{MountError, Router};
use crate::testing::check::{Block, Exam, Exchange, Judge, Rule};
use crate::testing::{MissingEnd, Node, Sample, Setup, Summary, Toolkit};

impl Toolkit for OpenAi {
    const TITLE: &'static str = "Whatever reads OpenAI chat streams";

    const SAMPLE: Sample = Sample::new(
        r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f"}}]}"#,
        &["/v1/chat/completions", "/v1/models"],
        &[],
    );

    const RULES: &'static [&'static [&'static Rule]] = &[
        chat_stream::lines::RULES,
        chat_stream::chunk::RULES,
        chat_stream::complete::RULES,
        rules::RULES,
    ];

    type FrontEnd = OpenAiClient;

    fn front_end(setup: &Setup<'_>) -> Result<OpenAiClient, Box<dyn Error + Send + Sync>> {
        let mut request = match &setup.request {
            Some(body) => ChatRequest::read(body)?,
            None => ChatRequest::default(),
        };
        if let Some(model) = &setup.model {
            request.model.clone_from(model);
        }
        if request.model.is_empty() {
            request.model = "gpt-4o-mini".into();
        }
        Ok(OpenAiClient::continuing(request))
    }

    fn missing_end(decoder: &Decoder) -> Option<MissingEnd> {
        (!decoder.is_done()).then_some(MissingEnd::new(
            "the stream ends without [DONE]",
            "chunk/done",
        ))
    }

    fn describe(event: &Event) -> Summary {
        show::describe(event)
    }

    fn native(request: &ChatRequest, headers: &HeaderMap) -> Node {
        native::native(request, headers)
    }

    fn to_body(request: &ChatRequest) -> Option<Vec<u8>> {
        Some(request.to_json().into())
    }

    fn mount(router: Router, agent: impl Agent<Self> + 'static) -> Result<Router, MountError> {
        router.mount("echo", agent)
    }

    fn judge(judge: &mut Judge, exchange: &Exchange, blocks: &[Block<'_>], asked: Option<&Value>) {
        rules::judge(judge, exchange, blocks, asked);
    }

    fn check(exam: &mut Exam<'_>) -> impl Future<Output = ()> + Send {
        rules::check(exam)
    }

    fn models(path: &str) -> Option<String> {
        let base = path.strip_suffix("/chat/completions")?;
        Some(format!("{base}/models"))
    }
}
