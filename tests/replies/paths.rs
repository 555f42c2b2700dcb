//! Replies belong to the path that was requested.

use std::time::Duration;

use copilot_wire::openai::OpenAi;
use copilot_wire::ui_stream::{Mount, UiStream};
use copilot_wire::{Body, Router};
use copilot_wire_kit::{FrontEnd as _, Toolkit};
use http::{Method, StatusCode};

use crate::server::{
    Talker, ask, env, identify, in_virtual_time, memory, read, replies, router, send, text,
};
use crate::spy::Spy;

/// A router whose pages are at a path.
fn pages(path: &str, store: &Spy) -> Router {
    let slow = Talker {
        pause: Duration::from_secs(10),
        ..Talker::default()
    };
    let router = Router::new()
        .env(env())
        .guard(identify)
        .resumable(replies(store.clone()));
    router.mount(Mount::new().path(path), slow).unwrap()
}

async fn post(router: &Router, path: &str) -> Body {
    let request = UiStream::SAMPLE.request;
    let response = send(router, "ada", Method::POST, path, request).await;
    assert_eq!(response.status(), StatusCode::OK, "{path}");
    response.into_body()
}

async fn resume(router: &Router, path: &str) -> Option<Vec<u8>> {
    let path = format!("{path}/chat-1/stream");
    let response = send(router, "ada", Method::GET, &path, "").await;
    match response.status() {
        StatusCode::OK => Some(read(response.into_body()).await),
        StatusCode::NO_CONTENT => None,
        status => panic!("{status}"),
    }
}

#[test]
fn the_parameters_of_a_path_tell_replies_apart() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        let router = pages("/tenants/{tenant}/chat", &store);
        let one = post(&router, "/tenants/one/chat").await;
        let other = post(&router, "/tenants/other/chat/").await;
        assert_eq!(resume(&router, "/tenants/third/chat").await, None);
        let (one, other, again_one, again_other) = futures::join!(
            read(one),
            read(other),
            resume(&router, "/tenants/%6fne/chat"),
            resume(&router, "/tenants/other/chat")
        );
        assert_ne!(one, other);
        assert_eq!(text(&again_one.unwrap()), text(&one));
        assert_eq!(text(&again_other.unwrap()), text(&other));
    });
}

/// The slash is a part of the name.
#[test]
fn an_escaped_slash_tells_replies_apart() {
    in_virtual_time(async {
        let router = pages("/{one}/{other}/chat", &Spy::new(memory()));
        drop(post(&router, "/a%2Fb/c/chat").await);
        assert_eq!(resume(&router, "/a/b%2Fc/chat").await, None);
        drop(post(&router, "/d%252F/e/chat").await);
        assert_eq!(resume(&router, "/d%2F/e/chat").await, None);
        assert!(resume(&router, "/a%2fb/c/chat").await.is_some());
    });
}

/// The chat of the request is the last one.
#[test]
fn a_parameter_may_have_the_name_of_the_chat() {
    in_virtual_time(async {
        let router = pages("/rooms/{chat}", &Spy::new(memory()));
        let body = post(&router, "/rooms/red").await;
        assert_eq!(resume(&router, "/rooms/blue").await, None);
        let again = resume(&router, "/rooms/red").await.unwrap();
        assert_eq!(text(&again), text(&read(body).await));
    });
}

/// One proxy strips the base path, another one does not.
#[test]
fn the_base_path_is_part_of_it_stripped_or_not() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        let one = pages("/chat", &store).base_path("/agents");
        let two = pages("/chat", &store).base_path("/agents/");
        let other = pages("/chat", &store).base_path("/others");
        let body = post(&one, "/agents/chat").await;
        assert_eq!(resume(&other, "/chat").await, None);
        let (whole, stripped, not) = futures::join!(
            read(body),
            resume(&two, "/chat"),
            resume(&two, "/agents/chat")
        );
        assert_eq!(text(&stripped.unwrap()), text(&whole));
        assert_eq!(text(&not.unwrap()), text(&whole));
    });
}

/// So do requests that join.
#[test]
fn equal_requests_are_equal_below_a_base_path() {
    in_virtual_time(async {
        let replies = replies(memory()).join(true);
        let router = router::<OpenAi>(Talker::default(), Some(replies.clone()));
        let router = router.base_path("/agents");
        let first = ask::<OpenAi>(&router, "ada").await;
        let path = format!("/agents{}", <OpenAi as Toolkit>::FrontEnd::PATH);
        let sample = OpenAi::SAMPLE.request;
        let sample = sample.replace(r#""model":"m""#, r#""model":"echo""#);
        let second = send(&router, "ada", Method::POST, &path, &sample).await;
        assert_eq!(replies.running(), 1);
        let (first, second) = futures::join!(read(first), read(second.into_body()));
        assert_eq!(first, second);
    });
}
