//! An answer that an agent relays within its own turn has the contents and the order of the server, and the numbers and
//! the ids of the reply.

use copilot_wire::anthropic::Anthropic;
use copilot_wire::models::{Relay, Upstream};
use copilot_wire::openai::OpenAi;
use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::responses::Responses;
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use serde_json::{Value, json};

use crate::documents::{assembled, message};
use crate::streams::{CHAT, MESSAGES, RESPONSES, Sent, blocks, sent, stream};
use crate::{ask, data, request};

/// An agent that relays a stream of the dialect with this path.
#[derive(Clone)]
struct Relays(&'static str, String);

impl Relays {
    async fn relay<U: Upstream, P: Protocol>(&self, reply: Reply<P>) -> Result<(), AgentError> {
        let mut relay = Relay::<U>::new();
        for piece in self.1.as_bytes().chunks(11) {
            relay.pass(piece, &reply).await?;
        }
        Ok(relay.end(reply)?)
    }
}

#[async_trait]
impl<P: Protocol> Agent<P> for Relays {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        match self.0 {
            CHAT => self.relay::<OpenAi, P>(reply).await,
            RESPONSES => self.relay::<Responses, P>(reply).await,
            _ => self.relay::<Anthropic, P>(reply).await,
        }
    }
}

fn relayed(sent: &Sent, is_stream: bool) -> String {
    let agent = Relays(sent.path, stream(sent));
    let router = Router::new().mount_model("m", agent).unwrap();
    let (status, body) = ask(&router, sent.path, &request(sent.path, is_stream));
    assert_eq!(status, 200, "{}: {body}", sent.name);
    body
}

#[test]
fn blocks_have_the_contents_and_the_order_of_the_server() {
    for sent in sent().iter().filter(|sent| sent.path == MESSAGES) {
        let events = data(&relayed(sent, true));
        let own = Sent {
            path: MESSAGES,
            name: sent.name,
            events,
        };
        assert_eq!(blocks(&own), blocks(sent), "{}", sent.name);
        let starts = own.events.iter();
        let starts = starts.filter(|event| event["type"] == "content_block_start");
        for (at, start) in starts.enumerate() {
            assert_eq!(start["index"], at);
        }
        let end = own.events.iter().rev().nth(1).unwrap();
        let wanted = sent.events.iter().rev().nth(1).unwrap();
        assert_eq!(end["delta"]["stop_reason"], wanted["delta"]["stop_reason"]);
        assert_eq!(end["context_management"], wanted["context_management"]);
        let document: Value = serde_json::from_str(&relayed(sent, false)).unwrap();
        assert_eq!(document["content"], blocks(sent), "{}", sent.name);
    }
}

/// Returns items without the members that are those of the reply, calls last: an agent may run them itself.
fn bare(items: &Value) -> Vec<Value> {
    let mut items = items.as_array().unwrap().clone();
    for item in &mut items {
        let item = item.as_object_mut().unwrap();
        item.retain(|name, _| name != "id" && name != "status");
        for part in item
            .get_mut("content")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            // The schema requires the member.
            part.as_object_mut()
                .unwrap()
                .retain(|name, value| name != "logprobs" || *value != json!([]));
        }
    }
    items.sort_by_key(|item| item["type"] == "function_call" || item["type"] == "custom_tool_call");
    items
}

#[test]
fn items_have_the_contents_and_the_order_of_the_server() {
    for sent in sent().iter().filter(|sent| sent.path == RESPONSES) {
        let wanted = &sent.events.last().unwrap()["response"];
        let events = data(&relayed(sent, true));
        for (number, event) in events.iter().enumerate() {
            assert_eq!(event["sequence_number"], number, "{}", sent.name);
        }
        let own = &events.last().unwrap()["response"];
        assert_ne!(own["id"], "resp_up");
        assert_eq!(own["status"], wanted["status"], "{}", sent.name);
        assert_eq!(
            bare(&own["output"]),
            bare(&wanted["output"]),
            "{}",
            sent.name
        );
        for kind in ["response.output_item.added", "response.output_item.done"] {
            let of_kind = events.iter().filter(|event| event["type"] == kind);
            for (at, event) in of_kind.clone().enumerate() {
                assert_eq!(event["output_index"], at, "{}", sent.name);
                assert_eq!(event["item"]["id"], own["output"][at]["id"]);
            }
            assert_eq!(of_kind.count(), own["output"].as_array().unwrap().len());
        }
        let document: Value = serde_json::from_str(&relayed(sent, false)).unwrap();
        assert_eq!(
            bare(&document["output"]),
            bare(&wanted["output"]),
            "{}",
            sent.name
        );
    }
}

#[test]
fn choices_have_the_contents_of_the_server() {
    for sent in sent().iter().filter(|sent| sent.path == CHAT) {
        let events = relayed(sent, true);
        assert!(events.ends_with("data: [DONE]\n\n"), "{events}");
        let wanted = sent.events.iter().rev().nth(1).unwrap();
        let finish = &wanted["choices"][0]["finish_reason"];
        let document: Value = serde_json::from_str(&relayed(sent, false)).unwrap();
        for document in [document, assembled::<OpenAi>(&events, 9)] {
            let choice = &document["choices"][0];
            assert_eq!(choice["message"], message(sent), "{}", sent.name);
            assert_eq!(choice["finish_reason"], *finish, "{}", sent.name);
            assert_eq!(document["usage"]["total_tokens"], 15);
            assert_ne!(document["id"], "c1");
        }
    }
}
