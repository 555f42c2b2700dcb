//! Responses of the background that fail.

use copilot_wire::json::Wire as _;
use copilot_wire::protocol::{AgentError, Conversation as _};
use copilot_wire::replies::{ReplyEnd, ReplyStore as _};
use copilot_wire::responses::{Responses, ResponsesRequest};
use copilot_wire::{Agent, Reply, Request, async_trait};
use http::Method;

use crate::protocols::{background, json};
use crate::server::{in_virtual_time, memory, read, replies, router, seconds, send, text};
use crate::spy::Spy;

/// Reasons, says some words, and fails.
struct Stumbler;

#[async_trait]
impl Agent<Responses> for Stumbler {
    async fn answer(
        &self,
        request: Request<Responses>,
        reply: Reply<Responses>,
    ) -> Result<(), AgentError> {
        let error = match request.prompt().as_deref() {
            Some("again") => AgentError::new("Try again.").retryable(),
            Some("long") => AgentError::too_long(),
            _ => AgentError::new("The disk is full."),
        };
        reply.reasoning("Hm.").await?;
        reply.text("Half of ").await?;
        reply.text("the answer").await?;
        seconds(5).await;
        Err(error)
    }
}

#[test]
fn a_failed_response_of_the_background_has_its_output_so_far() {
    in_virtual_time(async {
        for (prompt, streamed, polled) in [
            ("hi", "invalid_prompt", "server_error"),
            ("again", "server_error", "server_error"),
            ("long", "context_length_exceeded", "context_length_exceeded"),
        ] {
            let router = router::<Responses>(Stumbler, Some(replies(memory())));
            let request = ResponsesRequest::new("", prompt)
                .with("background", &true)
                .unwrap();
            let request = String::from_utf8(request.to_json().to_vec()).unwrap();
            let posted = send(&router, "ada", Method::POST, "/v1/responses", &request);
            let begun = json(posted.await).await;
            let path = format!("/v1/responses/{}", begun["id"].as_str().unwrap());
            seconds(60).await;
            let object = json(send(&router, "ada", Method::GET, &path, "").await).await;
            assert_eq!(object["status"], "failed", "{object}");
            assert_eq!(object["id"], begun["id"]);
            assert_eq!(object["background"], true);
            assert_eq!(object["error"]["code"], polled, "{object}");
            assert!(object["error"]["message"].is_string(), "{object}");
            assert_eq!(object["output"][0]["summary"][0]["text"], "Hm.", "{object}");
            assert_eq!(object["output"][0]["type"], "reasoning");
            let message = &object["output"][1];
            assert_eq!(
                message["content"][0]["text"], "Half of the answer",
                "{object}"
            );
            assert_eq!(message["status"], "incomplete");
            assert_eq!(object["output"].as_array().unwrap().len(), 2);
            // What clients repeat a turn for is in the stream, which stays as it is.
            let path = format!("{path}?stream=true");
            let stream = read(
                send(&router, "ada", Method::GET, &path, "")
                    .await
                    .into_body(),
            )
            .await;
            let code = format!(r#""error":{{"code":"{streamed}""#);
            assert!(text(&stream).contains(&code), "{}", text(&stream));
        }
    });
}

#[test]
fn a_lost_response_of_the_background_has_its_output_so_far() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        let one = router::<Responses>(Stumbler, Some(replies(store.clone())));
        let two = router::<Responses>(Stumbler, Some(replies(store.clone())));
        let post = background(false);
        let posted = send(&one, "ada", Method::POST, "/v1/responses", &post);
        let begun = json(posted.await).await;
        seconds(2).await;
        store.seal(&store.last(), ReplyEnd::Lost).await.unwrap();
        let path = format!("/v1/responses/{}", begun["id"].as_str().unwrap());
        let object = json(send(&two, "ada", Method::GET, &path, "").await).await;
        assert_eq!(object["status"], "failed", "{object}");
        assert_eq!(object["id"], begun["id"]);
        assert_eq!(object["error"]["code"], "server_error", "{object}");
        let text = &object["output"][1]["content"][0]["text"];
        assert_eq!(text, "Half of the answer", "{object}");
    });
}

/// The failure names the response of the first event, also for a reader that did not ask for that event.
#[test]
fn the_stream_of_a_lost_response_fails_as_that_response() {
    for after in ["", "&starting_after=0", "&starting_after=2"] {
        in_virtual_time(async {
            let store = Spy::new(memory());
            let one = router::<Responses>(Stumbler, Some(replies(store.clone())));
            let two = router::<Responses>(Stumbler, Some(replies(store.clone())));
            let post = background(false);
            let posted = send(&one, "ada", Method::POST, "/v1/responses", &post);
            let begun = json(posted.await).await;
            let id = begun["id"].as_str().unwrap();
            let path = format!("/v1/responses/{id}?stream=true{after}");
            let elsewhere = send(&two, "ada", Method::GET, &path, "").await;
            let (stream, ()) = futures::join!(read(elsewhere.into_body()), async {
                seconds(2).await;
                store.seal(&store.last(), ReplyEnd::Lost).await.unwrap();
            });
            let events: Vec<_> = text(&stream).split("data: ").collect();
            let failure = events[events.len() - 2];
            let failure: serde_json::Value = serde_json::from_str(failure).unwrap();
            assert_eq!(failure["type"], "response.failed", "{after}: {failure}");
            assert_eq!(failure["response"]["id"], id, "{after}");
        });
    }
}
