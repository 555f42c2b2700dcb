//! Tests of failures: the messages for users and operators, and data that must not be forwarded.

use std::time::Duration;

use bytes::Bytes;
use copilot_wire::meilisearch::{
    ApiError, ApiKey, ChatRequest, Event, Instance, SearchFailure, Tools,
};
use http::StatusCode;
use meilisearch_copilot::Upstream;
use meilisearch_copilot::replay::{Replay, Step};
use serde_json::{Value, json};

use crate::support::*;

/// A chunk with text; a round has an id of its own.
fn chunk(round: &str, text: &str) -> Step {
    let chunk = json!({"id": round, "choices": [{"index": 0, "delta": {"content": text}}]});
    Step::Send(Bytes::from(format!("data: {chunk}\n\n")))
}

fn error_frame(error: Value) -> Step {
    let frame = json!({"event_id": "e", "type": "error", "error": error});
    Step::Send(Bytes::from(format!("data: {frame}\n\n")))
}

fn end() -> Step {
    let end = json!({"id": "2", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    Step::Send(Bytes::from(format!("data: {end}\n\ndata: [DONE]\n\n")))
}

#[tokio::test]
async fn reasons_are_those_of_the_failure() {
    for (recording, told, logged) in [
        (
            "provider_ip_denied",
            "may not use its model",
            "--experimental-allowed-ip-networks",
        ),
        (
            "llm_401",
            "may not use its model",
            "does not accept the API key",
        ),
        (
            "llm_bad_json",
            "answer cannot be read",
            "cannot read the answer",
        ),
        (
            "llm_drop_mid_text",
            "answer broke off",
            "provider broke off",
        ),
        (
            "llm_error_second_turn",
            "no capacity",
            "rate_limit_exceeded",
        ),
        ("llm_empty", "gave no answer", "gave no answer"),
    ] {
        let setup = Setup::new(then(recording, usize::MAX, vec![])).await;
        let error = setup.openai("x").await.error.expect(recording);
        assert!(error.contains(told), "{recording}: {error}");
        setup.meilisearch("m", Tools::ALL).await;
        let log = setup.log.lock().unwrap().clone();
        assert_eq!(log.matches("protocol:").count(), 2, "{recording}: {log}");
        assert!(log.contains(logged), "{recording}: {log}");
        assert!(!log.contains("cause: None"), "{recording}: {log}");
        for word in ["sk-", "Rejected IP", "decoding response"] {
            assert!(!error.contains(word), "{recording}: {error}");
        }
        assert!(!log.contains("sk-"), "{recording}: {log}");
    }
}

#[tokio::test]
async fn refusals_say_what_to_do() {
    type Refuse = fn() -> ApiError;
    let cases: [(Refuse, &str); 3] = [
        (
            ApiError::feature_not_enabled,
            "switch the experimental feature `chatCompletions` on",
        ),
        (ApiError::invalid_api_key, "set MEILI_KEY"),
        (
            || ApiError::workspace_not_found("films"),
            "create the workspace",
        ),
    ];
    for (refuse, advice) in cases {
        let script = move |_: &ChatRequest| -> Result<Vec<Step>, ApiError> { Err(refuse()) };
        let setup = Setup::new(script).await;
        setup.openai("x").await;
        let log = setup.log.lock().unwrap().clone();
        assert!(log.contains(advice), "{log}");
    }
}

#[tokio::test]
async fn empty_messages_of_the_assistant_are_not_forwarded() {
    let (script, asked) = listening();
    let setup = Setup::new(script).await;
    setup
        .openbb("t", &[("human", "a"), ("ai", ""), ("human", "b")])
        .await;
    setup
        .github("t", &[("user", "a"), ("assistant", ""), ("user", "b")])
        .await;
    let call = json!({"id": "c", "function": {"name": "_meiliSearchInIndex", "arguments": "{}"}});
    let messages = json!([
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "content": "", "tool_call_id": "c"},
        {"role": "assistant", "content": ""},
        {"role": "assistant", "content": null},
        {"role": "user", "content": "b"},
    ]);
    let body = json!({"model": "m", "stream": true, "messages": messages});
    setup
        .post("/chats/any/chat/completions", &[], body)
        .await
        .bytes()
        .await
        .unwrap();
    let asked = asked.lock().unwrap();
    assert_eq!(roles(&asked[0]), ["user", "user"]);
    assert_eq!(roles(&asked[1]), ["user", "user"]);
    assert_eq!(roles(&asked[2]), ["user", "assistant", "tool", "user"]);
}

#[tokio::test]
async fn what_follows_a_failed_search_is_a_paragraph_of_its_own() {
    let search =
        json!({"type": "response_error", "code": "404", "message": "Index `secret` not found."});
    let setup = Setup::new(move |_: &ChatRequest| {
        Ok(vec![
            chunk("1", "I look."),
            error_frame(search.clone()),
            chunk("2", "Nothing."),
            end(),
        ])
    })
    .await;
    assert_eq!(
        setup.openbb("t", &[("human", "x")]).await,
        "I look.\n\nNothing."
    );
    assert_eq!(
        setup.github("t", &[("user", "x")]).await.text,
        "I look.\n\nNothing."
    );
    let text = setup.openai("x").await.text;
    assert!(
        text.starts_with("I look.\n\n") && text.ends_with("\n\nNothing."),
        "{text:?}"
    );
    assert!(!text.contains("secret"), "{text:?}");
}

#[tokio::test]
async fn error_frames_of_searches_pass_as_they_are() {
    let error = json!({"type": "response_error", "code": "index_gone", "message": "Gone.", "param": "q", "hint": 1});
    let sent = error.clone();
    let script =
        move |_: &ChatRequest| Ok(vec![error_frame(sent.clone()), chunk("1", "No."), end()]);
    let patience = Duration::from_secs(20);
    let setup = Setup::with(script, patience, |bridge| bridge.error_frames(true)).await;
    let (events, _) = setup.meilisearch("m", Tools::ALL).await;
    let Some(Event::Error(failure)) = events.first() else {
        panic!("{events:?}")
    };
    assert_eq!(failure.code.as_deref(), Some("index_gone"));
    assert_eq!(failure.message, "Gone.");
    assert_eq!(failure.param.as_deref(), Some("q"));
    assert_eq!(failure.unknown.get("hint").unwrap().text(), "1");
    assert!(SearchFailure::try_from(failure.clone()).is_ok());
}

#[tokio::test]
async fn the_check_says_whether_the_workspace_answers() {
    let check = async |recording: &'static str| {
        let replay = Replay::start(then(recording, usize::MAX, vec![]))
            .await
            .unwrap();
        let instance = Instance::new(&replay.url())
            .unwrap()
            .key(ApiKey::new("key").unwrap());
        let upstream = Upstream::new(instance, "films", Duration::from_secs(20)).unwrap();
        upstream.check("m").await.map_err(|error| error.to_string())
    };
    assert_eq!(check("search_all_tools").await, Ok(()));
    let denied = check("provider_ip_denied").await.unwrap_err();
    assert!(denied.contains("rejects the IP address"), "{denied}");
    let empty = check("llm_empty").await.unwrap_err();
    assert_eq!(empty, "the search engine gave no answer");
}

