//! The names and the list of models, and what this server does not store.

use copilot_wire::Reply;
use copilot_wire::anthropic::{Anthropic, ErrorObject, MessagesRequest, Model};
use copilot_wire::json::Wire as _;
use copilot_wire::protocol::Conversation;
use copilot_wire::router::MountError;
use copilot_wire::{Request, Router};
use http::StatusCode;
use serde_json::{Value, json};

use crate::strict::read;
use crate::support::{agent, ask, post, router, send, whole};

fn named(name: &'static str) -> impl copilot_wire::Agent<Anthropic> + 'static {
    agent(
        move |request: Request<Anthropic>, reply: Reply<Anthropic>| async move {
            Ok(reply.text(format!("{name}: {}", request.model)).await?)
        },
    )
}

#[test]
fn a_list_of_models_has_the_form_that_its_client_reads() {
    let router = Router::new()
        .mount(Model::new("one").created(1_795_435_200), named("first"))
        .unwrap()
        .mount(Model::new("two"), named("second"))
        .unwrap();
    let get = |path: &str, version: Option<&str>| {
        let mut request = http::Request::get(path);
        if let Some(version) = version {
            request = request.header("anthropic-version", version);
        }
        let response = send(&router, request, "");
        let status = response.status();
        let text = whole(response.into_body());
        (status, serde_json::from_str::<Value>(&text).unwrap())
    };
    let one = json!({
        "type": "model", "id": "one", "display_name": "one", "created_at": "2026-11-23T12:00:00Z",
    });
    let two = json!({
        "type": "model", "id": "two", "display_name": "two", "created_at": "1970-01-01T00:00:00Z",
    });
    for version in ["2023-06-01", "2026-10-21"] {
        let list =
            json!({"data": [one, two], "has_more": false, "first_id": "one", "last_id": "two"});
        let found = get("/v1/models?limit=1000", Some(version));
        assert_eq!(found, (StatusCode::OK, list));
        let found = get("/v1/models/one", Some(version));
        assert_eq!(found, (StatusCode::OK, one.clone()));
        let error = json!({"type": "not_found_error", "message": "model: no such model"});
        let found = get("/v1/models/three", Some(version));
        let expected = json!({"type": "error", "error": error});
        assert_eq!(found, (StatusCode::NOT_FOUND, expected));
    }
    let (_, list) = get("/v1/models", None);
    assert_eq!(list["object"], "list");
    assert_eq!(get("/v1/models/one", None).1["object"], "model");
}

#[test]
fn a_date_has_its_day_in_every_year() {
    for (unix_time, expected) in [
        (951_782_399, "2000-02-28T23:59:59Z"),
        (951_782_400, "2000-02-29T00:00:00Z"),
        (1_709_164_800, "2024-02-29T00:00:00Z"),
        (4_107_542_400, "2100-03-01T00:00:00Z"),
        (u64::MAX, "9999-12-31T23:59:59Z"),
    ] {
        let model = Model::new("one").created(unix_time);
        let router = Router::new().mount(model, named("first")).unwrap();
        let request = http::Request::get("/v1/models/one").header("anthropic-version", "1");
        let text = whole(send(&router, request, "").into_body());
        let one: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(one["created_at"], expected);
    }
}

#[test]
fn a_catch_all_answers_for_every_other_name() {
    let router = Router::new()
        .mount(Model::new("one").catch_all(), named("first"))
        .unwrap()
        .mount(Model::new("two"), named("second"))
        .unwrap();
    for (model, said) in [
        ("two", "second: two"),
        ("one", "first: one"),
        ("claude-haiku-4-5", "first: claude-haiku-4-5"),
        ("", "first: one"),
    ] {
        let mut body = ask("Hi");
        body["model"] = json!(model);
        let (head, text) = post(&router, &body);
        assert_eq!(head.status, 200);
        assert_eq!(read(&text).text(), said);
    }
    let list = whole(send(&router, http::Request::get("/v1/models"), "").into_body());
    assert!(!list.contains("haiku"));
    let second = router.mount(Model::new("three").catch_all(), named("third"));
    assert!(matches!(second, Err(MountError::Invalid(_))));
}

#[test]
fn a_thread_is_refused_in_the_form_after_which_clients_send_everything() {
    let echo = router(named("one"));
    for thread in [
        json!({"type": "create"}),
        json!({"type": "continue", "previous_message_id": "msg_1"}),
        json!("odd"),
    ] {
        let mut body = ask("Hi");
        body["thread"] = thread;
        let (head, text) = post(&echo, &body);
        assert_eq!(head.status, 400);
        assert_eq!(head.headers["x-should-retry"], "false");
        let expected = json!({"type": "error", "error": {
            "type": "invalid_request_error",
            "message": "thread: threads are not stored: send the whole conversation",
            "details": {"error_code": "thread_unsupported_request", "unsupported": ["thread"]},
        }});
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
        let error = serde_json::from_str::<Value>(&text).unwrap()["error"].to_string();
        assert_eq!(
            ErrorObject::from_json(error).unwrap().kind,
            "invalid_request_error"
        );
    }
    let mut body = ask("Hi");
    body["thread"] = Value::Null;
    assert_eq!(post(&echo, &body).0.status, 200);
}

#[test]
fn deferred_tools_are_read() {
    // As Claude Code 2.1.330 sends them.
    let body = json!({
        "model": "m", "max_tokens": 9,
        "tools": [{"name": "DeferredToolPlaceholder", "description": "", "input_schema": {"type": "object"}}, {"name": "ToolSearch"}],
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "ToolSearch", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [
                {"type": "tool_reference", "tool_name": "WebFetch"}, {"type": "tool_reference", "tool_name": "WebSearch"},
            ]}]},
        ],
    });
    let request = MessagesRequest::from_json(body.to_string()).unwrap();
    let tools: Vec<_> = request.tools().map(|tool| tool.name.into_owned()).collect();
    assert_eq!(tools, ["ToolSearch"]);
    let results: Vec<_> = request
        .results()
        .map(|result| result.content.into_owned())
        .collect();
    assert_eq!(results, ["WebFetch\nWebSearch"]);
}
