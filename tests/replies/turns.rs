//! The limit of turns, and what works while all of them are taken.

use std::sync::{Arc, Mutex};

use copilot_wire::Router;
use copilot_wire::protocol::Refusal;
use copilot_wire::responses;
use copilot_wire::router::RouteKind;
use copilot_wire::ui_stream::{self, UiStream};
use http::request::Parts;
use http::{Method, StatusCode};

use crate::protocols::{background, json};
use crate::server::{
    Talker, env, identify, in_virtual_time, memory, read, replies, router, send, text,
};
use crate::spy::{Fault, Spy};

const CHAT: &str = "/api/chat";

fn chat(id: &str) -> String {
    let message = r#"{"id":"m1","role":"user","parts":[{"type":"text","text":"Hello"}]}"#;
    format!(r#"{{"id":"{id}","messages":[{message}],"trigger":"submit-message"}}"#)
}

#[test]
fn replies_are_stopped_and_resumed_while_all_turns_are_taken() {
    in_virtual_time(async {
        let router = router::<UiStream>(Talker::default(), Some(replies(memory())))
            .max_turns(2)
            .mount(responses::Model::new("echo"), Talker::default())
            .unwrap();
        let post =
            async |path: &str, body: &str| send(&router, "ada", Method::POST, path, body).await;
        let get = async |path: &str| send(&router, "ada", Method::GET, path, "").await;
        drop(post(CHAT, &chat("c1")).await);
        let begun = post("/v1/responses", &background(false)).await;
        let begun = json(begun).await;
        let id = begun["id"].as_str().unwrap();
        // Both replies run on without a reader, and each is a turn.
        for (path, body) in [(CHAT, chat("c2")), ("/v1/responses", background(true))] {
            let refused = post(path, &body).await;
            assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE, "{path}");
            assert_eq!(refused.headers()["retry-after"], "5");
            let body = read(refused.into_body()).await;
            assert!(text(&body).contains("too many turns"), "{}", text(&body));
        }
        let stored = format!("/v1/responses/{id}");
        assert_eq!(get(&stored).await.status(), StatusCode::OK);
        let resumed = get("/api/chat/c1/stream").await;
        assert_eq!(resumed.status(), StatusCode::OK);
        let stopped = post("/api/chat/c1/stop", "{}").await;
        assert_eq!(stopped.status(), StatusCode::NO_CONTENT);
        let resumed = read(resumed.into_body()).await;
        assert!(text(&resumed).contains(r#""type":"abort""#));
        let cancelled = post(&format!("{stored}/cancel"), "").await;
        let cancelled = json(cancelled).await;
        assert_eq!(cancelled["status"], "cancelled");
        // Both turns are free again.
        for id in ["c3", "c4"] {
            let begun = post(CHAT, &chat(id)).await;
            assert_eq!(begun.status(), StatusCode::OK, "{id}");
        }
    });
}

#[test]
fn guards_see_what_a_route_is_for() {
    in_virtual_time(async {
        let seen = Arc::<Mutex<Vec<Option<RouteKind>>>>::default();
        let log = Arc::clone(&seen);
        let router = Router::new()
            .env(env())
            .secret([7; 32])
            .resumable(replies(memory()))
            .guard(identify)
            .guard(move |parts: Parts| {
                log.lock().unwrap().push(parts.extensions.get().copied());
                async move { Ok::<_, Refusal>(parts) }
            })
            .mount(ui_stream::Mount::new(), Talker::default())
            .unwrap()
            .mount(responses::Model::new("echo"), Talker::default())
            .unwrap();
        for (method, path, kind) in [
            (Method::POST, CHAT, RouteKind::Turn),
            (Method::GET, "/api/chat/c1/stream", RouteKind::Resume),
            (Method::POST, "/api/chat/c1/stop", RouteKind::Stop),
            (Method::POST, "/v1/responses", RouteKind::Turn),
            (Method::GET, "/v1/responses/r1", RouteKind::Resume),
            (Method::POST, "/v1/responses/r1/cancel", RouteKind::Stop),
            (Method::GET, "/v1/models", RouteKind::Document),
            (Method::GET, "/v1/models/echo", RouteKind::Document),
        ] {
            let response = send(&router, "ada", method, path, "{}").await;
            drop(response);
            let seen = std::mem::take(&mut *seen.lock().unwrap());
            assert_eq!(seen, [Some(kind)], "{path}");
        }
    });
}

#[test]
fn what_is_left_to_store_is_no_turn() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        let replies = replies(store.clone());
        let talker = Talker {
            words: 1,
            ..Talker::default()
        };
        let router = router::<UiStream>(talker, Some(replies.clone())).max_turns(1);
        for call in ["append", "seal"] {
            store.fail_all(call, Fault::Unavailable);
            for id in ["c1", "c2", "c3"] {
                let begun = send(&router, "ada", Method::POST, CHAT, &chat(id)).await;
                assert_eq!(begun.status(), StatusCode::OK, "{call} {id}");
                read(begun.into_body()).await;
            }
        }
        assert!(replies.running() > 1);
    });
}
