//! Requests of clients.

use copilot_wire::json::Json;
use copilot_wire::meilisearch::{ApiKey, ChatRequest, Instance, Message, Tools};
use serde_json::Value;

use crate::support::fixture_json;

fn key() -> ApiKey {
    ApiKey::new("sk-0123456789abcdef0123456789abcdef").unwrap()
}

fn server() -> Instance {
    Instance::new("https://search.example.com/")
        .unwrap()
        .key(key())
}

#[test]
fn every_endpoint_has_its_request() {
    let server = server();
    let chat = ChatRequest::new("m", [Message::user("hi")]);
    for (request, expected) in [
        (server.chat("w", &chat), "POST /chats/w/chat/completions"),
        (server.search_nothing(), "POST /multi-search"),
    ] {
        let request = request.unwrap();
        let (method, target) = expected.split_once(' ').unwrap();
        assert_eq!(request.method(), method);
        assert_eq!(
            request.uri().to_string(),
            format!("https://search.example.com{target}")
        );
        assert!(request.headers()["authorization"].is_sensitive());
        let json = request.headers().get("content-type");
        assert_eq!(json.is_some(), !request.body().is_empty(), "{expected}");
        assert!(!format!("{request:?}").contains("0123456789"));
    }
    let body = server.search_nothing().unwrap().into_body();
    assert_eq!(body, &br#"{"queries":[]}"#[..]);
}

#[test]
fn a_name_is_one_segment() {
    let server = server();
    let chat = ChatRequest::new("m", [Message::user("hi")]);
    let request = server.chat("a/b c?d#é", &chat).unwrap();
    assert_eq!(
        request.uri().path(),
        "/chats/a%2Fb%20c%3Fd%23%C3%A9/chat/completions"
    );
    for bad in ["", ".", ".."] {
        assert!(server.chat(bad, &chat).is_err());
    }
    for bad in ["", "search.example.com", "http://", "http://x/?q"] {
        assert!(Instance::new(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_key_is_one_visible_line() {
    for bad in ["", "a b", "a\nb", "é"] {
        assert!(ApiKey::new(bad).is_err(), "{bad:?}");
    }
    assert_eq!(format!("{:?}", server()).matches("sk-").count(), 0);
}

#[test]
fn the_tools_are_declared_as_documented_with_the_servers_names() {
    let declared = |tools| {
        let request = ChatRequest::new("m", []).tools(tools);
        let body: Value = serde_json::from_slice(&request.to_json()).unwrap();
        body["tools"].clone()
    };
    assert_eq!(declared(Tools::NONE), Value::Null);
    let two = declared(Tools::SOURCES.with(Tools::PROGRESS));
    assert_eq!(two.as_array().unwrap().len(), 2);
    let ours = declared(Tools::ALL);
    let documented = fixture_json("tools_documented_2026.json");
    for (ours, documented) in ours
        .as_array()
        .unwrap()
        .iter()
        .zip(documented.as_array().unwrap())
    {
        let function = &ours["function"];
        assert_eq!(function["name"], documented["function"]["name"]);
        assert_eq!(
            function["description"],
            documented["function"]["description"]
        );
        let known = |tool: &Value| -> Vec<String> {
            let members = tool["function"]["parameters"]["properties"]
                .as_object()
                .unwrap();
            let name = |key: &String| {
                key.replace("function_parameters", "function_arguments")
                    .replace("documents", "sources")
            };
            let mut names: Vec<_> = members.keys().map(name).collect();
            names.sort();
            names
        };
        assert_eq!(known(ours), known(documented));
    }
    // The recorded notifications match the declarations.
    for (place, kind) in [
        (0, "progress"),
        (1, "append_assistant"),
        (1, "append_tool"),
        (2, "sources"),
    ] {
        let sent = fixture_json("decoded_tool_arguments.json")[kind]["decoded_arguments"].clone();
        let schema = &ours[place]["function"]["parameters"];
        for key in sent.as_object().unwrap().keys() {
            assert!(schema["properties"].get(key).is_some(), "{kind}: {key}");
        }
        for key in schema["required"].as_array().unwrap() {
            assert!(sent.get(key.as_str().unwrap()).is_some(), "{kind}: {key}");
        }
    }
}

#[test]
fn parameters_go_with_the_request_and_cannot_change_what_it_is() {
    let request = ChatRequest::new("m", [Message::user("hi")])
        .parameter("temperature", &0.5)
        .unwrap()
        .parameter("stream", &false)
        .unwrap();
    assert_eq!(
        String::from_utf8(request.to_json().into()).unwrap(),
        r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}],"temperature":0.5}"#
    );
    let read = ChatRequest::read(&request.to_json()).unwrap();
    assert_eq!(
        read.parameters.get("temperature"),
        Some(&Json::parse("0.5").unwrap())
    );
    assert_eq!(read.to_json(), request.to_json());
}
