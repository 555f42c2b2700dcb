//! Answers that are cut, and asked for again.

use copilot_wire::Body;
use futures::StreamExt;
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::chat::{read, text};
use crate::questions::yes;
use crate::scripted::command;

fn user(key: &'static str) -> HeaderMap {
    HeaderMap::from_iter([(http::header::AUTHORIZATION, HeaderValue::from_static(key))])
}

/// Returns the callers that must find nothing: another user, and nobody.
fn others() -> [HeaderMap; 2] {
    [user("Bearer two"), HeaderMap::new()]
}

fn bench() -> Bench {
    let bench = Bench::new();
    bench.replies([command("effect", "{}")]);
    bench
}

/// Reads the beginning of an answer, up to the command that waits, and leaves.
async fn cut(bench: &Bench, mut body: Body) -> String {
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains("Running effect") {
        seen.extend_from_slice(&body.next().await.unwrap().unwrap());
    }
    while bench.runs() == 0 {
        tokio::task::yield_now().await;
    }
    String::from_utf8(seen).unwrap()
}

/// Returns the events of a stream, without comments.
fn events(stream: &str) -> Vec<Value> {
    let data = stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    data.filter_map(|data| serde_json::from_str(data).ok())
        .collect()
}

#[tokio::test]
async fn a_page_that_is_cut_resumes_its_answer() {
    let bench = bench();
    let ada = user("Bearer one");
    let message = |role: &str, text: &str| json!({"id": role, "role": role, "parts": [{"type": "text", "text": text}]});
    let body = |messages: &[Value]| {
        json!({"id": "chat-1", "trigger": "submit-message", "messages": messages}).to_string()
    };
    let goal = message("user", "make an effect");
    let first = bench
        .post("/api/chat", &ada, &body(std::slice::from_ref(&goal)))
        .await;
    let asked = text(&read(first.into_body()).await);
    bench.effect.gate.forget_permits(100);
    let answer = body(&[
        goal,
        message("assistant", &asked),
        message("user", &yes(&asked)),
    ]);
    let second = bench.post("/api/chat", &ada, &answer).await;
    let seen = cut(&bench, second.into_body()).await;

    let path = "/api/chat/chat-1/stream";
    for other in others() {
        assert_eq!(
            bench.get(path, &other).await.status(),
            StatusCode::NO_CONTENT
        );
    }
    let elsewhere = bench.get("/api/chat/chat-2/stream", &ada).await;
    assert_eq!(elsewhere.status(), StatusCode::NO_CONTENT);
    let resumed = bench.get(path, &ada).await;
    assert_eq!(resumed.status(), StatusCode::OK);
    bench.effect.gate.add_permits(100);
    let whole = read(resumed.into_body()).await;
    // The page has dropped what it had, so all of it comes, and comes once.
    assert!(whole.starts_with(&seen), "{whole}");
    assert!(whole.ends_with("data: [DONE]\n\n"), "{whole}");
    assert_eq!(text(&whole).matches("Task complete").count(), 1, "{whole}");
    for once in ["start", "finish"] {
        let found = events(&whole)
            .into_iter()
            .filter(|event| event["type"] == once);
        assert_eq!(found.count(), 1, "{whole}");
    }
    assert_eq!(bench.runs(), 1);
}

#[tokio::test]
async fn a_response_that_is_cut_resumes_after_its_last_event() {
    let bench = bench();
    let ada = user("Bearer one");
    let message = |role: &str, text: &str| json!({"role": role, "content": text});
    let body = |input: &[Value]| {
        json!({"model": "autogpt", "input": input, "background": true, "stream": true}).to_string()
    };
    let goal = message("user", "make an effect");
    let first = bench
        .post("/v1/responses", &ada, &body(std::slice::from_ref(&goal)))
        .await;
    let first = read(first.into_body()).await;
    let asked = events(&first).last().unwrap()["response"]["output"].clone();
    let asked = asked.as_array().unwrap().last().unwrap()["content"][0]["text"].clone();
    let asked = asked.as_str().unwrap();
    bench.effect.gate.forget_permits(100);
    let answer = body(&[
        goal,
        message("assistant", asked),
        message("user", &yes(asked)),
    ]);
    let second = bench.post("/v1/responses", &ada, &answer).await;
    let seen = events(&cut(&bench, second.into_body()).await);

    let id = seen[0]["response"]["id"].as_str().unwrap();
    let after = seen.last().unwrap()["sequence_number"].as_u64().unwrap();
    let paths = [
        format!("/v1/responses/{id}"),
        format!("/v1/responses/{id}?stream=true&starting_after={after}"),
    ];
    for other in others() {
        for path in &paths {
            assert_eq!(
                bench.get(path, &other).await.status(),
                StatusCode::NOT_FOUND
            );
        }
    }
    let resumed = bench.get(&paths[1], &ada).await;
    assert_eq!(resumed.status(), StatusCode::OK);
    bench.effect.gate.add_permits(100);
    let rest = events(&read(resumed.into_body()).await);
    let numbers: Vec<_> = seen
        .iter()
        .chain(&rest)
        .map(|event| event["sequence_number"].as_u64().unwrap())
        .collect();
    let expected: Vec<_> = (0..numbers.len() as u64).collect();
    assert_eq!(numbers, expected);
    assert_eq!(rest.last().unwrap()["type"], "response.completed");
    let object = read(bench.get(&paths[0], &ada).await.into_body()).await;
    let object: Value = serde_json::from_str(&object).unwrap();
    assert_eq!(object["status"], "completed");
    assert_eq!(object["output"], rest.last().unwrap()["response"]["output"]);
    assert!(object.to_string().contains("Task complete"), "{object}");
    assert_eq!(bench.runs(), 1);
}
