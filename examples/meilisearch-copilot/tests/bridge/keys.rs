//! Tests of the keys of Meilisearch clients.

use std::time::Duration;

use bytes::Bytes;
use copilot_wire::meilisearch::{ApiError, ApiKey, ChatRequest, Instance};
use meilisearch_copilot::replay::{Replay, Script, Step};
use meilisearch_copilot::{Bridge, Upstream};
use serde_json::{Value, json};

use crate::support::*;

/// A search engine with three keys, one of which may not search. It answers with the documents of the key.
struct Tenants;

impl Script for Tenants {
    fn answer(&self, key: &str, _: &ChatRequest) -> Result<Vec<Step>, ApiError> {
        let found = match key {
            "tenant-1-SECRET" => "films of 1927",
            "tenant-2-SECRET" => "films of 1982",
            "key" => "all films",
            "chat-only" => "no films",
            _ => return Err(ApiError::invalid_api_key()),
        };
        let delta = json!({"content": found});
        let chunk =
            json!({"id": "1", "choices": [{"index": 0, "delta": delta, "finish_reason": "stop"}]});
        let stream = format!("data: {chunk}\n\ndata: [DONE]\n\n");
        Ok(vec![Step::Send(Bytes::from(stream))])
    }

    fn may_search(&self, key: &str) -> bool {
        key != "chat-only"
    }
}

/// Posts as a Meilisearch client; returns the status and the body.
async fn post(setup: &Setup, authorization: Option<&str>) -> (u16, String) {
    let (path, body) = asking("meilisearch", json!({}));
    let request = setup.client.post(format!("{}{path}", setup.base));
    let mut request = request
        .header("content-type", "application/json")
        .body(body.to_string());
    if let Some(authorization) = authorization {
        request = request.header("authorization", authorization);
    }
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    (status, response.text().await.unwrap())
}

#[tokio::test]
async fn a_meilisearch_client_finds_what_its_own_key_finds() {
    let setup = Setup::new(Tenants).await;
    for (key, found) in [
        ("Bearer tenant-1-SECRET", "films of 1927"),
        ("Bearer tenant-2-SECRET", "films of 1982"),
    ] {
        let (status, stream) = post(&setup, Some(key)).await;
        assert_eq!(status, 200);
        assert_eq!(text_of("meilisearch", &stream), found);
    }
    for front in FRONTS.iter().filter(|front| **front != "meilisearch") {
        let stream = setup.ask(front, json!({})).await;
        assert_eq!(text_of(front, &stream), "all films", "{front}");
    }
}

#[tokio::test]
async fn a_wrong_key_and_none_are_refused_as_the_search_engine_does() {
    let setup = Setup::new(Tenants).await;
    let recorded: Value = serde_json::from_str(include_str!(
        "../../../../fixtures/meilisearch/recorded/no_authorization/body.json"
    ))
    .unwrap();
    for none in [
        None,
        Some("Basic a2V5OmtleQ=="),
        Some("Bearer"),
        Some("key"),
    ] {
        let (status, body) = post(&setup, none).await;
        assert_eq!(status, 401, "{none:?}");
        assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), recorded);
    }
    let error = String::from_utf8(ApiError::invalid_api_key().to_json().to_vec()).unwrap();
    for garbage in [
        "Bearer garbage-SECRET",
        "Bearer tenant-1-SECRET x",
        "Bearer XXX...",
    ] {
        assert_eq!(post(&setup, Some(garbage)).await, (403, error.clone()));
    }
    let log = setup.log.lock().unwrap().clone();
    assert!(!log.contains("SECRET"), "{log}");
}

#[tokio::test]
async fn a_missing_key_is_refused_before_the_body_is_read() {
    let setup = Setup::new(Tenants).await;
    let request = setup
        .client
        .post(format!("{}/chats/any/chat/completions", setup.base));
    let request = request.header("content-type", "application/json").body("{");
    assert_eq!(request.send().await.unwrap().status(), 401);
}

#[tokio::test]
async fn what_the_search_engine_refuses_keeps_its_status_and_its_words() {
    let refuse = |_: &ChatRequest| -> Result<Vec<Step>, ApiError> {
        Err(ApiError::workspace_not_found("films"))
    };
    let setup = Setup::new(refuse).await;
    let error = ApiError::workspace_not_found("films").to_json();
    let error = String::from_utf8(error.to_vec()).unwrap();
    assert_eq!(post(&setup, Some("Bearer key")).await, (404, error));
}

#[tokio::test]
async fn the_shared_key_is_a_choice() {
    let patience = Duration::from_secs(20);
    let setup = Setup::with(Tenants, patience, |bridge| bridge.shared_key(true)).await;
    for key in [None, Some("Bearer garbage"), Some("Bearer tenant-1-SECRET")] {
        let (status, stream) = post(&setup, key).await;
        assert_eq!(status, 200, "{key:?}");
        assert_eq!(text_of("meilisearch", &stream), "all films", "{key:?}");
    }
}

#[tokio::test]
async fn keys_are_in_no_debug_output() {
    let instance = Instance::new("http://127.0.0.1:1").unwrap();
    let upstream = Upstream::new(instance, "films", Duration::from_secs(1)).unwrap();
    let upstream = upstream.key(ApiKey::new("tenant-1-SECRET").unwrap());
    let printed = format!("{upstream:?} {:?}", Bridge::new(upstream.clone(), "m"));
    assert!(!printed.contains("SECRET"), "{printed}");
}

#[tokio::test]
async fn the_check_notices_a_key_that_may_not_search() {
    let replay = Replay::start(Tenants).await.unwrap();
    let check = async |key: &str| {
        let instance = Instance::new(&replay.url()).unwrap();
        let instance = instance.key(ApiKey::new(key).unwrap());
        let upstream = Upstream::new(instance, "films", Duration::from_secs(20)).unwrap();
        upstream.check("m").await.map_err(|error| error.to_string())
    };
    assert_eq!(check("key").await, Ok(()));
    let error = check("chat-only").await.unwrap_err();
    assert!(
        error.starts_with("the key may chat, and not search"),
        "{error}"
    );
    let error = check("garbage").await.unwrap_err();
    assert!(
        error.contains("with the action `chatCompletions`"),
        "{error}"
    );
}
