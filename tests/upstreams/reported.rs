//! What servers say about a failure, in a head, a bare body, a list, a document and a stream.

use copilot_wire::anthropic::Anthropic;
use copilot_wire::models::{Relay, RelayError, Upstream, refused, server_message};
use copilot_wire::openai::OpenAi;
use copilot_wire::protocol::AgentError;
use copilot_wire::responses::Responses;
use http::{HeaderMap, StatusCode};

/// Recorded and documented errors: the status, the class of the failure, and the body.
const ERRORS: &str = r#"# OpenAI
429 quota {"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}
429 busy {"error":{"message":"Rate limit reached for gpt-4o in organization org-1 on tokens per min (TPM)","type":"tokens","param":null,"code":"rate_limit_exceeded"}}
401 key {"error":{"message":"Incorrect API key provided: sk-abc.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}
404 unknown_model {"error":{"message":"The model `gpt-9` does not exist or you do not have access to it.","type":"invalid_request_error","param":null,"code":"model_not_found"}}
400 refused {"error":{"message":"Unsupported parameter: 'max_tokens'","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}
# Anthropic
400 quota {"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}
402 quota {"type":"error","error":{"type":"billing_error","message":"Your account has no credits."}}
529 busy {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}
429 busy {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's limit"}}
404 unknown_model {"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}
401 key {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}
# Gemini
400 key [{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]
429 busy [{"error":{"code":429,"message":"You exceeded your current quota. Please retry in 37.4s.","status":"RESOURCE_EXHAUSTED"}}]
503 busy [{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}]
# Mistral
400 unknown_model {"object":"error","message":"Invalid model: mistral-9","type":"invalid_model","param":null,"code":"1500"}
422 refused {"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","store"],"msg":"Extra inputs are not permitted"}]},"type":"invalid_request_error","param":null,"code":null}
429 busy {"object":"error","message":"Service tier capacity exceeded for this model.","type":"service_tier_capacity_exceeded","param":null,"code":"3505"}
401 key {"detail":"Unauthorized"}
# DeepSeek
402 quota {"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}
400 unknown_model {"error":{"message":"Model Not Exist","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}
# Moonshot
429 quota {"error":{"message":"Your account is suspended, please check your plan and billing details","type":"exceeded_current_quota_error"}}
429 busy {"error":{"message":"The engine is currently overloaded, please try again later","type":"engine_overloaded_error"}}
404 unknown_model {"error":{"message":"Not found the model kimi-9 or Permission denied","type":"resource_not_found_error"}}
# Groq
429 busy {"error":{"message":"Rate limit reached for model `llama` on tokens per minute (TPM)","type":"tokens","code":"rate_limit_exceeded"}}
# OpenRouter
402 quota {"error":{"message":"Insufficient credits. Add more using https://openrouter.ai/settings/credits","code":402}}
400 unknown_model {"error":{"message":"foo/bar is not a valid model ID","code":400}}
# Ollama
404 unknown_model {"error":{"message":"model \"llama9\" not found, try pulling it first","type":"api_error","param":null,"code":null}}
503 busy {"error":"server busy, please try again.  maximum pending requests exceeded"}
# vLLM
404 unknown_model {"object":"error","message":"The model `m` does not exist.","type":"NotFoundError","param":null,"code":404}
400 refused {"error":{"message":"\"auto\" tool choice requires --enable-auto-tool-choice","type":"BadRequestError","param":null,"code":400}}
# llama.cpp
503 busy {"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}
500 failed {"error":{"code":500,"message":"Jinja Exception: System message must be at the beginning.","type":"server_error"}}
# The conversation is too long.
400 context_too_long {"error":{"message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens","type":"BadRequestError","code":400}}
400 context_too_long {"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}
400 context_too_long {"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"}}
413 context_too_long {"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}
413 context_too_long <html>too large</html>
400 context_too_long [{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]
400 context_too_long {"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error","code":"context_length_exceeded"}}
400 context_too_long {"error":{"message":"Invalid request: Your request exceeded model token limit: 8192","type":"invalid_request_error"}}
400 context_too_long {"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error"}}
400 context_too_long {"error":{"message":"The input (5000 tokens) is longer than the model's context length (4096 tokens).","type":"BadRequestError"}}
400 context_too_long {"error":{"message":"the input length exceeds the context length"}}
# It is not.
400 busy {"error":{"message":"the model is overloaded","type":"server_error"}}"#;

fn check<U: Upstream>() {
    for line in ERRORS.lines().filter(|line| !line.starts_with('#')) {
        let [status, class, body] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let error = refused::<U>(status.parse().unwrap(), &HeaderMap::new(), body.as_bytes());
        assert_eq!(error.class(), class, "{}: {body}", U::NAME);
        assert!(
            !error.to_string().contains(' ') || !error.to_string().contains("Incorrect"),
            "{error}"
        );
        if !body.contains(r#""error":{"#) || body.starts_with('[') {
            continue;
        }
        for stream in [
            body.to_owned(),
            format!("data: {body}\n\n"),
            format!("event: error\ndata: {body}\n\n"),
        ] {
            let mut relay = Relay::<U>::new();
            let read = relay.read(stream.as_bytes());
            let error = read.and_then(|()| relay.finish().map(drop)).unwrap_err();
            let is_too_long = matches!(error, RelayError::ContextTooLong(_));
            assert_eq!(is_too_long, class == "context_too_long", "{stream}");
            let error = AgentError::from(error);
            // Without a status, what the request lacks is a failure like any other.
            let class = match class {
                "refused" => "failed",
                class => class,
            };
            assert_eq!(error.class(), class, "{}: {stream}", U::NAME);
            assert!(is_too_long || server_message(&error, None).is_some());
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
