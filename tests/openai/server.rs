//! The OpenAI server role, in process: requests through a router, replies as a client reads them.

use crate::support::{agent, fixed, post};
use copilot_wire::openai::OpenAi;
use copilot_wire::protocol::AgentError;
use copilot_wire::{Reply, Router};
use http::StatusCode;

async fn hello(reply: Reply<OpenAi>) -> Result<(), AgentError> {
    reply.text("Hello").await?;
    reply.text(" \"world\"\u{2028}").await?;
    Ok(())
}

#[test]
fn a_stream_is_golden() {
    let router = Router::new()
        .env(fixed())
        .openai("m", agent(hello))
        .unwrap();
    let body = r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true}"#;
    let (status, text) = post(&router, body);
    assert_eq!(status, StatusCode::OK);
    let head = r#"data: {"id":"chatcmpl-2a2a2a2a2a2a4a2aaa2a2a2a2a2a2a2a","object":"chat.completion.chunk","created":1764000000,"model":"m","choices":[{"index":0,"delta":"#;
    let expected = [
        r#"{"role":"assistant","content":""},"finish_reason":null}]}"#,
        r#"{"content":"Hello"},"finish_reason":null}]}"#,
        r#"{"content":" \"world\"\u2028"},"finish_reason":null}]}"#,
        r#"{},"finish_reason":"stop"}]}"#,
    ]
    .map(|rest| format!("{head}{rest}\n\n"))
    .concat();
    assert_eq!(text, expected + "data: [DONE]\n\n");
}
