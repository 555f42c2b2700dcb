//! The tokens of a model in a front end of its dialect: with the members that no other dialect has.

use copilot_wire::anthropic::Anthropic;
use copilot_wire::models::{Relay, Upstream};
use copilot_wire::openai::{ChatMessage, ChatRequest, OpenAi};
use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::responses::Responses;
use copilot_wire::{Agent, Reply, Request, async_trait};
use copilot_wire_kit::Transcript;
use copilot_wire_kit::openai::OpenAiClient;
use serde_json::{Value, json};

use crate::support::{Gateway, anthropic, ask, responses_client};

/// Relays several streams, one after the other.
struct Several<U: Upstream>(Vec<String>, std::marker::PhantomData<fn() -> U>);

#[async_trait]
impl<U: Upstream, P: Protocol> Agent<P> for Several<U> {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        for stream in &self.0 {
            let mut relay = Relay::<U>::new();
            relay.pass(stream.as_bytes(), &reply).await?;
            relay.finish()?;
        }
        Ok(())
    }
}

/// Returns the members of this name in the events of a stream, without those that are `null`.
fn members<P: Protocol>(turn: &Transcript<P>, name: &str) -> Vec<Value> {
    let text = std::str::from_utf8(turn.bytes()).unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let events = data.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    let all = events.flat_map(|event| {
        let places = ["", "/response", "/message"];
        places.map(|place| event.pointer(&format!("{place}/{name}")).cloned())
    });
    all.flatten().filter(|value| !value.is_null()).collect()
}

fn client() -> OpenAiClient {
    let request = ChatRequest::new("m", [ChatMessage::user("")]).include_usage();
    OpenAiClient::continuing(request)
}

#[test]
fn unknown_members_of_the_usage_reach_a_client_of_the_same_dialect() {
    let usage = json!({"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14, "cost": 0.25,
        "prompt_tokens_details": {"cached_tokens": 1, "audio_tokens": 3},
        "completion_tokens_details": {"reasoning_tokens": 2, "accepted_prediction_tokens": 4}});
    let text =
        json!({"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]});
    let stream = format!(
        "data: {text}\n\ndata: {}\n\n",
        json!({"choices": [], "usage": usage})
    );
    let turn = ask(client(), Gateway::<OpenAi>::new(stream.as_bytes(), 9));
    assert_eq!(members(&turn, "usage"), [usage], "{turn}");
    // Those of several calls of the model cannot be added up.
    let several = Several::<OpenAi>(vec![stream.clone(), stream], std::marker::PhantomData);
    let sum = json!({"prompt_tokens": 18, "completion_tokens": 10, "total_tokens": 28,
        "prompt_tokens_details": {"cached_tokens": 2},
        "completion_tokens_details": {"reasoning_tokens": 4}});
    assert_eq!(members(&ask(client(), several), "usage"), [sum]);

    let usage = json!({"input_tokens": 9, "input_tokens_details": {"cached_tokens": 1, "audio_tokens": 3},
        "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 2, "x": 1}, "total_tokens": 14, "cost": 0.25});
    let end = json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": [], "usage": usage}});
    let stream = format!("data: {end}\n\n");
    let turn = ask(responses_client(), Gateway::<Responses>::new(stream, 9));
    assert_eq!(members(&turn, "usage"), [usage], "{turn}");

    let event = |event: Value| {
        format!(
            "event: {}\ndata: {event}\n\n",
            event["type"].as_str().unwrap()
        )
    };
    let begun = json!({"input_tokens": 9, "output_tokens": 1, "service_tier": "batch"});
    let ended = json!({"output_tokens": 5, "server_tool_use": {"web_search_requests": 2}});
    let edits = json!({"applied_edits": []});
    let stream = [
        json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "usage": begun}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": ended, "context_management": edits}),
        json!({"type": "message_stop"}),
    ];
    let stream: String = stream.into_iter().map(event).collect();
    let turn = ask(anthropic(), Gateway::<Anthropic>::new(stream, 9));
    let whole = json!({"input_tokens": 9, "output_tokens": 5, "service_tier": "batch",
        "server_tool_use": {"web_search_requests": 2}});
    assert_eq!(members(&turn, "usage").last(), Some(&whole), "{turn}");
    assert_eq!(members(&turn, "context_management"), [edits], "{turn}");
}

#[test]
fn the_estimate_at_the_start_of_a_message_is_not_counted() {
    let event = |event: Value| format!("data: {event}\n\n");
    let message = json!({"id": "m", "role": "assistant", "content": [],
        "usage": {"input_tokens": 9, "output_tokens": 1}});
    let stream = [
        json!({"type": "message_start", "message": message}),
        json!({"type": "message_delta", "delta": {"stop_reason": "refusal"}, "usage": {"output_tokens": 0}}),
        json!({"type": "message_stop"}),
    ];
    let stream: String = stream.into_iter().map(event).collect();
    let turn = ask(client(), Gateway::<Anthropic>::new(stream, 9));
    let counts = json!({"prompt_tokens": 9, "completion_tokens": 0, "total_tokens": 9});
    assert_eq!(members(&turn, "usage"), [counts], "{turn}");
}
