//! Turns that are deleted over the connection that keeps them.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use copilot_wire::conversations::{Conversations, MemoryConversationStore};
use copilot_wire::json::Json;
use copilot_wire::protocol::{Protocol as _, Refusal};
use copilot_wire::responses::Responses;
use copilot_wire::router::socket::{Action, Ask, EventMessage, Exchange, Subprotocol};
use copilot_wire::router::{Endpoint, HttpRequest, Mount, MountError, Site};
use copilot_wire::{Agent, Body, async_trait};
use http::{Method, Response};
use serde_json::json;

use crate::support::{Client, open, router};

const PATH: &str = "/deletions";

/// An endpoint that keeps turns for the connection, deletes them, and returns what can be read before and after.
struct Deletions;

#[async_trait]
impl Endpoint for Deletions {
    async fn call(&self, call: HttpRequest) -> Response<Body> {
        let conversations = call.conversations(PATH).unwrap();
        let of_connection = conversations.clone().unstored().unwrap();
        let turn = Json::object(|turn| {
            turn.str("input", "hi");
        });
        let mut seen = Vec::new();
        for list in ["deleted", "forgotten"] {
            of_connection.append(list, 0, &turn).await.unwrap();
            seen.push(json!(conversations.list(list).await.is_ok()));
        }
        // Both at once, and only that of the connection.
        seen.push(json!(conversations.delete_list("deleted").await.unwrap()));
        seen.push(json!(conversations.list("deleted").await.is_ok()));
        for _ in 0..2 {
            conversations.forget("forgotten/0").await.unwrap();
        }
        let forgotten = conversations.turn("forgotten/0").await.unwrap();
        seen.push(json!(forgotten.map(|turn| turn.text().to_owned())));
        seen.push(json!(conversations.chain("forgotten/0").await.is_ok()));
        Response::new(Body::full(json!(seen).to_string()))
    }
}

impl Mount for Deletions {
    type Protocol = Responses;

    fn mount(self, _: Arc<dyn Agent<Responses>>, site: &mut Site<'_>) -> Result<(), MountError> {
        site.socket(PATH, || Documents)?;
        site.route(Method::POST, PATH, self)
    }
}

/// Posts every message, and answers with the document.
struct Documents;

impl Subprotocol for Documents {
    fn read(&mut self, _: &Json) -> Action {
        Action::Ask(Ask::post("{}"))
    }

    fn event(&mut self, _: &Exchange, _: &[u8], _: &mut BytesMut) -> EventMessage {
        EventMessage::None
    }

    fn document(&mut self, _: Option<&Exchange>, response: Response<Bytes>, out: &mut BytesMut) {
        out.extend_from_slice(response.body());
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Bytes> {
        Responses::refuse(refusal)
    }
}

#[test]
fn a_deleted_turn_is_not_continued_on_its_own_connection() {
    let (router, agent) = router();
    let router = router.mount(Deletions, agent).unwrap();
    let seen = json!([[true, true, true, false, "null", false]]);
    let ask = |mut client: Client| json!(client.ask(&json!({})));
    assert_eq!(ask(open(&router, PATH, &[]).unwrap()), seen);
    // With a store as well, where the turns are not.
    let store = Arc::new(MemoryConversationStore::new());
    let router = router.conversations(Conversations::single_user(Arc::clone(&store)));
    assert_eq!(ask(open(&router, PATH, &[]).unwrap()), seen);
}
