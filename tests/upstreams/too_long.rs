//! The errors with which servers say that a conversation is too long, in a head, a list, a document and a stream.

use copilot_wire::anthropic::Anthropic;
use copilot_wire::models::{Relay, RelayError, Upstream, refused};
use copilot_wire::openai::OpenAi;
use copilot_wire::protocol::AgentError;
use copilot_wire::responses::Responses;
use http::{HeaderMap, StatusCode};

const ERRORS: &[(u16, &str)] = &[
    (
        400,
        r#"{"error":{"message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens","type":"BadRequestError","code":400}}"#,
    ),
    (
        400,
        r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}"#,
    ),
    (
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"}}"#,
    ),
    (
        413,
        r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
    ),
    (413, "<html>too large</html>"),
    (
        400,
        r#"[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]"#,
    ),
    (
        400,
        r#"{"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
    ),
    (
        400,
        r#"{"error":{"message":"Invalid request: Your request exceeded model token limit: 8192","type":"invalid_request_error"}}"#,
    ),
    (
        400,
        r#"{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error"}}"#,
    ),
    (
        400,
        r#"{"error":{"message":"The input (5000 tokens) is longer than the model's context length (4096 tokens).","type":"BadRequestError"}}"#,
    ),
    (
        400,
        r#"{"error":{"message":"the input length exceeds the context length"}}"#,
    ),
];

fn is_too_long(error: &AgentError) -> bool {
    error.class() == "context_too_long"
}

fn check<U: Upstream>() {
    for (status, body) in ERRORS {
        let status = StatusCode::from_u16(*status).unwrap();
        let error = refused::<U>(status, &HeaderMap::new(), body.as_bytes());
        assert!(is_too_long(&error), "{}: {body}", U::NAME);
        if !body.starts_with('{') {
            continue;
        }
        // In place of a stream, and within one.
        for stream in [
            (*body).to_owned(),
            format!("data: {body}\n\n"),
            format!("event: error\ndata: {body}\n\n"),
        ] {
            let mut relay = Relay::<U>::new();
            let read = relay.read(stream.as_bytes());
            let error = read.and_then(|()| relay.finish().map(drop)).unwrap_err();
            assert!(
                matches!(error, RelayError::ContextTooLong(_)),
                "{}: {stream}: {error}",
                U::NAME
            );
        }
    }
    let other = r#"{"error":{"message":"the model is overloaded","type":"server_error"}}"#;
    let error = refused::<U>(StatusCode::BAD_REQUEST, &HeaderMap::new(), other.as_bytes());
    assert!(!is_too_long(&error));
}

#[test]
fn every_server_that_says_so_is_understood() {
    check::<OpenAi>();
    check::<Responses>();
    check::<Anthropic>();
}
