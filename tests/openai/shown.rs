//! `Debug` says how long what somebody wrote is, and never what it is.

use copilot_wire::openai::{
    ChatCompletion, ChatCompletionChunk, ChatMessage, ChatRequest, Delta, ErrorObject,
    FunctionDelta, OpenAi, Part, ToolCall, ToolCallDelta,
};
use copilot_wire::protocol::{Completion, Protocol};
use serde_json::json;

use crate::support::{fixed, push};

const SECRET: &str = "s3cr3tCanary0123456789";

#[test]
fn what_users_and_tools_say_is_not_shown() {
    let call = ToolCall::new("A", "f", &json!({"x": SECRET})).unwrap();
    let mut assistant = ChatMessage::assistant(SECRET);
    assistant.refusal = Some(SECRET.into());
    assistant.function_call = Some(Box::new(call.function.clone()));
    let request = ChatRequest::new(
        "m",
        vec![
            ChatMessage::user(SECRET),
            ChatMessage::user(vec![Part::new(SECRET)]),
            assistant,
            ChatMessage::calls(vec![call.clone()]),
            ChatMessage::result("A", SECRET),
        ],
    );
    let mut delta = Delta::default();
    delta.tool_calls.push(ToolCallDelta::arguments(0, SECRET));
    let mut function = FunctionDelta::default();
    function.arguments = Some(SECRET.into());
    delta.function_call = Some(function);
    let chunk = ChatCompletionChunk::from(delta);
    let mut all = Completion::new();
    push(&mut all, &chunk).unwrap();
    let mut error = ErrorObject::new(SECRET).code("x".repeat(1000));
    error.param = Some("x".repeat(1000));
    for shown in [
        format!("{request:?}"),
        format!("{request:#?}"),
        format!("{chunk:?}"),
        format!("{call:?}"),
        format!("{all:?}"),
        format!("{:?}", ChatCompletion::from(all)),
        format!("{:?}", OpenAi::session(&request, &(), &fixed())),
        format!("{error:?}"),
    ] {
        assert!(!shown.contains(SECRET), "{shown}");
        assert!(shown.len() < 4000, "{shown}");
    }
    let size = format!("{:?}", request.messages[0].content);
    assert_eq!(size, format!("Text({} bytes)", SECRET.len()));
}
