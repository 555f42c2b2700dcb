//! Streams with more than an answer, and with numbers that jump, say what the answer says: in the same dialect and in
//! every other.

use copilot_wire::anthropic::Anthropic;
use copilot_wire::models::Upstream;
use copilot_wire::openai::OpenAi;
use copilot_wire::protocol::{Completion, EventDecoder};
use copilot_wire::responses::Responses;
use serde_json::Value;

use crate::streams::{CHAT, MESSAGES, RESPONSES, Sent, sent, stream};
use crate::{Gateway, request};

/// Returns what a client of a front end reads, without what is its own in each reply.
fn read(front: &'static str, sent: &Sent, stream: &str) -> String {
    let gateway = Gateway::pieces(sent.path, stream, 13);
    let (status, body) = crate::ask(&gateway.router(), front, &request(front, true));
    let answer = said(front, &body);
    let calls = answer.calls();
    let calls: Vec<_> = calls.iter().map(|it| (&it.name, &it.arguments)).collect();
    format!(
        "{status} {:?} {:?} {calls:?} {:?} {:?} {} {}",
        answer.text(),
        answer.reasoning(),
        answer.cut(),
        answer.usage(),
        answer.is_complete(),
        answer.error().is_some(),
    )
}

/// Returns the answer in a stream of a dialect.
fn said(path: &str, stream: &str) -> Completion {
    match path {
        CHAT => heard::<OpenAi>(stream),
        RESPONSES => heard::<Responses>(stream),
        _ => heard::<Anthropic>(stream),
    }
}

fn heard<U: Upstream>(body: &str) -> Completion {
    let (mut decoder, mut answer) = (EventDecoder::<U>::new(), Completion::new());
    let mut bytes = body.as_bytes();
    while let Ok(Some(event)) = decoder.next(&mut bytes) {
        answer.push_event::<U>(event).unwrap();
    }
    answer
}

/// Makes every number of an event jump.
fn jump(event: &mut Value) {
    for name in ["index", "output_index", "sequence_number"] {
        if let Some(number) = event[name].as_u64() {
            event[name] = (number * 3 + 5).into();
        }
    }
}

/// Makes the numbers of calls jump.
fn jump_calls(event: &mut Value) {
    let calls = event.pointer_mut("/choices/0/delta/tool_calls");
    for call in calls.and_then(Value::as_array_mut).into_iter().flatten() {
        call["index"] = 7.into();
    }
}

#[test]
fn a_stream_says_what_its_answer_says() {
    for sent in sent() {
        let once = stream(&sent);
        let mut jumped = Sent {
            events: sent.events.clone(),
            ..sent
        };
        let change = match sent.path {
            CHAT => jump_calls,
            _ => jump,
        };
        jumped.events.iter_mut().for_each(change);
        let odd = [
            ("two answers", once.repeat(2)),
            ("a piece after the end", once.clone() + &piece(&sent)),
            ("no JSON after the end", once.clone() + "data: no JSON\n\n"),
            ("numbers that jump", stream(&jumped)),
        ];
        for front in [CHAT, RESPONSES, MESSAGES] {
            let wanted = read(front, &sent, &once);
            for (what, stream) in &odd {
                let read = read(front, &sent, stream);
                assert_eq!(read, wanted, "{what}: {} to {front}", sent.name);
            }
        }
    }
}

/// Returns an event with text of an answer.
fn piece(sent: &Sent) -> String {
    let event = match sent.path {
        CHAT => r#"{"id":"c2","choices":[{"index":0,"delta":{"content":"more"}}]}"#,
        RESPONSES => r#"{"type":"response.output_text.delta","output_index":0,"delta":"more"}"#,
        _ => {
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"more"}}"#
        }
    };
    format!("data: {event}\n\n")
}

/// The last member of a name counts. What stands in the place of the text before it is skipped without a stack, however
/// deep it is.
#[test]
fn depth_in_the_place_of_a_text_needs_no_stack() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    for line in [
        r#"/v1/chat/completions {"choices":DEEP,"choices":[{"index":0,"delta":{"content":"Hi"}}]}"#,
        r#"/v1/chat/completions {"choices":[{"index":0,"delta":DEEP,"delta":{"content":"Hi"}}]}"#,
        r#"/v1/messages {"type":"content_block_delta","index":0,"delta":DEEP,"delta":{"type":"text_delta","text":"Hi"}}"#,
        r#"/v1/responses {"type":"response.output_text.delta","output_index":0,"delta":DEEP,"delta":"Hi"}"#,
    ] {
        let (path, event) = line.split_once(' ').unwrap();
        let event = format!("data: {}\n\n", event.replace("DEEP", &deep));
        assert_eq!(said(path, &event.repeat(3)).text(), "HiHiHi");
    }
}

#[test]
fn a_response_that_is_no_object_leaves_the_reply_its_id() {
    let stream = "data: {\"type\":\"response.created\",\"response\":\"r\"}\n\n\
        data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"Hi\"}\n\n";
    let (_, body) = Gateway::new(RESPONSES, stream).ask(&request(RESPONSES, true));
    assert!(body.contains(r#""response":{"id":"resp_"#), "{body}");
}
