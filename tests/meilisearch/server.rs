//! The protocol over HTTP: answered requests and refused requests.

use copilot_wire::meilisearch::{ApiError, ChatRequest, Meilisearch, StreamOutcome, Tools};
use copilot_wire::protocol::{AgentError, Conversation, Protocol, Refusal};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use http::StatusCode;
use serde_json::Value;

use crate::support::{JSON, body, fixture, fixture_json, post, text, whole};

/// An agent that reports the requested workspace and the prompt.
struct Echo;

#[async_trait]
impl<P: Protocol> Agent<P> for Echo {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let workspace = request.param("workspace").unwrap_or("none").to_owned();
        let prompt = request.prompt().unwrap_or_default().into_owned();
        Ok(reply.text(&format!("{workspace}: {prompt}")).await?)
    }
}

fn router() -> Router {
    Router::new()
        .mount(copilot_wire::meilisearch::Mount::new(), Echo)
        .unwrap()
}

const PATH: &str = "/chats/films/chat/completions";

#[test]
fn recorded_requests_are_answered() {
    for name in [
        "recorded/search_all_tools/request.json",
        "recorded/search_no_tools_field/request.json",
        "recorded/history_follow_up/request.json",
        "request_minimal.json",
        "request_all_tools.json",
        "request_follow_up.json",
        "request_follow_up_with_nulls.json",
    ] {
        for path in [PATH, "/chats/films/chat/completions/"] {
            let response = post(&router(), path, &[JSON], &fixture(name));
            assert_eq!(response.status(), StatusCode::OK, "{name}");
            let headers = response.headers();
            assert_eq!(headers["content-type"], "text/event-stream");
            assert_eq!(headers["content-encoding"], "identity");
            assert_eq!(headers["x-accel-buffering"], "no");
            let read = whole(&body(response));
            assert!(text(&read.events).starts_with("films: "), "{name}");
            assert!(matches!(read.outcome, StreamOutcome::Answered(_)));
        }
    }
    let router = Router::new()
        .mount(copilot_wire::meilisearch::Mount::new().path("/ask"), Echo)
        .unwrap();
    let response = post(&router, "/ask", &[JSON], &fixture("request_minimal.json"));
    assert_eq!(response.status(), StatusCode::OK);
}

#[test]
fn any_declaration_counts_by_its_name() {
    let mut request = fixture_json("request_minimal.json");
    for (tools, expected) in [
        ("tools_documented_2025.json", Tools::ALL),
        ("tools_documented_2026.json", Tools::ALL),
        ("tools_name_only.json", Tools::ALL),
    ] {
        request["tools"] = fixture_json(tools);
        let read = ChatRequest::read(&request.to_string().into()).unwrap();
        assert_eq!(read.tools, expected);
    }
}

#[test]
fn refusals_are_the_servers() {
    // Messages that are equal to the server's; the others report the same error in other words.
    let exact = [
        "user_tool",
        "declares_internal_tool",
        "n_two",
        "stream_absent",
        "missing_model",
        "body_empty",
    ];
    let minimal = fixture_json("request_minimal.json");
    let with = |change: fn(&mut Value)| {
        let mut request = minimal.clone();
        change(&mut request);
        request.to_string().into_bytes()
    };
    let mut seen = 0;
    for case in fixture_json("http_errors.json").as_array().unwrap() {
        let name = case["case"].as_str().unwrap();
        let (headers, body): (&[_], _) = match name {
            "stream_absent"
            | "n_two"
            | "user_tool"
            | "declares_internal_tool"
            | "missing_model"
            | "unknown_role"
            | "body_not_json" => (&[JSON], fixture(&format!("recorded/{name}/request.json"))),
            "wrong_content_type" => (
                &[("content-type", "text/plain")],
                minimal.to_string().into(),
            ),
            "no_content_type" => (&[], minimal.to_string().into()),
            "body_empty" => (&[JSON], Vec::new()),
            "missing_messages" => (
                &[JSON],
                with(|request| {
                    request.as_object_mut().unwrap().remove("messages");
                }),
            ),
            "null_content_user" => (
                &[JSON],
                with(|request| request["messages"][0]["content"] = Value::Null),
            ),
            "tool_type_custom" => (
                &[JSON],
                with(|request| {
                    request["tools"] =
                        serde_json::json!([{"type": "custom", "function": {"name": "f"}}]);
                }),
            ),
            // Keys and workspaces are checked by the application, not by this crate.
            "feature_disabled" | "no_authorization" | "search_key" | "unknown_workspace" => {
                continue;
            }
            other => panic!("{other}"),
        };
        seen += 1;
        let response = post(&router(), PATH, headers, &body);
        assert_eq!(response.status().as_u16(), case["status"], "{name}");
        let got: Value = serde_json::from_slice(&crate::support::body(response)).unwrap();
        for key in ["code", "type", "link"] {
            assert_eq!(got[key], case["body"][key], "{name}");
        }
        if exact.contains(&name) {
            let message = got["message"].as_str().unwrap();
            let expected = case["body"]["message"].as_str().unwrap();
            // Columns are not counted.
            assert_eq!(
                message,
                expected.split(" at line").next().unwrap(),
                "{name}"
            );
        }
    }
    assert_eq!(seen, 13);
}

