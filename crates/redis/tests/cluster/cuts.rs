//! Readers whose connections break all the time, and who go on at the other server.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use serde_json::json;

use crate::support::{
    Answer, Cluster, chat, events, numbers, response, response_id, resume, send, times,
};

/// The connections of one reply that break.
const CUTS: usize = 40;
/// The words of a response: more than its reader gets over all broken connections.
const WORDS: u64 = 600;

/// No event is lost or doubled, over 10,000 broken connections in all.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn cuts() {
    let cluster = Cluster::start();
    let servers = [cluster.one.address, cluster.other.address];
    let replies = times(8, 250);
    let work = stream::iter(0..replies).map(async |number| match number % 2 {
        0 => responses(servers, number).await,
        _ => page(servers, number).await,
    });
    let work = work
        .buffer_unordered(25)
        .fold(0, async |sum, cuts| sum + cuts);
    let limit = Duration::from_secs(times(60, 600));
    let cuts = tokio::time::timeout(limit, work).await.expect("it hangs");
    println!("{cuts} cuts of {replies} replies");
    assert_eq!(cuts, replies as usize * CUTS);
}

/// Reads a response; each request asks for what follows the last whole event.
async fn responses(servers: [SocketAddr; 2], number: u64) -> usize {
    // Some have ended long before they are read.
    let pause = if number.is_multiple_of(3) { 0 } else { 20 };
    let prompt = format!("count {WORDS} {pause}");
    let first = send(servers[0], "POST", "/v1/responses", response(&prompt)).await;
    // The first event has the id.
    let first = cut(first, 1500).await;
    let path = format!("/v1/responses/{}?stream=true", response_id(&first));
    let mut seen = whole_events(first);
    for cuts in 1..CUTS {
        let path = format!("{path}&starting_after={}", events(&seen) - 1);
        let answer = send(servers[cuts % 2], "GET", &path, None).await;
        assert_eq!(answer.status, 200);
        seen.push_str(&whole_events(cut(answer, length()).await));
    }
    let rest = format!("{path}&starting_after={}", events(&seen) - 1);
    let rest = send(servers[1], "GET", &rest, None).await.all().await;
    assert!(!rest.is_empty());
    let whole = send(servers[0], "GET", &path, None).await.all().await;
    assert_eq!(format!("{seen}{rest}"), whole);
    let words = &whole[..whole.find("output_text.done").unwrap()];
    assert_eq!(numbers(words), (0..WORDS).collect::<Vec<_>>());
    assert_eq!(whole.matches("event: response.completed").count(), 1);
    CUTS
}

/// Reads the answer of a page; each request gets all of it. It has no end until the page stops it, because
/// an answer that a server has sent to its end is not sent again.
async fn page(servers: [SocketAddr; 2], number: u64) -> usize {
    let (id, prompt) = (format!("chat-{number}"), "count 100000 20");
    let path = format!("/api/chat/{id}/stream");
    let first = send(servers[0], "POST", "/api/chat", chat(&id, prompt)).await;
    let mut seen = cut(first, 600).await;
    drop(resume(servers[1], &id).await);
    for cuts in 1..CUTS {
        let answer = send(servers[cuts % 2], "GET", &path, None).await;
        assert_eq!(answer.status, 200);
        let length = (length() * seen.len() / 2000).min(seen.len() + 300);
        let again = cut(answer, length).await;
        let common = again.len().min(seen.len());
        assert_eq!(again[..common], seen[..common]);
        if again.len() > seen.len() {
            seen = again;
        }
    }
    let mut last = send(servers[1], "GET", &path, None).await;
    last.until(|bytes| bytes.len() > seen.len()).await;
    let stop = format!("/api/chat/{id}/stop");
    let stopped = send(
        servers[number as usize / 2 % 2],
        "POST",
        &stop,
        Some(json!({})),
    )
    .await;
    assert_eq!(stopped.status, 204);
    let whole = last.all().await;
    assert!(whole.as_bytes().starts_with(&seen), "{whole}");
    let words = numbers(&whole);
    assert_eq!(words, (0..words.len() as u64).collect::<Vec<_>>());
    assert!(whole.ends_with("data: [DONE]\n\n"), "{whole}");
    assert_eq!(whole.matches("\"type\":\"abort\"").count(), 1, "{whole}");
    CUTS
}

/// Returns how many bytes come before a connection breaks: none or a part of an event, or many events.
fn length() -> usize {
    let random = getrandom::u32().unwrap() as usize;
    random / 2 % [200, 4000][random % 2]
}

/// Reads some bytes, and closes the connection.
async fn cut(mut answer: Answer, length: usize) -> Vec<u8> {
    answer.until(|bytes| bytes.len() >= length).await;
    answer.bytes.truncate(length);
    std::mem::take(&mut answer.bytes)
}

/// Returns the events of which the last byte has come, too.
fn whole_events(bytes: Vec<u8>) -> String {
    let mut text = String::from_utf8(bytes).unwrap();
    text.truncate(text.rfind("\n\n").map_or(0, |end| end + 2));
    text.replace(": ping\n\n", "")
}
