//! Both mounts are as the pages expect them.
#![allow(clippy::indexing_slicing, clippy::unwrap_used)]

use std::convert::Infallible;

use bytes::Bytes;
use chat_pages::{ORIGINS, router};
use futures::StreamExt;
use serde_json::{Value, json};

/// Posts from an origin of the pages and returns the stream.
async fn post(path: &str, origin: &str, body: &Value) -> String {
    let request = http::Request::post(path)
        .header("content-type", "application/json")
        .header("origin", origin)
        .body(futures::stream::iter([Ok::<_, Infallible>(Bytes::from(
            body.to_string(),
        ))]))
        .unwrap();
    let (head, body) = router().unwrap().handle(request).await.into_parts();
    assert_eq!(head.status, 200);
    assert_eq!(head.headers["access-control-allow-origin"], origin);
    let frames: Vec<Bytes> = body.map(Result::unwrap).collect().await;
    String::from_utf8(frames.concat()).unwrap()
}

async fn ai_sdk(text: &str) -> String {
    let message = json!({"id": "u1", "role": "user", "parts": [{"type": "text", "text": text}]});
    let chat = json!({"id": "c1", "messages": [message]});
    post("/api/chat", ORIGINS[0], &chat).await
}

async fn ag_ui(text: &str) -> String {
    let message = json!({"id": "u1", "role": "user", "content": text});
    let tools = json!([{"name": "getTimeZone", "description": "…", "parameters": {}}]);
    let run = json!({"threadId": "t1", "runId": "r1", "messages": [message], "tools": tools});
    post("/agui", ORIGINS[1], &run).await
}

#[tokio::test(start_paused = true)]
async fn rows_are_data_and_no_markdown() {
    for (stream, table, chart) in [
        (ai_sdk("Tides?").await, "data-table", "data-chart"),
        (ag_ui("Tides?").await, "\"table\"", "\"chart\""),
    ] {
        assert!(stream.contains(table), "{stream}");
        assert!(stream.contains(chart), "{stream}");
        assert!(!stream.contains("| --- |"), "{stream}");
    }
}

#[tokio::test(start_paused = true)]
async fn questions_have_buttons() {
    let stream = ai_sdk("Delete the log").await;
    assert!(stream.contains("tool-approval-request"), "{stream}");
    let stream = ag_ui("Delete the log").await;
    assert!(stream.contains("\"type\":\"interrupt\""), "{stream}");
}

#[tokio::test(start_paused = true)]
async fn the_tool_of_the_browser_is_called() {
    for stream in [ai_sdk("Read my clock").await, ag_ui("Read my clock").await] {
        assert!(stream.contains("getTimeZone"), "{stream}");
    }
}
