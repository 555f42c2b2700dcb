//! Skillset endpoints: typed arguments in, plain data out.

use copilot_wire::github::{Mount, Skill, SkillCall, SkillReply};
use copilot_wire::protocol::AgentError;
use copilot_wire::{Router, async_trait};
use http::{HeaderMap, Method};
use serde_json::{Value, json};

use crate::server::send;

#[derive(serde::Deserialize)]
struct Port {
    port: String,
}

struct Tides;

#[async_trait]
impl Skill for Tides {
    type Arguments = Port;

    async fn call(&self, call: SkillCall<Port>) -> Result<SkillReply, AgentError> {
        match call.arguments.port.as_str() {
            "Brest" => Ok(SkillReply::json(&json!({"metres": 7.1}))?),
            "Who" => Ok(SkillReply::text(
                call.token().map_or("", |token| token.as_str()),
            )),
            "Panic" => panic!("a bug"),
            "Debug" => Ok(SkillReply::text(format!("{call:?}"))),
            _ => Err(AgentError::new("No such port.")),
        }
    }
}

struct Time;

#[async_trait]
impl Skill for Time {
    type Arguments = serde_json::Map<String, Value>;

    async fn call(&self, _: SkillCall<Self::Arguments>) -> Result<SkillReply, AgentError> {
        Ok(SkillReply::text("noon"))
    }
}

#[test]
fn a_skill_answers_with_plain_data() {
    let router = Router::new()
        .with(Mount::unverified().path("/tides").skill(Tides))
        .unwrap()
        .with(Mount::unverified().path("/time").skill(Time))
        .unwrap();
    let mut headers = HeaderMap::new();
    headers.insert("x-github-token", "ghu_secret".parse().unwrap());
    let cases = [
        (
            "/tides",
            r#"{"port":"Brest"}"#,
            200,
            "application/json",
            "{\"metres\":7.1}",
        ),
        (
            "/tides",
            r#"{"port":"Who"}"#,
            200,
            "text/plain; charset=utf-8",
            "ghu_secret",
        ),
        ("/time", "{}", 200, "text/plain; charset=utf-8", "noon"),
        (
            "/tides",
            r#"{"port":"Nowhere"}"#,
            500,
            "application/json",
            "No such port.",
        ),
        (
            "/tides",
            r#"{"port":"Panic"}"#,
            500,
            "application/json",
            "Sorry",
        ),
        (
            "/tides",
            r#"{"port":7}"#,
            400,
            "application/json",
            "malformed_json",
        ),
        ("/tides", "{}", 400, "application/json", "malformed_json"),
        ("/tides", "{", 400, "application/json", "malformed_json"),
        ("/tides", "", 400, "application/json", "body is empty"),
    ];
    for (path, body, status, content_type, text) in cases {
        let response = send(&router, Method::POST, path, &headers, body);
        assert_eq!(response.status.as_u16(), status, "{body}");
        assert_eq!(response.headers["content-type"], content_type, "{body}");
        assert!(response.body.contains(text), "{body}: {}", response.body);
    }
    let debug = send(
        &router,
        Method::POST,
        "/tides",
        &headers,
        r#"{"port":"Debug"}"#,
    );
    assert!(!debug.body.contains("ghu_secret"), "{}", debug.body);
    assert_eq!(
        send(&router, Method::GET, "/tides", &headers, "").body,
        "OK"
    );
}
