//! What servers say about a failure, in a head, a bare body, a list, a document and a stream.

use copilot_wire::anthropic::Anthropic;
use copilot_wire::models::{Relay, Upstream, refused, server_message};
use copilot_wire::openai::OpenAi;
use copilot_wire::protocol::AgentError;
use copilot_wire::responses::Responses;
use http::{HeaderMap, StatusCode};

/// Recorded and documented errors, each with the class of the failure.
const ERRORS: &[(u16, &str, &str)] = &[
    // OpenAI
    (
        429,
        "quota",
        r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
    ),
    (
        429,
        "busy",
        r#"{"error":{"message":"Rate limit reached for gpt-4o in organization org-1 on tokens per min (TPM)","type":"tokens","param":null,"code":"rate_limit_exceeded"}}"#,
    ),
    (
        401,
        "key",
        r#"{"error":{"message":"Incorrect API key provided: sk-abc.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#,
    ),
    (
        404,
        "unknown_model",
        r#"{"error":{"message":"The model `gpt-9` does not exist or you do not have access to it.","type":"invalid_request_error","param":null,"code":"model_not_found"}}"#,
    ),
    (
        400,
        "refused",
        r#"{"error":{"message":"Unsupported parameter: 'max_tokens'","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}"#,
    ),
    // Anthropic
    (
        400,
        "quota",
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#,
    ),
    (
        402,
        "quota",
        r#"{"type":"error","error":{"type":"billing_error","message":"Your account has no credits."}}"#,
    ),
    (
        529,
        "busy",
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
    ),
    (
        429,
        "busy",
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's limit"}}"#,
    ),
    (
        404,
        "unknown_model",
        r#"{"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}"#,
    ),
    (
        401,
        "key",
        r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
    ),
    // Gemini
    (
        400,
        "key",
        r#"[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]"#,
    ),
    (
        429,
        "busy",
        r#"[{"error":{"code":429,"message":"You exceeded your current quota. Please retry in 37.4s.","status":"RESOURCE_EXHAUSTED"}}]"#,
    ),
    (
        503,
        "busy",
        r#"[{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}]"#,
    ),
    // Mistral
    (
        400,
        "unknown_model",
        r#"{"object":"error","message":"Invalid model: mistral-9","type":"invalid_model","param":null,"code":"1500"}"#,
    ),
    (
        422,
        "refused",
        r#"{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","store"],"msg":"Extra inputs are not permitted"}]},"type":"invalid_request_error","param":null,"code":null}"#,
    ),
    (
        429,
        "busy",
        r#"{"object":"error","message":"Service tier capacity exceeded for this model.","type":"service_tier_capacity_exceeded","param":null,"code":"3505"}"#,
    ),
    (401, "key", r#"{"detail":"Unauthorized"}"#),
    // DeepSeek
    (
        402,
        "quota",
        r#"{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}"#,
    ),
    (
        400,
        "unknown_model",
        r#"{"error":{"message":"Model Not Exist","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}"#,
    ),
    // Moonshot
    (
        429,
        "quota",
        r#"{"error":{"message":"Your account is suspended, please check your plan and billing details","type":"exceeded_current_quota_error"}}"#,
    ),
    (
        429,
        "busy",
        r#"{"error":{"message":"The engine is currently overloaded, please try again later","type":"engine_overloaded_error"}}"#,
    ),
    (
        404,
        "unknown_model",
        r#"{"error":{"message":"Not found the model kimi-9 or Permission denied","type":"resource_not_found_error"}}"#,
    ),
    // Groq
    (
        429,
        "busy",
        r#"{"error":{"message":"Rate limit reached for model `llama` on tokens per minute (TPM)","type":"tokens","code":"rate_limit_exceeded"}}"#,
    ),
    // OpenRouter
    (
        402,
        "quota",
        r#"{"error":{"message":"Insufficient credits. Add more using https://openrouter.ai/settings/credits","code":402}}"#,
    ),
    (
        400,
        "unknown_model",
        r#"{"error":{"message":"foo/bar is not a valid model ID","code":400}}"#,
    ),
    // Ollama
    (
        404,
        "unknown_model",
        r#"{"error":{"message":"model \"llama9\" not found, try pulling it first","type":"api_error","param":null,"code":null}}"#,
    ),
    (
        503,
        "busy",
        r#"{"error":"server busy, please try again.  maximum pending requests exceeded"}"#,
    ),
    // vLLM
    (
        404,
        "unknown_model",
        r#"{"object":"error","message":"The model `m` does not exist.","type":"NotFoundError","param":null,"code":404}"#,
    ),
    (
        400,
        "refused",
        r#"{"error":{"message":"\"auto\" tool choice requires --enable-auto-tool-choice","type":"BadRequestError","param":null,"code":400}}"#,
    ),
    // llama.cpp
    (
        503,
        "busy",
        r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#,
    ),
    (
        500,
        "failed",
        r#"{"error":{"code":500,"message":"Jinja Exception: System message must be at the beginning.","type":"server_error"}}"#,
    ),
];

fn check<U: Upstream>() {
    for (status, class, body) in ERRORS {
        let head = StatusCode::from_u16(*status).unwrap();
        let error = refused::<U>(head, &HeaderMap::new(), body.as_bytes());
        assert_eq!(error.class(), *class, "{}: {body}", U::NAME);
        assert!(
            !error.to_string().contains(' ') || !error.to_string().contains("Incorrect"),
            "{error}"
        );
        if !body.contains(r#""error":{"#) || body.starts_with('[') {
            continue;
        }
        for stream in [
            (*body).to_owned(),
            format!("data: {body}\n\n"),
            format!("event: error\ndata: {body}\n\n"),
        ] {
            let mut relay = Relay::<U>::new();
            let read = relay.read(stream.as_bytes());
            let error = read.and_then(|()| relay.finish().map(drop)).unwrap_err();
            let error = AgentError::from(error);
            // Without a status, what the request lacks is a failure like any other.
            let class = match *class {
                "refused" => "failed",
                class => class,
            };
            assert_eq!(error.class(), class, "{}: {stream}", U::NAME);
            assert!(server_message(&error, None).is_some());
        }
    }
}

#[test]
fn the_class_of_an_error_is_known_wherever_it_is() {
    check::<OpenAi>();
    check::<Responses>();
    check::<Anthropic>();
}

#[test]
fn the_sentence_of_a_server_is_one_line_without_long_words() {
    let body =
        r#"{"error":{"message":"no\nkey sk-0123456789012345678901234567890 here","code":"x"}}"#;
    let error = refused::<OpenAi>(StatusCode::BAD_REQUEST, &HeaderMap::new(), body.as_bytes());
    assert_eq!(
        server_message(&error, None).as_deref(),
        Some("no key [...] here")
    );
    assert_eq!(error.to_string(), "upstream: status 400: x");
    assert_eq!(server_message(&AgentError::new("own"), None), None);
}

#[test]
fn rate_limits_are_told() {
    let mut headers = HeaderMap::new();
    for name in [
        "x-ratelimit-remaining-tokens",
        "anthropic-ratelimit-requests-reset",
        "set-cookie",
    ] {
        headers.insert(name, "0".parse().unwrap());
    }
    let error = refused::<OpenAi>(StatusCode::TOO_MANY_REQUESTS, &headers, b"{}");
    assert_eq!(error.headers().len(), 2);
}
