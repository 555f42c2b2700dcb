//! An answer that an agent relays within its own turn has the contents and the order of the server, and the numbers and
//! the ids of the reply.

use copilot_wire::anthropic::Anthropic;
use copilot_wire::models::{Relay, Upstream};
use copilot_wire::openai::OpenAi;
use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::responses::Responses;
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use serde_json::Value;

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
