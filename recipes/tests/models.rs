//! Every agent against a scripted model.

use std::time::Duration;

use copilot_wire::openai::{Function, Model, OpenAi};
use copilot_wire::protocol::{AgentError, Protocol, ToolCall, Usage};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use copilot_wire_kit::openai::OpenAiClient;
use copilot_wire_kit::{Clock, Harness, Script, Step, ToolOutcome};
use recipes::models::async_openai_agent::AsyncOpenAiAgent;
use recipes::models::genai_agent::GenAiAgent;
use recipes::models::reqwest_agent::ReqwestAgent;
use recipes::models::rig_agent::RigAgent;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::timeout;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// Serves a model; returns its base URL.
async fn serve(model: impl Agent<OpenAi> + 'static) -> String {
    let router = Router::new().mount(Model::new("m"), model).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let app = axum::Router::new().fallback_service(router);
    tokio::spawn(async move { axum::serve(listener, app).await });
    base
}

fn client() -> OpenAiClient {
    let tools = ["get_tide", "get_wind"].map(|name| Function::new(name, "Looks it up"));
    OpenAiClient::new("analyst").tools(tools)
}

async fn try_out<A: Agent<OpenAi> + 'static>(agent: impl Fn(&str, &str) -> A) {
    let clock = Clock::new();
    let calls = ["get_tide", "get_wind"].map(|name| ToolCall::new(name, &json!({"at": "Brest"})));
    let script = Script::new(&clock)
        .turn([
            Step::text("Let me look. "),
            Step::Calls(calls.into_iter().collect::<Result<_, _>>().unwrap()),
        ])
        .turn([
            Step::Reasoning("Both are low.".into()),
            Step::text("Calm."),
            Step::Usage(Usage::new(30, 4)),
        ])
        .turn([Step::text("Half an "), Step::fail("overloaded")]);
    let base = serve(script.clone()).await;
    let mut harness = Harness::new(client(), agent(&base, "m"));
    let turn = harness.prompt("How is the sea?").await.unwrap();
    assert_eq!(turn.text(), "Let me look. ");
    let made: Vec<_> = turn
        .calls()
        .iter()
        .map(|call| (&*call.name, call.arguments.text()))
        .collect();
    let arguments = r#"{"at":"Brest"}"#;
    assert_eq!(made, [("get_tide", arguments), ("get_wind", arguments)]);

    let results = [ToolOutcome::text("low"), ToolOutcome::text("none")];
    let turn = harness.answer(results).await.unwrap();
    let shown = turn.to_string();
    assert!(shown.contains("reasoning: Both are low."), "{shown}");
    assert!(
        shown.contains("text: Calm.\nusage: 30 in, 4 out"),
        "{shown}"
    );
    let asked = script.requests();
    assert_eq!(asked[0].tools, ["get_tide", "get_wind"]);
    let results: Vec<_> = asked[1]
        .results
        .iter()
        .map(|r| (&*r.name, &*r.content))
        .collect();
    assert_eq!(results, [("get_tide", "low"), ("get_wind", "none")]);

    let turn = harness.prompt("And now?").await.unwrap();
    assert_eq!(turn.text(), "Half an ");
    assert!(turn.to_string().contains("error: "), "{turn}");
    assert!(
        script.requests()[2]
            .messages
            .iter()
            .any(|message| message.text == "Calm.")
    );

    let (left, mut leaves) = unbounded_channel();
    let base = serve(Patient(left)).await;
    let mut harness = Harness::new(client(), agent(&base, "m"));
    let turn = timeout(Duration::from_millis(500), harness.prompt("Wait")).await;
    assert!(turn.is_err(), "the model does not answer");
    drop(harness);
    timeout(PATIENCE, leaves.recv()).await.unwrap().unwrap();
}

/// A model that says a word and then nothing, until its client leaves.
struct Patient(UnboundedSender<()>);

struct Leaving(UnboundedSender<()>);

impl Drop for Leaving {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

#[async_trait]
impl<P: Protocol> Agent<P> for Patient {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let _leaving = Leaving(self.0.clone());
        reply.text("Well").await?;
        std::future::pending().await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reqwest() {
    try_out(ReqwestAgent::new).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn async_openai() {
    try_out(AsyncOpenAiAgent::new).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn genai() {
    try_out(|base, model| GenAiAgent::new(base, model).unwrap()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rig() {
    try_out(RigAgent::new).await;
}
