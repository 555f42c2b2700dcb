//! The time of the first output, which operators know as the time to the first token.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use copilot_wire::anthropic::Anthropic;
use copilot_wire::models::{Relay, Upstream};
use copilot_wire::protocol::{AgentError, Env, Protocol, ToolRun, Usage};
use copilot_wire::responses::Responses;
use copilot_wire::{Agent, Reply, Request, async_trait};
use copilot_wire_kit::{Clock, FrontEnd, Harness};
use futures::executor::block_on;
use serde_json::json;

use crate::support::*;

/// Works for three seconds before it says anything.
struct Slow(Clock);

#[async_trait]
impl<P: Protocol> Agent<P> for Slow {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        reply.status("Looking").await?;
        let run = ToolRun::new("search", &json!({}), &json!(["a page"]))?;
        reply.tool_run(run).await?;
        reply.usage(Usage::new(7, 3)).await?;
        // So that the opening and the steps are sent before.
        self.0.sleep(Duration::from_secs(3)).await;
        for word in ["high", " ", "tide"] {
            reply.text(word).await?;
            self.0.sleep(Duration::from_secs(2)).await;
        }
        Ok(())
    }
}

/// Relays a stream whose text comes three seconds after its beginning.
struct SlowModel<U: Upstream>(Clock, [String; 2], std::marker::PhantomData<fn() -> U>);

#[async_trait]
impl<U: Upstream, P: Protocol> Agent<P> for SlowModel<U> {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let mut relay = Relay::<U>::new();
        for part in &self.1 {
            relay.pass(part.as_bytes(), &reply).await?;
            self.0.sleep(Duration::from_secs(3)).await;
        }
        Ok(relay.end(reply)?)
    }
}

/// Returns the reported seconds to the first output, and to the end.
fn seconds<F: FrontEnd, A: Agent<F::Protocol> + 'static>(
    front: F,
    agent: impl FnOnce(Clock) -> A,
) -> (Option<u64>, u64) {
    let (clock, seen) = (Clock::new(), Arc::new(Mutex::new(None)));
    let log = Arc::clone(&seen);
    let env = Env::new(clock.clone()).observe(move |turn| {
        let first = turn.first_output.map(|time| time.as_secs());
        *log.lock().unwrap() = Some((first, turn.duration.as_secs()));
    });
    let harness = Harness::new(front, agent(clock.clone()));
    let mut harness = harness.clock(&clock).env(env);
    block_on(harness.prompt("How is the tide?")).unwrap();
    let seen = seen.lock().unwrap().take();
    seen.unwrap()
}

#[test]
fn neither_openings_nor_steps_nor_usage_are_the_first_output() {
    for seen in [
        seconds(openai(), Slow),
        seconds(responses_client(), Slow),
        seconds(anthropic(), Slow),
        seconds(workspace(), Slow),
        seconds(page(), Slow),
        seconds(app(), Slow),
        seconds(search(), Slow),
        seconds(copilot(), Slow),
    ] {
        assert_eq!(seen, (Some(3), 9));
    }
}

#[test]
fn the_beginning_of_a_models_stream_is_no_output() {
    let said = Said {
        reasoning: vec![],
        text: vec!["high tide".to_owned()],
        calls: vec![],
        end: End::Stop,
        usage: [7, 0, 3, 0],
    };
    let split = |stream: String, at: &str| {
        let at = stream.find(at).unwrap();
        [stream[..at].to_owned(), stream[at..].to_owned()]
    };
    let parts = split(messages(&said, 100), "event: content_block_start");
    let seen = seconds(anthropic(), |clock| {
        SlowModel::<Anthropic>(clock, parts, std::marker::PhantomData)
    });
    assert_eq!(seen, (Some(3), 6));
    let parts = split(responses(&said, 100), "event: response.output_item.added");
    let seen = seconds(responses_client(), |clock| {
        SlowModel::<Responses>(clock, parts, std::marker::PhantomData)
    });
    assert_eq!(seen, (Some(3), 6));
}
