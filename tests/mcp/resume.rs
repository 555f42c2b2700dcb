//! Replies that are resumed.

use copilot_wire::protocol::Confirmation;
use copilot_wire::replies::{MemoryReplyStore, Replies};
use copilot_wire::{Body, Router};
use http::{Method, Response};
use serde_json::{Value, json};

use crate::support::{
    agent, call, empty, in_virtual_time, messages, mount, new_call, post, post_new, read,
    read_until, result, seconds, send, text,
};

fn stored() -> Router {
    let replies = Replies::per_user(MemoryReplyStore::new(), tokio::spawn);
    let slow = agent(|request, reply| async move {
        if request.question().as_deref() == Some("ask") && request.decision().is_none() {
            return Ok(reply.confirm(Confirmation::new("q", "Go on?", ""))?);
        }
        for number in 0..5 {
            seconds(10).await;
            reply.status(format!("step {number}")).await?;
        }
        reply.text("Done.").await?;
        if request.question().as_deref() == Some("panic") {
            panic!("on purpose");
        }
        Ok(())
    });
    empty().resumable(replies).mount(mount(), slow).unwrap()
}

async fn get(router: &Router, user: &str, last: &str) -> Response<Body> {
    let headers = [("x-user", user), ("last-event-id", last)];
    send(router, Method::GET, &headers, "").await
}

fn ids(stream: &str) -> Vec<&str> {
    let lines = stream.lines();
    lines.filter_map(|line| line.strip_prefix("id: ")).collect()
}

/// Calls of both forms, with and without a token.
fn calls() -> Vec<(bool, Value)> {
    let mut silent = new_call("hi");
    let meta = silent["params"]["_meta"].as_object_mut().unwrap();
    meta.remove("progressToken");
    vec![(false, call("hi")), (true, new_call("hi")), (true, silent)]
}

async fn begin(router: &Router, is_new: bool, call: &Value) -> Body {
    let headers = [("x-user", "a")];
    let response = match is_new {
        true => post_new(router, &headers, call).await,
        false => post(router, &headers, call).await,
    };
    response.into_body()
}

#[test]
fn a_stream_that_broke_goes_on() {
    in_virtual_time(async {
        for (is_new, call) in calls() {
            let router = stored();
            let mut body = begin(&router, is_new, &call).await;
            let first = read_until(&mut body, "id: ").await;
            assert!(first.contains("retry: 300\n"), "{first}");
            let last = ids(&first).last().unwrap().to_string();
            drop(body);
            seconds(15).await;
            let response = get(&router, "a", &last).await;
            assert_eq!(response.status(), 200);
            assert_eq!(response.headers()["content-type"], "text/event-stream");
            let mut body = response.into_body();
            let second = read_until(&mut body, "id: ").await;
            let last = ids(&second).last().unwrap().to_string();
            drop(body);
            let third = read(get(&router, "a", &last).await.into_body()).await;
            let whole = [first, second, third].concat();
            let all = ids(&whole);
            let numbers: Vec<u64> = all
                .iter()
                .map(|id| id.split('.').nth(1).unwrap().parse().unwrap())
                .collect();
            assert!(
                numbers.iter().copied().eq(0..numbers.len() as u64),
                "{whole}"
            );
            assert_eq!(text(&result(&whole)), "Done.");
            assert_eq!(messages(&whole).last().unwrap()["id"], call["id"]);
            // From the last event on there is nothing more, and the stream ends.
            let last = all.last().unwrap();
            assert_eq!(read(get(&router, "a", last).await.into_body()).await, "");
        }
    });
}

#[test]
fn ids_count_every_event_of_the_log() {
    in_virtual_time(async {
        let router = stored();
        for (is_new, call) in calls() {
            let stream = read(begin(&router, is_new, &call).await).await;
            for id in ids(&stream) {
                let rest = read(get(&router, "a", id).await.into_body()).await;
                let rest: Vec<_> = ids(&rest);
                let all = ids(&stream);
                let at = all.iter().position(|it| *it == id).unwrap();
                assert_eq!(rest, all[at + 1..], "{stream}");
            }
        }
    });
}

#[test]
fn replies_belong_to_their_callers() {
    in_virtual_time(async {
        let router = stored();
        let mut body = begin(&router, false, &call("hi")).await;
        let first = read_until(&mut body, "id: ").await;
        let last = ids(&first)[0];
        // A result at once: nothing else would end the wait of a client.
        let lost = read(get(&router, "b", last).await.into_body()).await;
        let lost_result = result(&lost);
        assert_eq!(lost_result["isError"], true);
        assert!(text(&lost_result).contains("lost"), "{lost}");
        assert_eq!(messages(&lost)[0]["id"], 1);
        let (_, rest) = last.split_once('.').unwrap();
        let other = format!("{}.{rest}", "0".repeat(32));
        let lost = read(get(&router, "a", &other).await.into_body()).await;
        assert_eq!(result(&lost)["isError"], true);
        for odd in [
            "",
            "x",
            "a.b.c",
            "a.1",
            "a.18446744073709551615.31",
            "a.1.zz",
            "a.1.6e756c6c",
        ] {
            let status = get(&router, "a", odd).await.status();
            assert!([200, 400].contains(&status.as_u16()), "{odd}");
        }
        // Without a user nothing is stored, and no event has an id.
        let response = post(&router, &[], &call("hi")).await;
        assert!(!read(response.into_body()).await.contains("id: "));
        assert_eq!(
            send(&router, Method::GET, &[("x-user", "a")], "")
                .await
                .status(),
            405
        );
    });
}

#[test]
fn a_panic_of_a_stored_reply_is_a_result() {
    in_virtual_time(async {
        let router = stored();
        let stream = read(begin(&router, false, &call("panic")).await).await;
        assert_eq!(result(&stream)["isError"], true);
    });
}

#[test]
fn a_question_on_the_stream_outlives_the_connection() {
    in_virtual_time(async {
        let router = stored();
        let capabilities = json!({"elicitation": {}});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities});
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let response = post(&router, &[("x-user", "a")], &body).await;
        let session = response.headers()["mcp-session-id"]
            .to_str()
            .unwrap()
            .to_owned();
        let headers = [("x-user", "a"), ("mcp-session-id", &*session)];
        let mut body = post(&router, &headers, &call("ask")).await.into_body();
        let begun = read_until(&mut body, "elicitation/create").await;
        drop(body);
        let question = messages(&begun).pop().unwrap();
        let yes = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}});
        post(&router, &[("x-user", "a")], &yes).await;
        let last = ids(&begun).pop().unwrap();
        let rest = read(get(&router, "a", last).await.into_body()).await;
        assert_eq!(text(&result(&rest)), "Done.");
    });
}

#[test]
fn silence_of_a_stored_reply_is_broken_by_progress() {
    in_virtual_time(async {
        let replies = Replies::per_user(MemoryReplyStore::new(), tokio::spawn);
        let slow = agent(|_, reply| async move {
            seconds(100).await;
            Ok(reply.text("Done.").await?)
        });
        let router = empty().resumable(replies).mount(mount(), slow).unwrap();
        let stream = read(begin(&router, false, &call("hi")).await).await;
        assert!(messages(&stream).len() > 6, "{stream}");
        assert_eq!(text(&result(&stream)), "Done.");
    });
}
