//! The ids of somebody else's replies lead nowhere.

use copilot_wire::openai::OpenAi;
use copilot_wire::responses::Responses;
use copilot_wire::ui_stream::UiStream;
use http::{Method, StatusCode};

use crate::protocols::{background, json};
use crate::server::{
    Talker, again, ask, in_virtual_time, memory, read, replies, router, seconds, send, text, watch,
};
use crate::spy::Spy;

/// The path of chat completions.
const PATH: &str = "/v1/chat/completions";

/// The parts of a response that a client sees.
async fn seen(response: http::Response<copilot_wire::Body>) -> (StatusCode, String) {
    let status = response.status();
    (status, text(&read(response.into_body()).await).to_owned())
}

#[test]
fn another_user_finds_nothing_at_the_id_of_a_response() {
    in_virtual_time(async {
        let router = router::<Responses>(Talker::default(), Some(replies(memory())));
        let post = background(false);
        let post = send(&router, "ada", Method::POST, "/v1/responses", &post);
        let id = json(post.await).await["id"].as_str().unwrap().to_owned();
        for (user, status) in [("ada", 200), ("bob", 404), ("", 404)] {
            for (method, tail) in [
                (Method::GET, ""),
                (Method::GET, "?stream=true"),
                (Method::GET, "?stream=true&starting_after=1"),
                (Method::POST, "/cancel"),
            ] {
                let path = format!("/v1/responses/{id}{tail}");
                let theirs = send(&router, user, method.clone(), &path, "{}").await;
                assert_eq!(theirs.status(), status, "{user} {path}");
                if user != "ada" {
                    let random = format!("/v1/responses/resp_0{tail}");
                    let random = send(&router, user, method, &random, "{}").await;
                    assert_eq!(seen(theirs).await, seen(random).await);
                }
            }
            if user == "ada" {
                seconds(1).await;
            }
        }
    });
}

#[test]
fn another_user_finds_nothing_in_a_chat() {
    in_virtual_time(async {
        let router = router::<UiStream>(Talker::default(), Some(replies(memory())));
        let (router, outcomes) = watch(router);
        let body = ask::<UiStream>(&router, "ada").await;
        for user in ["bob", ""] {
            for (method, verb) in [(Method::GET, "stream"), (Method::POST, "stop")] {
                let path = format!("/api/chat/chat-1/{verb}");
                let theirs = send(&router, user, method.clone(), &path, "{}").await;
                let path = format!("/api/chat/unknown/{verb}");
                let random = send(&router, user, method, &path, "{}").await;
                assert_eq!(seen(theirs).await, seen(random).await);
            }
        }
        // The same chat id in another user's request does not touch this one.
        let theirs = ask::<UiStream>(&router, "bob").await;
        let (mine, theirs) = futures::join!(read(body), read(theirs));
        assert!(text(&mine).contains("word9") && text(&theirs).contains("word9"));
        assert_ne!(mine, theirs);
        assert_eq!(*outcomes.lock().unwrap(), ["answered", "answered"]);
    });
}

#[test]
fn another_user_does_not_join() {
    in_virtual_time(async {
        let replies = replies(memory()).join(true);
        let router = router::<OpenAi>(Talker::default(), Some(replies.clone()));
        let mut bodies = Vec::new();
        for user in ["ada", "ada", "bob", "bob"] {
            bodies.push(again::<OpenAi>(&router, user).await);
        }
        assert_eq!(replies.running(), 2);
        let bodies = futures::future::join_all(bodies.into_iter().map(read)).await;
        assert_eq!(bodies[0], bodies[1]);
        assert_eq!(bodies[2], bodies[3]);
        assert_ne!(bodies[0], bodies[2]);
        // After the end the same request asks for a new reply.
        seconds(1).await;
        let anew = read(again::<OpenAi>(&router, "ada").await).await;
        assert_ne!(anew, bodies[0]);
    });
}

#[test]
fn another_request_does_not_join() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        let replies = replies(store.clone()).join(true).runs(1);
        let router = router::<OpenAi>(Talker::default(), Some(replies.clone()));
        let first = ask::<OpenAi>(&router, "ada").await;
        let post = r#"{"model":"echo","stream":true,"messages":[{"role":"user","content":"?"}]}"#;
        let other = send(&router, "ada", Method::POST, PATH, post).await;
        let (first, other) = futures::join!(read(first), read(other.into_body()));
        assert_ne!(first, other);
        seconds(1).await;
        // The other one is not stored, and so it is not the latest reply of anything either.
        let created = store.calls().into_iter().filter(|call| *call == "create");
        assert_eq!(created.count(), 1);
    });
}

/// Nobody could read it from the store.
#[test]
fn a_reply_that_can_be_neither_resumed_nor_joined_is_not_stored() {
    in_virtual_time(async {
        for (join, stream) in [(false, true), (true, false)] {
            let store = Spy::new(memory());
            let replies = replies(store.clone()).join(join);
            let router = router::<OpenAi>(Talker::default(), Some(replies));
            let post = format!(
                r#"{{"model":"echo","stream":{stream},"messages":[{{"role":"user","content":"hi"}}]}}"#
            );
            let response = send(&router, "ada", Method::POST, PATH, &post).await;
            let whole = read(response.into_body()).await;
            assert!(text(&whole).contains("word9"));
            assert!(store.calls().is_empty(), "{:?}", store.calls());
        }
    });
}
