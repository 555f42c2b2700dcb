//! Faults in a harness are in the transcript, or an error.

use std::time::Duration;

use bytes::Bytes;
use copilot_wire::openbb::OpenBb;
use copilot_wire::protocol::{AgentError, Conversation, Protocol};
use copilot_wire::{Agent, Reply, Request, async_trait};
use copilot_wire_kit::ag_ui::App;
use copilot_wire_kit::github::CopilotChat;
use copilot_wire_kit::meilisearch::SearchChat;
use copilot_wire_kit::openai::OpenAiClient;
use copilot_wire_kit::openbb::Workspace;
use copilot_wire_kit::ui_stream::ChatPage;
use copilot_wire_kit::{Clock, FrontEnd, Harness};
use futures::executor::block_on;

/// Does what it is asked.
struct Clumsy;

#[async_trait]
impl<P: Protocol> Agent<P> for Clumsy {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        reply.text("So far. ").await?;
        match request.prompt().as_deref() {
            Some("fail") => Err(AgentError::new("Too much.")),
            Some("cause") => Err(std::io::Error::other("disk full"))?,
            Some("panic") => panic!("oh"),
            _ => Ok(()),
        }
    }
}

fn faults<F: FrontEnd>(front: F, prompt: &str) -> Vec<String> {
    let mut harness = Harness::new(front, Clumsy);
    let turn = block_on(harness.prompt(prompt)).unwrap();
    assert!(turn.text().starts_with("So far. "), "{turn}");
    turn.faults().to_vec()
}

#[test]
fn a_failure_is_a_fault() {
    fn all<F: FrontEnd>(front: impl Fn() -> F) {
        assert_eq!(faults(front(), "nothing"), [""; 0]);
        assert_eq!(faults(front(), "fail"), ["the agent failed: Too much."]);
        assert_eq!(faults(front(), "cause"), ["the agent failed: disk full"]);
        assert_eq!(faults(front(), "panic"), ["the agent panicked"]);
    }
    all(Workspace::new);
    all(|| CopilotChat::new("clumsy"));
    all(|| OpenAiClient::new("m"));
    all(|| SearchChat::new("films"));
    all(ChatPage::new);
    all(App::new);
}

#[test]
fn a_request_that_is_refused_is_an_error() {
    let mut harness = Harness::new(Workspace::new(), Clumsy);
    let request = |body: &'static str| {
        let mut request = http::Request::new(Bytes::from_static(body.as_bytes()));
        *request.uri_mut() = "/v1/query".parse().unwrap();
        request
    };
    let refused = block_on(harness.send(request(r#"{"messages":[]}"#))).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "refused with 422 Unprocessable Entity: messages: must not be empty"
    );
    let refused = block_on(harness.send(request("{"))).unwrap_err();
    assert!(
        refused.to_string().starts_with("refused with 400"),
        "{refused}"
    );
}

#[test]
fn recorded_requests_play_as_well() {
    struct Echo;
    #[async_trait]
    impl Agent<OpenBb> for Echo {
        async fn answer(&self, r: Request<OpenBb>, reply: Reply<OpenBb>) -> Result<(), AgentError> {
            Ok(reply.text(&r.prompt().unwrap_or_default()).await?)
        }
    }
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/openbb");
    let mut played = 0;
    for entry in std::fs::read_dir(fixtures).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if !name.starts_with("req_") {
            continue;
        }
        let request = http::Request::new(Bytes::from(std::fs::read(&path).unwrap()));
        let turn = block_on(Harness::new(Workspace::new(), Echo).send(request));
        let turn = turn.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(turn.faults().is_empty(), "{name}: {turn}");
        assert!(
            !turn.text().is_empty() || !turn.calls().is_empty(),
            "{name}"
        );
        played += 1;
    }
    assert!(played > 20);
}

#[test]
fn a_stream_that_cannot_be_read_on_is_one_fault() {
    /// Says more in one event than a reader takes, and goes on.
    struct Loud(Clock);
    #[async_trait]
    impl<P: Protocol> Agent<P> for Loud {
        async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
            reply.text(&"la ".repeat(1024 * 1024)).await?;
            for _ in 0..3 {
                self.0.sleep(Duration::from_secs(1)).await;
                reply.text("la").await?;
            }
            Err(AgentError::new("out of breath"))
        }
    }
    let clock = Clock::new();
    let mut harness = Harness::new(Workspace::new(), Loud(clock.clone())).clock(&clock);
    let turn = block_on(harness.prompt("sing")).unwrap();
    let [stream, agent] = turn.faults() else {
        panic!("{:?}", turn.faults());
    };
    assert!(stream.contains("larger than"), "{stream}");
    assert_eq!(agent, "the agent failed: out of breath");
    assert_eq!(turn.text(), "");
}
