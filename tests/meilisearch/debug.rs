//! Errors and `Debug` output are short, and contain neither the user's texts nor credentials.

use bytes::Bytes;
use copilot_wire::meilisearch::{
    ApiError, ChatRequest, Instance, Meilisearch, Message, Search, SearchFailure, SearchProgress,
    StreamError, ToolCall,
};
use copilot_wire::protocol::{Protocol, Refusal};
use http::StatusCode;
use serde_json::json;

const SECRET: &str = "s3cr3tCanary0123456789";

/// Returns all displayed forms of an error.
fn text(error: ApiError) -> String {
    let own = format!("{error:?} {error:#?} {error}");
    let refusal = Refusal::from(error);
    let body = String::from_utf8(Meilisearch::refuse(&refusal).into_body().into()).unwrap();
    format!("{own} {refusal:?} {refusal} {body}")
}

#[test]
fn a_refused_value_is_not_repeated_unless_it_is_a_number_and_short() {
    let read = |n: &str| {
        let body = format!(r#"{{"model":"m","messages":[],"stream":true,"n":{n}}}"#);
        ChatRequest::read(&Bytes::from(body)).unwrap_err()
    };
    assert_eq!(
        read("2").message,
        "You tried to specify n = 2 but only single choices are supported (n = 1)."
    );
    let secret = format!("\"{SECRET}\"");
    for value in [
        secret.clone(),
        format!("[{secret}]"),
        format!("{{{secret}:1}}"),
        format!("\"{}\"", SECRET.repeat(10_000)),
        "7".repeat(100_000),
        format!("[{}]", "7,".repeat(10_000) + "7"),
    ] {
        let error = read(&value);
        assert_eq!(error.code, "unimplemented_multi_choice_chat_completions");
        let text = text(error);
        assert!(!text.contains(SECRET), "{text}");
        assert!(text.len() < 2000, "{} bytes", text.len());
    }
}

#[test]
fn a_refused_name_is_bounded() {
    let long = "é".repeat(100_000);
    let tool = json!({"type": "function", "function": {"name": long}});
    let body = json!({"model": "m", "messages": [], "stream": true, "tools": [tool]});
    let read = ChatRequest::read(&body.to_string().into()).unwrap_err();
    assert_eq!(read.code, "unimplemented_external_function_calling");
    let upstream = json!({"code": long, "message": SECRET.repeat(10_000)}).to_string();
    let upstream = ApiError::from_response(StatusCode::BAD_REQUEST, upstream.as_bytes());
    for text in [
        text(read),
        text(ApiError::internal_function(&long)),
        text(ApiError::workspace_not_found(&long)),
        format!("{upstream:?} {upstream}"),
    ] {
        assert!(text.len() < 3000, "{} bytes", text.len());
        assert!(!text.contains(SECRET));
    }
}

#[test]
fn what_was_said_is_not_shown() {
    let call = ToolCall::new("a", "f", SECRET);
    let progress = SearchProgress::new("a", &Search::new("movies", SECRET).filter(SECRET));
    let request = ChatRequest::new("m", [Message::user(SECRET), Message::calls([&call])]);
    let failure = StreamError::new("transport_error", SECRET);
    for text in [
        format!("{call:?}"),
        format!("{progress:?}"),
        format!("{:?}", progress.search().unwrap()),
        format!("{request:?}"),
        format!("{failure:?}"),
        format!("{:?}", SearchFailure::new(500, SECRET)),
    ] {
        assert!(!text.contains(SECRET), "{text}");
    }
}

#[test]
fn an_address_shows_no_credentials() {
    for (url, host) in [
        (
            "https://s3cr3tCanary0123456789@host.example/base",
            "…@host.example/base",
        ),
        (
            "https://me:s3cr3tCanary0123456789@host.example:7700",
            "…@host.example:7700",
        ),
        ("https://host.example", "//host.example"),
    ] {
        let instance = Instance::new(url).unwrap();
        let text = format!("{instance:?} {instance:#?}");
        assert!(!text.contains("s3cr3t") && !text.contains("me:"), "{text}");
        assert!(text.contains(host), "{text}");
        // The requests are still sent to that URL.
        let request = instance.search_nothing().unwrap();
        assert_eq!(request.uri().to_string(), format!("{url}/multi-search"));
    }
}
