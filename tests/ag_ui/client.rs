//! The client's side: streams of other servers, whole and broken.

use copilot_wire::ag_ui::{AgUi, Event, RunAgentInput, TextMessageContent};
use copilot_wire::json::Wire as _;
use copilot_wire::protocol::{EventDecoder, EventError, FrameEvent as _};
use copilot_wire_kit::Toolkit;

fn decode(stream: &str) -> (Vec<Event>, Vec<EventError>, Result<(), EventError>) {
    let mut decoder = EventDecoder::<AgUi>::new();
    let (mut events, mut errors) = (Vec::new(), Vec::new());
    let mut input = stream.as_bytes();
    loop {
        match decoder.next(&mut input) {
            Ok(Some(event)) => events.push(event.clone()),
            Ok(None) => break,
            Err(error) => errors.push(error),
        }
    }
    let end = decoder.end();
    (events, errors, end)
}

fn frames(data: &[&str]) -> String {
    data.iter()
        .map(|data| format!("data: {data}\n\n"))
        .collect()
}

#[test]
fn chunks_and_unknown_events_are_read() {
    let stream = frames(&[
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0","parentRunId":null}"#,
        r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"Hi"}"#,
        r#"{"type":"TEXT_MESSAGE_CHUNK","delta":" you"}"#,
        r#"{"type":"TOMORROW","x":1}"#,
        r#"{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n","description":"d"}"#,
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success","pendingToolCallIds":["c"]}}"#,
    ]);
    let (events, errors, end) = decode(&stream);
    assert!(errors.is_empty() && end.is_ok());
    let text: String = events
        .iter()
        .map(AgUi::describe)
        .filter(|event| event.kind == "text")
        .map(|event| event.text)
        .collect();
    assert_eq!(text, "Hi you");
    assert!(matches!(&events[3], Event::Unknown(json) if json.get("x").is_some()));
    // What is not known is kept.
    let mut again = Vec::new();
    events.iter().for_each(|event| event.write(&mut again));
    let text = String::from_utf8(again).unwrap();
    for kept in ["parentRunId\":null", "description", "pendingToolCallIds"] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
}

#[test]
fn a_broken_event_does_not_affect_others() {
    let stream = frames(&[
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#,
        "[DONE]",
        "[]",
        r#"{"type":7}"#,
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m"}"#,
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":7}"#,
        r#"{"type":"STATE_DELTA","delta":{}}"#,
        r#"{"type":"CUSTOM","name":"x"}"#,
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"s3cr3t""#,
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"Hi"}"#,
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#,
    ]);
    let (events, errors, end) = decode(&stream);
    assert_eq!((events.len(), errors.len()), (3, 8));
    assert_eq!(events[1], TextMessageContent::new("m", "Hi").into());
    assert!(end.is_ok());
    for error in errors {
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("s3cr3t"), "{shown}");
    }
}

/// Apps fail at a result that is neither a text nor a list.
#[test]
fn a_result_is_a_text_or_parts() {
    let result = |content: &str| {
        let head = r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"#;
        Event::read(&format!("{head}{content}}}"))
    };
    for content in [r#""found""#, r#"[{"type":"text","text":"found"}]"#] {
        assert!(matches!(
            result(content),
            Ok(Some(Event::ToolCallResult(_)))
        ));
    }
    for content in ["null", "5", r#"{"type":"text","text":"found"}"#] {
        assert!(
            matches!(result(content), Err(EventError::Invalid(_))),
            "{content}"
        );
    }
}

#[test]
fn a_stream_that_is_cut_is_not_complete() {
    let started = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#;
    let (_, _, end) = decode(&frames(&[started]));
    assert_eq!(
        end.unwrap_err().to_string(),
        "the stream ended without RUN_FINISHED"
    );
    let (_, _, end) = decode(&frames(&[started, r#"{"type":"RUN_ERROR","message":"m"}"#]));
    assert!(end.is_ok());
    let finished = r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#;
    // A second run in the stream is not complete.
    let (_, _, end) = decode(&frames(&[started, finished, started]));
    assert!(end.is_err());
}

#[test]
fn texts_are_not_shown() {
    for data in [
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"s3cr3t"}"#,
        r#"{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"s3cr3t"}"#,
        r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"s3cr3t"}"#,
        r#"{"type":"STATE_SNAPSHOT","snapshot":"s3cr3t"}"#,
        r#"{"type":"STATE_DELTA","delta":["s3cr3t"]}"#,
        r#"{"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"m","encryptedValue":"s3cr3t"}"#,
        r#"{"type":"RUN_ERROR","message":"s3cr3t"}"#,
        r#"{"type":"CUSTOM","name":"n","value":"s3cr3t","metadata":{"x":"s3cr3t"},"more":"s3cr3t"}"#,
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"user","content":"s3cr3t"}]}"#,
        r#"{"type":"TOMORROW","x":"s3cr3t"}"#,
    ] {
        let (events, errors, _) = decode(&frames(&[data]));
        assert!(errors.is_empty(), "{data}: {errors:?}");
        let shown = format!("{events:?}");
        assert!(!shown.contains("s3cr3t"), "{shown}");
    }
}

#[test]
fn a_request_is_what_clients_send() {
    let input = RunAgentInput::new("t", "r", []);
    assert_eq!(
        &*input.to_json(),
        br#"{"threadId":"t","runId":"r","state":{},"messages":[],"tools":[],"context":[],"forwardedProps":{}}"#
    );
}
