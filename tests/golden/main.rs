//! One agent, one question, every front end: what leaves is exact to the byte, and the strictest
//! known reader of each protocol takes it.
//!
//! `GOLDEN=write cargo test --test golden` writes the streams anew.

#![cfg(all(
    feature = "ag_ui",
    feature = "anthropic",
    feature = "openbb",
    feature = "github",
    feature = "openai",
    feature = "responses",
    feature = "mcp",
    feature = "meilisearch",
    feature = "ui_stream"
))]
// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod confirmation;
#[path = "../github/debug_cli.rs"]
mod debug_cli;
#[allow(dead_code)]
#[path = "../responses/rules.rs"]
mod responses_rules;
#[path = "../openai/rules.rs"]
mod rules;
#[path = "../anthropic/strict.rs"]
mod strict;
#[allow(dead_code)]
#[path = "../github/vs_code.rs"]
mod vs_code;
#[allow(dead_code)]
#[path = "../openbb/workspace.rs"]
mod workspace;

use std::convert::Infallible;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use copilot_wire::ag_ui::AgUi;
use copilot_wire::github::Mount;
use copilot_wire::mcp::Mcp;
use copilot_wire::meilisearch::Meilisearch;
use copilot_wire::openbb::Descriptor;
use copilot_wire::protocol::{
    AgentError, Chart, ChartKind, Citation, Conversation, Env, Environment, Notice, Protocol,
    Status, Table,
};
use copilot_wire::responses::Model;
use copilot_wire::ui_stream::UiStream;
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use copilot_wire_kit::check::recorded;
use copilot_wire_kit::mcp::McpClient;
use copilot_wire_kit::{FrontEnd as _, Kit, kit};
use futures::StreamExt;
use futures::executor::block_on;
use serde_json::{Value, json};

/// A fixed time, and ids that count.
struct Fixed(AtomicU8);

impl Environment for Fixed {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_000_000)
    }

    fn random(&self, bytes: &mut [u8]) {
        bytes.fill(self.0.fetch_add(1, Ordering::Relaxed));
    }
}

/// The same agent behind every route.
fn router(agent: impl Every) -> Router {
    Router::new()
        .env(Env::new(Fixed(AtomicU8::new(1))))
        .mount(
            Descriptor::new("golden", "Golden", "Says every word"),
            agent.clone(),
        )
        .unwrap()
        .mount(Mount::unverified(), agent.clone())
        .unwrap()
        .mount(copilot_wire::openai::Model::new("golden"), agent.clone())
        .unwrap()
        .mount(Model::new("golden"), agent.clone())
        .unwrap()
        .mount(copilot_wire::meilisearch::Mount::new(), agent.clone())
        .unwrap()
        .mount(copilot_wire::anthropic::Model::new("golden"), agent.clone())
        .unwrap()
        .mount(copilot_wire::ag_ui::Mount::new(), agent.clone())
        .unwrap()
        .mount(copilot_wire::ui_stream::Mount::new(), agent)
        .unwrap()
}

/// An agent for every front end.
trait Every:
    Agent<copilot_wire::openbb::OpenBb>
    + Agent<copilot_wire::github::GitHub>
    + Agent<copilot_wire::openai::OpenAi>
    + Agent<copilot_wire::responses::Responses>
    + Agent<Meilisearch>
    + Agent<copilot_wire::anthropic::Anthropic>
    + Agent<AgUi>
    + Agent<UiStream>
    + Clone
    + 'static
{
}

impl<A> Every for A where
    A: Agent<copilot_wire::openbb::OpenBb>
        + Agent<copilot_wire::github::GitHub>
        + Agent<copilot_wire::openai::OpenAi>
        + Agent<copilot_wire::responses::Responses>
        + Agent<Meilisearch>
        + Agent<copilot_wire::anthropic::Anthropic>
        + Agent<AgUi>
        + Agent<UiStream>
        + Clone
        + 'static
{
}

