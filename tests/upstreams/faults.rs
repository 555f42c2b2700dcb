//! Models that fail: every front end shows one true sentence, and makes no call.

use copilot_wire::anthropic::Anthropic;
use copilot_wire::models::{Upstream, refused, retry_after};
use copilot_wire::openai::OpenAi;
use copilot_wire::protocol::Protocol;
use copilot_wire::responses::Responses;
use copilot_wire_kit::Transcript;
use http::{HeaderMap, StatusCode};
use serde_json::json;

use crate::support::{
    End, Gateway, Said, anthropic, app, ask, caller, chat, copilot, messages, openai, page,
    responses, responses_client, search, workspace,
};

const BROKE: &str = "The model's answer broke off.";
const FAILED: &str = "The model's server failed.";
const NONSENSE: &str = "The model's server sent something that is not an answer.";
const CALL: &str = "The model made a call that is not complete.";
/// The same sentence, for a call that clients of models get.
const ODD: &str = "The model made a call that is not complete. ";
const IMPOSSIBLE: &str = "The model made a call that is not possible here.";

fn said(calls: usize, end: End) -> Said {
    let call = |at| {
        (
            format!("c{at}"),
            "get_tide".to_owned(),
            json!({"port": "Brest"}),
        )
    };
    Said {
        reasoning: vec!["Hm".into()],
        text: vec!["Half".into()],
        calls: (0..calls).map(call).collect(),
        end,
        usage: [9, 1, 5, 2],
    }
}

/// Removes the last events.
fn without_end(stream: &str, events: usize) -> String {
    let mut all: Vec<_> = stream.split_inclusive("\n\n").collect();
    all.truncate(all.len() - events);
    all.concat()
}

