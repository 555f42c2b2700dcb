//! A scripted model behind an agent.

use std::time::Duration;

use copilot_wire::openai::{ChatMessage, ChatRequest, Event, OpenAi};
use copilot_wire::protocol::{
    AgentError, Conversation, Env, EventDecoder, Protocol, Role, Status, ToolCall,
};
use copilot_wire::{Agent, Body, Reply, Request, async_trait};
use copilot_wire_kit::github::CopilotChat;
use copilot_wire_kit::openbb::Workspace;
use copilot_wire_kit::{Clock, Harness, Script, Step};
use futures::StreamExt;
use futures::executor::block_on;
use serde_json::json;

/// Passes on what a model says, in capitals.
struct Loud(Script, Clock);

#[async_trait]
impl<P: Protocol> Agent<P> for Loud {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let prompt = request.prompt().unwrap_or_default().into_owned();
        let asks = ChatRequest::new("m", vec![ChatMessage::user(prompt)]).stream(true);
        let env = Env::new(self.1.clone());
        let mut model = Body::run(self.0.clone(), Request::<OpenAi>::new(asks), &env);
        let mut events = EventDecoder::<OpenAi>::new();
        while let Some(Ok(frame)) = model.next().await {
            let mut input = &frame[..];
            while let Some(event) = events.next(&mut input)? {
                match event {
                    Event::Chunk(chunk) => {
                        for text in chunk
                            .choices
                            .iter()
                            .filter_map(|c| c.delta.content.as_ref())
                        {
                            reply.text(&text.to_uppercase()).await?;
                        }
                    }
                    Event::Error(error) => return Err(AgentError::new(error.message.as_str())),
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

#[test]
fn a_model_is_scripted() {
    let clock = Clock::new();
    let model = Script::new(&clock)
        .turn([
            Step::text("good "),
            Step::pause(Duration::from_millis(1500)),
            Step::text("day"),
        ])
        .turn([Step::text("well"), Step::fail("overloaded")]);
    let mut harness =
        Harness::new(CopilotChat::new("loud"), Loud(model.clone(), clock.clone())).clock(&clock);
    block_on(async {
        let turn = harness.prompt("greet me").await.unwrap();
        assert_eq!(turn.to_string(), "text: GOOD DAY\n");
        assert_eq!(turn.duration(), Duration::from_millis(1500));
        let turn = harness.prompt("and now?").await.unwrap();
        assert!(turn.to_string().starts_with("text: WELL\n"), "{turn}");
        assert_eq!(turn.faults(), ["the agent failed: overloaded"]);
        // Past its end a script fails.
        let turn = harness.prompt("more").await.unwrap();
        assert_eq!(
            turn.faults(),
            ["the agent failed: the script has no further turn"]
        );
    });
    let asked = model.requests();
    assert_eq!(asked.len(), 3);
    assert_eq!(asked[0].messages.len(), 1);
    assert_eq!(asked[0].messages[0].role, Role::User);
    assert_eq!(asked[0].messages[0].text, "greet me");
}

#[test]
fn a_call_that_was_not_offered_fails() {
    let clock = Clock::new();
    let call = ToolCall::new("delete_everything", &json!({})).unwrap();
    let script =
        Script::new(&clock).turn([Step::Status(Status::new("Thinking")), Step::call(call)]);
    let mut harness = Harness::new(Workspace::new(), script);
    let turn = block_on(harness.prompt("go")).unwrap();
    assert!(turn.calls().is_empty());
    assert_eq!(turn.faults().len(), 1, "{turn}");
}