/// A front end by its name: where it posts, and what its conversations look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrontEnd {
    OpenBb,
    GitHub,
    OpenAi,
    Responses,
    Meilisearch,
    Anthropic,
    AgUi,
    UiStream,
}

const FRONT_ENDS: [FrontEnd; 8] = [
    FrontEnd::OpenBb,
    FrontEnd::GitHub,
    FrontEnd::OpenAi,
    FrontEnd::Responses,
    FrontEnd::Meilisearch,
    FrontEnd::Anthropic,
    FrontEnd::AgUi,
    FrontEnd::UiStream,
];

impl FrontEnd {
    fn path(self) -> &'static str {
        match self {
            Self::OpenBb => "/v1/query",
            Self::GitHub => "/github",
            Self::OpenAi => "/v1/chat/completions",
            Self::Responses => "/v1/responses",
            Self::Meilisearch => "/chats/movies/chat/completions",
            Self::Anthropic => "/v1/messages",
            Self::AgUi => "/agui",
            Self::UiStream => "/api/chat",
        }
    }

    /// A request with messages of the user and the agent in turn, the user first.
    fn request(self, texts: &[&str]) -> Value {
        let roles = match self {
            Self::OpenBb => ["human", "ai"],
            _ => ["user", "assistant"],
        };
        let message = |(text, role)| match self {
            Self::UiStream => json!({"role": role, "parts": [{"type": "text", "text": text}]}),
            _ => json!({"role": role, "content": text}),
        };
        let messages = texts.iter().zip(roles.iter().cycle());
        let messages: Vec<Value> = messages.map(message).collect();
        match self {
            // The empty list is what tells the newest form from the oldest ones.
            Self::OpenBb => json!({"messages": messages, "workspace_options": {}, "tools": []}),
            Self::GitHub => json!({"messages": messages, "agent": "golden"}),
            Self::Responses => json!({"model": "golden", "stream": true, "input": messages}),
            Self::AgUi => json!({"threadId": "t", "runId": "r", "messages": messages}),
            Self::UiStream => json!({"id": "c", "messages": messages}),
            Self::OpenAi | Self::Meilisearch | Self::Anthropic => {
                json!({"model": "golden", "stream": true, "messages": messages})
            }
        }
    }

    fn post(self, router: &Router, request: &Value) -> String {
        let body = Bytes::from(request.to_string());
        let request = http::Request::post(self.path())
            .header("content-type", "application/json")
            .header("authorization", "Bearer test")
            .body(futures::stream::iter([Ok::<_, Infallible>(body)]))
            .unwrap();
        let response = block_on(router.handle(request));
        let (head, body) = response.into_parts();
        let frames: Vec<Bytes> = block_on(body.map(Result::unwrap).collect());
        let text = String::from_utf8(frames.concat()).unwrap();
        assert_eq!(head.status, 200, "{self:?}: {text}");
        text
    }

    /// The text that the strictest reader of the protocol shows. Panics when it takes offence.
    fn read(self, stream: &str) -> String {
        match self {
            Self::OpenBb => workspace::read(stream.as_bytes()).unwrap().text,
            Self::GitHub => {
                vs_code::read(&vs_code::relay(stream).unwrap()).unwrap();
                debug_cli::read(stream).unwrap().text
            }
            Self::Anthropic => strict::read(stream).text(),
            Self::AgUi => deltas(kit::<AgUi>(), stream, "TEXT_MESSAGE_CONTENT"),
            Self::UiStream => deltas(kit::<UiStream>(), stream, "text-delta"),
            Self::OpenAi => content(&rules::check(stream, false, rules::End::Done)),
            Self::Responses => responses_rules::check(stream, responses_rules::End::Completed).text,
            Self::Meilisearch => {
                let rest = stream.strip_suffix("data: [DONE]\n\n").unwrap();
                let frames = rest.split_inclusive("\n\n");
                let chunks = frames.map(|frame| {
                    let data = frame.strip_prefix("data: ").unwrap().trim_end();
                    serde_json::from_str(data).unwrap()
                });
                content(&chunks.collect::<Vec<Value>>())
            }
        }
    }
}

