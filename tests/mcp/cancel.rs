//! Calls that are cancelled, and calls that cannot begin.

use std::sync::{Arc, Mutex};

use copilot_wire::Router;
use copilot_wire::protocol::Outcome;
use copilot_wire::replies::{MemoryReplyStore, Replies};
use futures::StreamExt as _;
use serde_json::{Value, json};

use crate::support::{
    agent, call, empty, in_virtual_time, json_of, mount, new_call, post, post_new, read,
    read_until, result, seconds, text,
};

type Ends = Arc<Mutex<Vec<&'static str>>>;

/// A router with an agent that never ends, and how its turns end.
fn endless(router: Router) -> (Router, Ends) {
    let ends = Ends::default();
    let seen = Arc::clone(&ends);
    let router = router.observe(move |turn| {
        seen.lock().unwrap().push(match turn.outcome {
            Outcome::Cancelled => "cancelled",
            Outcome::ClientLeft => "left",
            Outcome::ShutDown => "shut down",
            Outcome::Refused(_) => "refused",
            _ => "other",
        });
    });
    let waits = agent(|_, reply| async move {
        reply.status("Waiting").await?;
        std::future::pending().await
    });
    (router.mount(mount(), waits).unwrap(), ends)
}

async fn session(router: &Router) -> String {
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}});
    let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let response = post(router, &[], &body).await;
    response.headers()["mcp-session-id"]
        .to_str()
        .unwrap()
        .to_owned()
}

async fn cancel(router: &Router, session: &str, user: &str, id: Value) {
    let params = json!({"requestId": id, "reason": "enough"});
    let body = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    let mut headers = vec![("x-user", user)];
    if !session.is_empty() {
        headers.push(("mcp-session-id", session));
    }
    assert_eq!(post(router, &headers, &body).await.status(), 202);
}

#[test]
fn a_caller_cancels_calls_of_its_own_session_alone() {
    in_virtual_time(async {
        let stored = || {
            let replies = Replies::per_user(MemoryReplyStore::new(), tokio::spawn);
            empty().resumable(replies)
        };
        for router in [empty(), stored()] {
            let (router, ends) = endless(router);
            let (one, two) = (session(&router).await, session(&router).await);
            assert_ne!(one, two);
            let begin = async |user: &str, session: &str| {
                let headers = [("x-user", user), ("mcp-session-id", session)];
                let mut body = post(&router, &headers, &call("hi")).await.into_body();
                read_until(&mut body, "Waiting").await;
                body
            };
            // Both calls have the id 1.
            let mut first = begin("a", &one).await;
            let second = begin("b", &two).await;
            for (session, user, id) in [
                ("", "a", json!(1)),
                (&*two, "a", json!(1)),
                (&*one, "b", json!(1)),
                (&*one, "a", json!("1")),
                (&*one, "a", json!(2)),
                (&*one, "a", json!(null)),
                ("x", "a", json!(1)),
            ] {
                cancel(&router, session, user, id).await;
            }
            seconds(1).await;
            assert!(futures::poll!(first.next()).is_pending());
            assert_eq!(*ends.lock().unwrap(), Vec::<&str>::new());
            cancel(&router, &one, "a", json!(1)).await;
            // The stream stays open on the client's side: it gets its end.
            assert!(result(&read(first).await)["content"].is_array());
            assert_eq!(*ends.lock().unwrap(), ["cancelled"]);
            cancel(&router, &two, "b", json!(1)).await;
            read(second).await;
            assert_eq!(*ends.lock().unwrap(), ["cancelled", "cancelled"]);
            cancel(&router, &two, "b", json!(1)).await;
        }
    });
}

#[test]
fn a_client_that_leaves_cancels_its_call() {
    in_virtual_time(async {
        let (router, ends) = endless(empty());
        let mut body = post_new(&router, &[], &new_call("hi")).await.into_body();
        read_until(&mut body, "Waiting").await;
        drop(body);
        assert_eq!(*ends.lock().unwrap(), ["left"]);
    });
}

#[test]
fn a_call_that_cannot_begin_is_a_result_and_the_rest_is_answered() {
    in_virtual_time(async {
        let (router, ends) = endless(empty().max_turns(1));
        let mut body = post(&router, &[], &call("hi")).await.into_body();
        read_until(&mut body, "Waiting").await;
        let refused = post(&router, &[], &call("hi")).await;
        assert_eq!(refused.status(), 200);
        let refused = json_of(refused).await;
        assert_eq!(refused["result"]["isError"], true);
        assert_eq!(text(&refused["result"]), "too many turns at a time");
        let list = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"});
        assert_eq!(post(&router, &[], &list).await.status(), 200);
        drop(body);
        let mut body = post(&router, &[], &call("hi")).await.into_body();
        read_until(&mut body, "Waiting").await;
        let drained = async {
            let (stream, ()) = futures::join!(read(body), router.drain(seconds(1)));
            stream
        };
        assert_eq!(result(&drained.await)["isError"], true);
        let refused = json_of(post(&router, &[], &call("hi")).await).await;
        assert_eq!(text(&refused["result"]), "the server is shutting down");
        assert_eq!(
            *ends.lock().unwrap(),
            ["refused", "left", "shut down", "refused"]
        );
    });
}