/// The faults that all dialects share: what the server sends, and what the user reads.
fn table(
    write: fn(&Said, usize) -> String,
    end: usize,
    error: &str,
) -> Vec<(String, &'static str)> {
    let text = write(&said(0, End::Stop), 1);
    let call = write(&said(1, End::Stop), 99);
    let html = "<!DOCTYPE html><html><body>502 Bad Gateway</body></html>";
    let document = json!({"error": {"type": "server_error", "message": "sk-secret"}});
    vec![
        (String::new(), BROKE),
        (": keep-alive\n\n".repeat(99), BROKE),
        ("data: [DONE]\n\n".into(), BROKE),
        (html.into(), NONSENSE),
        (format!("\r\n\u{feff} {html}"), NONSENSE),
        ("data: nonsense\n\n".into(), NONSENSE),
        (
            "upstream connect error or reset before headers".into(),
            NONSENSE,
        ),
        // Bytes that are compressed, without a header that says so.
        ("\u{1f}\u{8}\u{0}data: {}\n\n".into(), NONSENSE),
        (format!("data: {{\"a\":{}\n\n", "[".repeat(200)), NONSENSE),
        (json!({"hello": "world"}).to_string(), NONSENSE),
        (format!("{{\"long\":\"{}\"", "x".repeat(99_999)), NONSENSE),
        (document.to_string(), FAILED),
        (format!("data: {document}\n\n"), FAILED),
        (error.to_owned(), FAILED),
        (without_end(&text, end) + error, FAILED),
        (without_end(&text, end), BROKE),
        (without_end(&call, end), BROKE),
        (write(&said(1, End::Length), 3), CALL),
        (write(&said(2, End::Filter), 3), CALL),
        // The arguments are cut, and the end says nothing of it.
        (call.replace(r#"Brest\"}"#, "Bre"), ODD),
        (call.replace(r#"\"port\""#, "port"), ODD),
        // No front end offers it.
        (call.replace("get_tide", "reboot"), IMPOSSIBLE),
    ]
}

/// Checks what a front end shows.
fn check<P: Protocol>(turn: &Transcript<P>, sentence: &str, stream: &str) {
    let sentence = sentence.trim_end();
    let all = String::from_utf8_lossy(turn.bytes());
    let sent =
        all.matches(sentence).count() + all.matches(&sentence.replace('\'', "\\u0027")).count();
    assert!(sent >= 1, "{}: {stream}\n{turn}\n{all}", P::NAME);
    assert!(turn.calls().is_empty(), "{}: {stream}\n{turn}", P::NAME);
    assert!(!all.contains("sk-secret"), "{turn}");
}

fn all<U: Upstream>(stream: &str, sentence: &str) {
    for size in [1, 4096] {
        let gateway = || Gateway::<U>::new(stream, size);
        // Clients of models tell the model what is wrong with a call.
        let takes_any = [ODD, IMPOSSIBLE].contains(&sentence);
        if takes_any {
            assert_eq!(ask(openai(), gateway()).calls().len(), 1, "{stream}");
            assert_eq!(ask(anthropic(), gateway()).calls().len(), 1, "{stream}");
            let turn = ask(responses_client(), gateway());
            assert_eq!(turn.calls().len(), 1, "{stream}");
        } else {
            check(&ask(openai(), gateway()), sentence, stream);
            check(&ask(anthropic(), gateway()), sentence, stream);
            check(&ask(responses_client(), gateway()), sentence, stream);
        }
        check(&ask(page(), gateway()), sentence, stream);
        check(&ask(app(), gateway()), sentence, stream);
        check(&ask(workspace(), gateway()), sentence, stream);
        check(&ask(copilot(), gateway()), sentence, stream);
        check(&ask(search(), gateway()), sentence, stream);
        check(&ask(caller(), gateway()), sentence, stream);
    }
}

#[test]
fn every_front_end_says_what_is_wrong_with_a_model() {
    let error = "data: {\"error\":{\"message\":\"sk-secret\",\"type\":\"server_error\"}}\n\n";
    for (stream, sentence) in table(chat, 3, error) {
        all::<OpenAi>(&stream, sentence);
    }
    let error = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"sk-secret\"}}\n\n";
    for (stream, sentence) in table(messages, 2, error) {
        all::<Anthropic>(&stream, sentence);
    }
    let error = "event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"sk-secret\"}\n\n";
    for (stream, sentence) in table(responses, 1, error) {
        all::<Responses>(&stream, sentence);
    }
}

#[test]
fn calls_of_odd_servers_are_calls() {
    let call = |id: &str, index: usize, port: &str| {
        json!({"index": index, "id": id, "type": "function",
        "function": {"name": "get_tide", "arguments": format!("{{\"port\":\"{port}\"}}")}})
    };
    let stream = |calls: serde_json::Value| {
        format!(
            "data: {}\n\ndata: {}\n\n",
            json!({"choices": [{"index": 0, "delta": {"tool_calls": calls}}]}),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        )
    };
    for calls in [
        json!([call("", 0, "Brest"), call("", 1, "Tokyo")]),
        json!([call("same", 0, "Brest"), call("same", 1, "Tokyo")]),
        json!([call("one", 0, "Brest"), call("two", 0, "Tokyo")]),
        json!([call("no/slash .", 0, "Brest"), call("two", 7, "Tokyo")]),
    ] {
        let stream = stream(calls);
        let gateway = || Gateway::<OpenAi>::new(stream.as_bytes(), 5);
        let ports = |calls: &[copilot_wire::protocol::ToolCall]| -> Vec<String> {
            calls
                .iter()
                .map(|call| call.arguments.text().to_owned())
                .collect()
        };
        let expected = [r#"{"port":"Brest"}"#, r#"{"port":"Tokyo"}"#];
        let turn = ask(openai(), gateway());
        assert_eq!(ports(turn.calls()), expected, "{turn}");
        let turn = ask(anthropic(), gateway());
        assert_eq!(ports(turn.calls()), expected, "{turn}");
        let turn = ask(responses_client(), gateway());
        assert_eq!(ports(turn.calls()), expected, "{turn}");
        let turn = ask(page(), gateway());
        assert_eq!(ports(turn.calls()), expected, "{turn}");
    }
}

#[test]
fn reasoning_and_text_are_read_wherever_servers_have_them() {
    for member in ["reasoning_content", "reasoning"] {
        let mut delta = json!({"content": "Hi", "reasoning_content": null});
        delta[member] = "Hm".into();
        let stream = format!(
            "data: {}\n\n",
            json!({"choices": [{"index": 0, "delta": delta, "finish_reason": "stop"}]})
        );
        let turn = ask(page(), Gateway::<OpenAi>::new(stream, 9));
        let all = String::from_utf8_lossy(turn.bytes());
        assert!(
            all.contains(r#""type":"reasoning-delta""#) && all.contains("Hm"),
            "{all}"
        );
    }
    // The first piece is in the start of its block.
    let stream = messages(&said(0, End::Stop), 1)
        .replace(r#""text":"""#, r#""text":"First ""#)
        .replace(r#""thinking":"""#, r#""thinking":"Well ""#);
    let turn = ask(page(), Gateway::<Anthropic>::new(stream, 9));
    assert_eq!(turn.text(), "First Half", "{turn}");
    assert!(
        String::from_utf8_lossy(turn.bytes()).contains("Well "),
        "{turn}"
    );
}

#[test]
fn of_two_choices_the_first_counts() {
    let stream = "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"two\"}},{\"index\":0,\"delta\":{\"content\":\"one\"}}]}\n\n\
        data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"},{\"index\":1,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    let turn = ask(anthropic(), Gateway::<OpenAi>::new(stream, 9));
    assert_eq!(turn.text(), "one", "{turn}");
    assert!(String::from_utf8_lossy(turn.bytes()).contains("\"stop_reason\":\"max_tokens\""));
}

#[test]
fn a_refusal_of_responses_stays_one() {
    let event = |kind: &str, member: &str| {
        format!(
            "data: {}\n\n",
            json!({"type": kind, "output_index": 0, "content_index": 0, member: "I will not."})
        )
    };
    let part = json!({"type": "refusal", "refusal": "I will not."});
    let item = json!({"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [part]});
    let item = json!({"type": "response.output_item.done", "output_index": 0, "item": item});
    let stream = [
        event("response.refusal.delta", "delta"),
        event("response.refusal.done", "refusal"),
        format!("data: {item}\n\n"),
        "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n"
            .into(),
    ];
    let turn = ask(
        responses_client(),
        Gateway::<Responses>::new(stream.concat(), 99),
    );
    assert_eq!(turn.text(), "I will not.", "{turn}");
    let bytes = String::from_utf8_lossy(turn.bytes());
    for event in [
        r#"event: response.refusal.delta"#,
        r#""refusal":"I will not."}"#,
        r#""content":[{"type":"refusal","refusal":"I will not."}]"#,
    ] {
        assert!(bytes.contains(event), "{event}: {bytes}");
    }
    assert!(!bytes.contains("output_text"), "{bytes}");
}

#[test]
fn a_refused_request_is_a_failure_with_a_sentence_and_codes() {
    let refused = |status: u16, body: &str| {
        let status = StatusCode::from_u16(status).unwrap();
        refused::<OpenAi>(status, &HeaderMap::new(), body.as_bytes())
    };
    for (status, shown, sentence, again) in [
        (
            401,
            400,
            "The model's server did not accept the key of this server.",
            false,
        ),
        (
            403,
            400,
            "The model's server did not accept the key of this server.",
            false,
        ),
        (
            404,
            400,
            "The model's server does not know the model.",
            false,
        ),
        (400, 400, "The model's server refused the request.", false),
        (429, 429, "The model's server is busy.", true),
        (529, 503, "The model's server is busy.", true),
        (500, 400, "The model's server failed.", false),
        (
            302,
            400,
            "The model's server sent something that is not an answer.",
            false,
        ),
    ] {
        let body = r#"{"error":{"message":"sk-secret","type":"odd_error","code":"odd"}}"#;
        let error = refused(status, body);
        assert_eq!(
            (error.message(), error.status_code().as_u16()),
            (sentence, shown)
        );
        assert_eq!(error.failure().retryable, again);
        let cause = error.to_string();
        assert!(
            cause.contains(&status.to_string()) && cause.contains(": odd"),
            "{cause}"
        );
        assert!(!cause.contains("sk-secret"), "{cause}");
    }
    assert!(
        refused(
            400,
            r#"{"error":{"code":"context_length_exceeded","message":""}}"#
        )
        .failure()
        .too_long
    );
    assert_eq!(
        refused(500, "<html>").message(),
        "The model's server failed."
    );
}

#[test]
fn only_a_busy_server_is_asked_again() {
    let mut headers = HeaderMap::new();
    let wait = |status: u16, headers: &HeaderMap, attempt| {
        let wait = retry_after(StatusCode::from_u16(status).unwrap(), headers, attempt);
        wait.map(|wait| wait.as_millis())
    };
    for status in [200, 400, 401, 404, 408, 500, 502] {
        assert_eq!(wait(status, &headers, 0), None, "{status}");
    }
    for status in [429, 503, 529] {
        assert_eq!(wait(status, &headers, 0), Some(500));
        assert_eq!(wait(status, &headers, 99), Some(8000));
    }
    headers.insert("retry-after", "60".parse().unwrap());
    assert_eq!(wait(429, &headers, 0), Some(60_000));
    headers.insert("retry-after", "61".parse().unwrap());
    assert_eq!(wait(429, &headers, 0), None);
    headers.insert("retry-after-ms", "3".parse().unwrap());
    assert_eq!(wait(429, &headers, 0), Some(3));
    headers.insert("retry-after-ms", "soon".parse().unwrap());
    headers.insert(
        "retry-after",
        "Wed, 21 Oct 2026 07:28:00 GMT".parse().unwrap(),
    );
    assert_eq!(wait(429, &headers, 1), Some(1000));
    headers.insert("x-should-retry", "false".parse().unwrap());
    assert_eq!(wait(429, &headers, 0), None);
    headers.insert("x-should-retry", "true".parse().unwrap());
    assert_eq!(wait(500, &headers, 0), Some(500));
    assert_eq!(wait(400, &headers, 0), None);
}