/// Returns the text of the events of one type in a stream that breaks no rule of the kit.
fn deltas(kit: Kit, stream: &str, kind: &str) -> String {
    let report = recorded(kit, stream.as_bytes());
    assert!(report.findings.is_empty(), "{report}");
    let frames = stream.split_terminator("\n\n");
    let data = frames.map(|frame| frame.strip_prefix("data: ").unwrap());
    let events = data.filter(|data| *data != "[DONE]");
    let events = events.map(|data| serde_json::from_str::<Value>(data).unwrap());
    let texts = events.filter(|event| event["type"] == kind);
    texts
        .map(|event| event["delta"].as_str().unwrap().to_owned())
        .collect()
}

fn content(chunks: &[Value]) -> String {
    let pieces = chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str());
    pieces.collect()
}

/// Says every word that does not end the turn.
#[derive(Clone)]
struct Talker;

#[async_trait]
impl<P: Protocol> Agent<P> for Talker {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let prompt = request.prompt().unwrap_or_default().into_owned();
        reply
            .status(Status::new("Looking it up").detail("symbol", "AAPL"))
            .await?;
        reply.text("You asked: ").await?;
        reply.text(&prompt).await?;
        reply
            .text(" Line \u{2028} separator, \"quotes\", \u{1F980} and\ntwo lines.\n")
            .await?;
        let rows = json!([
            {"close": 231.3, "date": "2024-10-14", "note": null},
            {"close": 233.85, "date": "2024-10-15", "note": "a | b"},
        ]);
        reply
            .table(Table::new("Prices", &rows)?.description("The latest two"))
            .await?;
        let kind = ChartKind::Line {
            x: "date".into(),
            y: vec!["close".into()],
        };
        reply.chart(Chart::new("Close", kind, &rows)?).await?;
        reply
            .error(
                Notice::new("The news feed is away.")
                    .code("feed")
                    .identifier("news"),
            )
            .await?;
        let source = Citation::new("Annual report").url("https://example.com/10-k(2024)");
        reply.cite(source.excerpt("Net sales rose.")).await?;
        reply.text("That is all.").await?;
        Ok(())
    }
}

#[test]
fn one_question_on_every_front_end() {
    for front_end in FRONT_ENDS {
        let router = router(Talker);
        let request = front_end.request(&["What about AAPL?"]);
        let stream = front_end.post(&router, &request);
        let text = front_end.read(&stream);
        assert!(
            text.contains("You asked: What about AAPL?"),
            "{front_end:?}: {text}"
        );
        assert!(text.contains("That is all."), "{front_end:?}: {text}");

        let name = format!("{front_end:?}").to_lowercase();
        let name = name
            .replace("agui", "ag-ui")
            .replace("uistream", "ui-stream");
        is_golden(&name, &stream);
    }
}

fn is_golden(name: &str, stream: &str) {
    let path = format!("{}/fixtures/golden/{name}.sse", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("GOLDEN").is_some_and(|mode| mode == "write") {
        std::fs::write(&path, stream).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    assert_eq!(stream, golden, "{name}");
}

/// A tool has no conversation in its request.
#[test]
fn the_same_question_as_a_call_of_a_tool() {
    let mount = copilot_wire::mcp::Mount::new("golden", "Says every word");
    let router = Router::new()
        .env(Env::new(Fixed(AtomicU8::new(1))))
        .mount(mount, Talker)
        .unwrap();
    let mut front_end = McpClient::new("golden");
    front_end.prompt("What about AAPL?");
    let request = front_end.request();
    let request = request.map(|body| futures::stream::iter([Ok::<_, Infallible>(body)]));
    let response = block_on(router.handle(request));
    let frames: Vec<Bytes> = block_on(response.into_body().map(Result::unwrap).collect());
    let stream = String::from_utf8(frames.concat()).unwrap();
    let report = recorded(kit::<Mcp>(), stream.as_bytes());
    assert!(report.findings.is_empty(), "{report}");
    is_golden("mcp", &stream);
}