#[test]
fn refusals_of_our_own_making_are_the_servers_too() {
    for (name, error) in [
        ("feature_disabled", ApiError::feature_not_enabled()),
        ("no_authorization", ApiError::missing_authorization()),
        ("search_key", ApiError::invalid_api_key()),
        ("unknown_workspace", ApiError::workspace_not_found("nobody")),
    ] {
        let recorded = fixture(&format!("recorded/{name}/body.json"));
        assert_eq!(error.to_json(), recorded, "{name}");
        assert_eq!(ApiError::from_response(error.status, &recorded), error);
        let refusal = Refusal::from(error);
        assert_eq!(
            Meilisearch::refuse(&refusal).into_body(),
            recorded,
            "{name}"
        );
    }
    let page = ApiError::from_response(StatusCode::BAD_GATEWAY, b"<html>");
    assert_eq!(page.to_string(), "refused with status 502");
}

#[test]
fn the_order_of_the_checks_is_the_servers() {
    let code = |request: &str| {
        ChatRequest::read(&request.to_owned().into())
            .unwrap_err()
            .code
    };
    let foreign = r#""tools":[{"type":"function","function":{"name":"f"}}]"#;
    let shape = format!(r#"{{"model":"m","n":2,{foreign}}}"#);
    assert_eq!(code(&shape), "bad_request");
    let n = format!(r#"{{"model":"m","messages":[],"n":2,{foreign}}}"#);
    assert_eq!(code(&n), "unimplemented_multi_choice_chat_completions");
    let stream = format!(r#"{{"model":"m","messages":[],"n":null,{foreign}}}"#);
    assert_eq!(
        code(&stream),
        "unimplemented_non_streaming_chat_completions"
    );
    let tools = format!(r#"{{"model":"m","messages":[],"stream":true,"n":1,{foreign}}}"#);
    assert_eq!(code(&tools), "unimplemented_external_function_calling");
}

#[test]
fn null_is_for_the_assistant_only() {
    let read = |message: &str| {
        let body = format!(r#"{{"model":"m","stream":true,"messages":[{message}]}}"#);
        ChatRequest::read(&body.into())
    };
    for good in [
        r#"{"role":"assistant"}"#,
        r#"{"role":"assistant","content":null,"tool_calls":null}"#,
        r#"{"role":"tool","content":"x","tool_calls":null,"tool_call_id":"a"}"#,
        r#"{"role":"user","content":[{"type":"text","text":"x"}]}"#,
        r#"{"role":"developer","content":"x"}"#,
    ] {
        assert!(read(good).is_ok(), "{good}");
    }
    for bad in [
        r#"{"role":"user","content":null}"#,
        r#"{"role":"user"}"#,
        r#"{"role":"tool","content":"x"}"#,
        r#"{"role":"tool","tool_call_id":"x"}"#,
        r#"{"content":"x"}"#,
        r#""x""#,
    ] {
        assert_eq!(read(bad).unwrap_err().code, "bad_request", "{bad}");
    }
}

#[test]
fn a_request_is_a_conversation() {
    let body = fixture("request_follow_up.json");
    let mut request = ChatRequest::read(&body.into()).unwrap();
    let said: Vec<_> = Conversation::messages(&request)
        .map(|message| message.text.into_owned())
        .collect();
    assert_eq!(said.len(), 3);
    assert_eq!(request.prompt().unwrap(), "Which of them is the oldest?");
    assert_eq!(request.results().count(), 0);
    // A turn that ended with its results.
    request.messages.truncate(3);
    let result = request.results().next().unwrap();
    assert_eq!(result.name, "_meiliSearchInIndex");
    assert_eq!(result.call_id.unwrap(), "call_A1b2C3d4E5f6");
    assert!(result.content.starts_with("Metropolis"));
    assert!(result.arguments.is_some());
}
