//! Tests of failures: the messages for users and operators, and data that must not be forwarded.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::meilisearch::{
    ApiError, ApiKey, ChatRequest, Event, Instance, SearchFailure, Tools,
};
use meilisearch_copilot::Upstream;
use meilisearch_copilot::replay::{Replay, Script, Step};
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
        for secret in ["sk-", "Rejected IP", "decoding response"] {
            assert!(!error.contains(secret), "{recording}: {error}");
            assert!(!log.contains(secret), "{recording}: {log}");
        }
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
async fn openai_clients_read_why_the_answer_ended() {
    let setup = Setup::new(then("finish_length", usize::MAX, vec![])).await;
    let answer = setup.openai("x").await;
    assert_eq!(answer.finish.as_deref(), Some("length"));
    assert!(!answer.text.contains("cut off"), "{}", answer.text);
    let text = setup.openbb("t", &[("human", "x")]).await;
    assert!(
        text.ends_with("\n\n(The answer is cut off: it reached the model's limit.)"),
        "{text}"
    );
}

#[tokio::test]
async fn openai_clients_have_a_say_in_how_the_model_answers() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&asked);
    let setup = Setup::new(move |chat: &ChatRequest| {
        let parameters = chat.parameters.iter();
        let named = parameters.map(|(name, value)| (name.to_owned(), value.text().to_owned()));
        heard.lock().unwrap().extend(named);
        recordings().answer(chat)
    })
    .await;
    let body = json!({
        "model": "search", "stream": true, "messages": [{"role": "user", "content": "x"}],
        "temperature": 0.2, "max_tokens": 50, "n": 1, "parallel_tool_calls": true,
        "reasoning_effort": "minimal", "stream_options": {"include_usage": true},
        "tools": [{"type": "function", "function": {"name": "mine"}}],
    });
    setup
        .post("/v1/chat/completions", &[], body)
        .await
        .bytes()
        .await
        .unwrap();
    let mut asked = asked.lock().unwrap().clone();
    asked.sort();
    let named = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        asked,
        [named("max_tokens", "50"), named("temperature", "0.2")]
    );
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