#[tokio::test]
async fn a_search_engine_that_is_busy_may_be_asked_again() {
    for status in [408, 429, 503] {
        let setup = Setup::new(move |_: &ChatRequest| -> Result<Vec<Step>, ApiError> {
            let status = StatusCode::from_u16(status).unwrap();
            Err(ApiError::from_response(status, b"busy"))
        })
        .await;
        let error = setup.openai("x").await.error.unwrap();
        assert!(error.contains("not available for now"), "{status}: {error}");
        let log = setup.log.lock().unwrap().clone();
        assert!(log.contains("ask again later"), "{status}: {log}");
        // Without a stream it is a status, with which clients ask again.
        let (path, body) = asking("openai", json!({"stream": false}));
        let request = setup.client.post(format!("{}{path}", setup.base));
        let request = request
            .header("content-type", "application/json")
            .body(body.to_string());
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), status);
        assert!(!response.headers().contains_key("x-should-retry"));
    }
    for (code, told) in [
        ("503", "not available for now"),
        ("429", "no capacity"),
        ("400", "refused"),
    ] {
        let error = json!({"type": "api_error", "code": code, "message": "Later."});
        let setup = Setup::new(move |_: &ChatRequest| Ok(vec![error_frame(error.clone())])).await;
        let error = setup.openai("x").await.error.unwrap();
        assert!(error.contains(told), "{code}: {error}");
    }
}

#[tokio::test]
async fn the_log_has_the_plain_words_of_the_provider() {
    let message = format!(
        "Your organization must be verified\nto use `stream` (limit 500): sk-proj-SECRET {} http://user:SECRET@host/ \u{202e}SECRET {}",
        "SECRET".repeat(10),
        "word ".repeat(10_000),
    );
    let error = json!({"type": "invalid_request_error", "code": "unsupported", "message": message});
    let setup = Setup::new(move |_: &ChatRequest| Ok(vec![error_frame(error.clone())])).await;
    for front in FRONTS {
        setup.log.lock().unwrap().clear();
        let stream = setup.ask(front, json!({})).await;
        assert!(!stream.contains("verified"), "{front}: {stream}");
        let log = setup.log.lock().unwrap().clone();
        let words =
            r#""Your organization must be verified to use `stream` (limit 500): … … … … word word"#;
        assert!(log.contains(words), "{front}: {log}");
        assert!(
            !log.contains("SECRET") && !log.contains('\n'),
            "{front}: {log}"
        );
        assert!(log.len() < 2000, "{front}: {}", log.len());
    }
}
