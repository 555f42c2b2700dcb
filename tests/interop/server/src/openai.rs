//! One model for each situation that a client can meet.

use std::time::Duration;

use copilot_wire::openai::{
    ChatCompletionChunk, Choice, Delta, Ending, FinishReason, Logprobs, Model, OpenAi, Relay,
    TokenLogprob, ToolCall, ToolCallDelta, Usage,
};
use copilot_wire::protocol::{
    self, AgentError, AnswerFormat, Citation, Confirmation, Conversation, Notice, Protocol, Status,
    Table, Verdict,
};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use serde_json::json;

use crate::Failure;

/// All of them.
pub(crate) fn mount(router: Router) -> Result<Router, Failure> {
    let mut router = router
        .mount(Model::new("words"), Words)?
        .mount(Model::new("tool"), Tool)?
        .mount(Model::new("confirm"), Confirm)?;
    for name in NATIVE {
        router = router.mount(Model::new(name), Native(name))?;
    }
    Ok(router)
}

/// Everything that has no ending of its own, and everything that text can hold.
pub(crate) struct Words;

#[async_trait]
impl<P: Protocol> Agent<P> for Words {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let prompt = request.prompt().unwrap_or_default();
        reply.status(Status::new("working")).await?;
        reply
            .cite(Citation::new("Source").url("https://a.example"))
            .await?;
        reply
            .text(&format!("{prompt}\n\"quoted\" \\ \u{2028} é 🦀 "))
            .await?;
        reply.table(Table::new("T", &json!([{"a": 1}]))?).await?;
        reply.error(Notice::new("half of it")).await?;
        reply.text("data: [DONE]\n\nend").await?;
        Ok(())
    }
}

/// Calls the first tool on offer, and says what came back.
pub(crate) struct Tool;

#[async_trait]
impl<P: Protocol> Agent<P> for Tool {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let results: Vec<String> = request
            .results()
            .map(|result| format!("{}={}", result.name, result.content))
            .collect();
        if results.is_empty() {
            let name = request.tools().next().map(|tool| tool.name.into_owned());
            let name = name.unwrap_or_default();
            reply.text("One moment. ").await?;
            return Ok(reply.call(protocol::ToolCall::new(name, &json!({"port": "Brest"}))?)?);
        }
        reply.text(&results.join(", ")).await?;
        Ok(())
    }
}

/// Writes the height of the tide in the wanted form.
pub(crate) struct Formed;

#[async_trait]
impl<P: Protocol> Agent<P> for Formed {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let said = match request.answer_format() {
            Some(AnswerFormat::Schema(wanted)) if wanted.schema.text().contains("\"height\"") => {
                r#"{"height":4.2}"#
            }
            _ => "There is no schema.",
        };
        Ok(reply.text(said).await?)
    }
}

/// Asks, says what the answer was, and asks again where it does not count.
pub(crate) struct Confirm;

#[async_trait]
impl<P: Protocol> Agent<P> for Confirm {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let question = Confirmation::new("q1", "Delete?", "For good.");
        match request.decision() {
            None => reply.confirm(question)?,
            Some(answer) => match answer.verdict {
                Verdict::Other => reply.confirm(question)?,
                Verdict::Accepted | Verdict::Refused => {
                    let accepted = answer.verdict == Verdict::Accepted;
                    reply.text(&format!("{} {accepted}", answer.id)).await?;
                }
                verdict => reply.ask_again(verdict, question).await?,
            },
        }
        Ok(())
    }
}

const NATIVE: [&str; 15] = [
    "slow",
    "fails",
    "fails-at-once",
    "panics",
    "usage",
    "reasoning",
    "reasoning-fails",
    "length",
    "filter",
    "refusal",
    "choices",
    "calls",
    "mixed-calls",
    "relay/calls",
    "relay/cut",
];

const CALLS: &[u8] = include_bytes!("../../../../fixtures/openai/chunk-tool-calls.sse");

