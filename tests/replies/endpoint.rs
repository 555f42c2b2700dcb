//! The replies of a user, as an endpoint finds them.

use std::sync::Arc;

use copilot_wire::replies::ReplyEnd;
use copilot_wire::router::{Endpoint, HttpRequest, Mount, MountError, Site};
use copilot_wire::ui_stream::UiStream;
use copilot_wire::{Agent, Body, async_trait};
use http::{Method, Response};

use crate::server::{Talker, ask, in_virtual_time, memory, read, replies, router, send, text};

/// Answers with the state of the latest reply of a chat.
struct State;

#[async_trait]
impl Endpoint for State {
    async fn call(&self, call: HttpRequest) -> Response<Body> {
        let replies = call.replies("/api/chat").unwrap();
        let id = replies.latest("chat-1").await.unwrap();
        let state = replies.state(&id).await.unwrap().unwrap();
        let end = state.end.map_or("running", ReplyEnd::as_str);
        Response::new(Body::full(format!("{end} {}", state.attended)))
    }
}

impl Mount for State {
    type Protocol = UiStream;

    fn mount(self, _: Arc<dyn Agent<UiStream>>, site: &mut Site<'_>) -> Result<(), MountError> {
        site.route(Method::GET, "/state", Self)
    }
}

#[test]
fn the_state_tells_whether_a_running_reply_is_read() {
    in_virtual_time(async {
        let router = router::<UiStream>(Talker::default(), Some(replies(memory())));
        let router = router.mount(State, Talker::default()).unwrap();
        let state = async || {
            let response = send(&router, "ada", Method::GET, "/state", "").await;
            text(&read(response.into_body()).await).to_owned()
        };
        let body = ask::<UiStream>(&router, "ada").await;
        assert_eq!(state().await, "running true");
        drop(body);
        assert_eq!(state().await, "running false");
    });
}