/// Behaviour that only this protocol has.
struct Native(&'static str);

#[async_trait]
impl Agent<OpenAi> for Native {
    async fn answer(&self, _: Request<OpenAi>, reply: Reply<OpenAi>) -> Result<(), AgentError> {
        match self.0 {
            "slow" => {
                for word in ["one ", "two ", "three"] {
                    reply.text(word).await?;
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
            "fails" => {
                reply.text("Par").await?;
                return Err(AgentError::new("The model is away."));
            }
            "fails-at-once" => return Err(AgentError::new("The model is away.")),
            "panics" => {
                reply.text("Par").await?;
                // A bug, on purpose.
                std::panic::resume_unwind(Box::new(()));
            }
            "usage" => {
                reply.text("Hi").await?;
                reply
                    .send(Usage::new(19, 10).cached(3).reasoning(7))
                    .await?;
            }
            "reasoning" | "reasoning-fails" => {
                reply.reasoning("Two and two \"is\"").await?;
                reply.reasoning(" \u{2028} four.\n").await?;
                reply.text("Fo").await?;
                reply.reasoning("Or is it?").await?;
                if self.0 == "reasoning-fails" {
                    return Err(AgentError::new("The model is away."));
                }
                reply.text("ur.").await?;
            }
            "length" => {
                reply.text("cut off").await?;
                reply.end(FinishReason::Length)?;
            }
            "filter" => {
                reply.text("withheld").await?;
                reply.end(FinishReason::ContentFilter)?;
            }
            "refusal" => {
                reply.send(Delta::refusal("I can't")).await?;
                reply.send(Delta::refusal(" help.")).await?;
            }
            "choices" => choices(&reply).await?,
            "calls" => {
                let call = |id: &str, n: u64| ToolCall::new(id, "get_tide", &json!({"n": n}));
                reply.end(Ending::from(vec![call("call_A", 1)?, call("call_B", 2)?]))?;
            }
            "mixed-calls" => mixed_calls(&reply).await?,
            "relay/calls" => relay(CALLS, reply).await?,
            "relay/cut" => {
                let (half, _) = CALLS.split_at(CALLS.len() / 2);
                relay(half, reply).await?;
            }
            _ => return Err(AgentError::new("no such situation")),
        }
        Ok(())
    }
}

/// Two choices at once, with log probabilities.
async fn choices(reply: &Reply<OpenAi>) -> Result<(), AgentError> {
    for (index, token) in [(1, "b"), (0, "a"), (1, "é")] {
        let logprobs = Logprobs::content(vec![TokenLogprob::new(token, -0.5)]);
        let choice = Choice::new(index, Delta::text(token)).logprobs(logprobs);
        reply.send(choice).await?;
    }
    let end = Choice::new(1, Delta::default()).finish(FinishReason::Stop);
    reply.send(end).await?;
    Ok(())
}

/// Calls whose fragments come mixed, as no client but ours is sent them.
async fn mixed_calls(reply: &Reply<OpenAi>) -> Result<(), AgentError> {
    let fragments = [
        ToolCallDelta::start(0, "call_A", "get_tide"),
        ToolCallDelta::start(1, "call_B", "get_tide"),
        ToolCallDelta::arguments(0, "{\"n\""),
        ToolCallDelta::arguments(1, "{\"n\""),
        ToolCallDelta::arguments(0, ":1}"),
        ToolCallDelta::arguments(1, ":2}"),
    ];
    for fragment in fragments {
        let mut delta = Delta::default();
        delta.tool_calls.push(fragment);
        reply.send(ChatCompletionChunk::from(delta)).await?;
    }
    Ok(())
}

async fn relay(upstream: &[u8], reply: Reply<OpenAi>) -> Result<(), AgentError> {
    let mut relay = Relay::new();
    for piece in upstream.chunks(50) {
        relay.pass(piece, &reply).await?;
    }
    Ok(relay.end(reply)?)
}
