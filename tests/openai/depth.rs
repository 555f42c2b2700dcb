//! Depth needs no stack, and each result finds its call.

use copilot_wire::json::{Json, Wire as _};
use copilot_wire::openai::{
    ChatCompletion, ChatMessage, ChatRequest, Content, Event, FunctionCall, OpenAi, Part, ToolCall,
};
use copilot_wire::protocol::{Completion, ContentPart as _, Conversation, EventDecoder, Protocol};
use serde_json::json;

use crate::support::{fixed, push};

/// Everything that is done with a request.
fn exercise(request: &ChatRequest) {
    let texts: usize = request.messages().map(|message| message.text.len()).sum();
    assert!(request.prompt().unwrap_or_default().len() <= texts);
    assert!(request.tools().count() <= request.tools.len());
    assert!(request.results().count() <= request.messages.len());
    assert_eq!(request.documents().count(), 0);
    assert_eq!(request.dialog_decision(), None);
    assert!(!request.to_json().is_empty());
    let _ = OpenAi::session(request, &(), &fixed());
}

#[test]
fn many_results_share_their_call() {
    let call = ToolCall::new("A", "f", &json!({"x": "y".repeat(1000)})).unwrap();
    let mut messages = vec![ChatMessage::calls(vec![call])];
    messages.extend((0..10).map(|_| ChatMessage::result("A", "r")));
    let request = ChatRequest::new("m", messages);
    let both: Vec<_> = request.results().collect();
    assert_eq!(both.len(), 10);
    let place = |at: usize| both[at].arguments.as_ref().unwrap().as_bytes().as_ptr();
    assert_eq!(place(0), place(9));
}

#[test]
fn a_result_belongs_to_the_first_open_call_of_its_id() {
    let call = |name: &str| ToolCall::new("A", name, &json!({})).unwrap();
    let request = ChatRequest::new(
        "m",
        vec![
            ChatMessage::calls(vec![call("old")]),
            ChatMessage::user("x"),
            ChatMessage::result("A", "1"),
            ChatMessage::calls(vec![call("first"), call("second")]),
            ChatMessage::result("A", "2"),
            ChatMessage::calls(vec![call("late")]),
        ],
    );
    let names: Vec<_> = request.results().map(|result| result.name).collect();
    assert_eq!(names, ["old", "first"]);
}

/// The depth of nesting: far more than a thread's stack allows for recursion.
const DEEP: usize = 10_000;

/// Values that go down and down: in arrays, in an unknown member, in every member that has a list
/// or an object, and cut off at the bottom.
fn deep() -> Vec<String> {
    let mut all = vec!["[".repeat(DEEP) + &"]".repeat(DEEP)];
    for key in [
        "x",
        "content",
        "delta",
        "function",
        "tool_calls",
        "top_logprobs",
    ] {
        let member = format!("{{\"{key}\":");
        all.push(member.repeat(DEEP) + "0" + &"}".repeat(DEEP));
        all.push(format!("{member}[").repeat(DEEP) + &"]}".repeat(DEEP));
    }
    all.push("{\"x\":[".repeat(DEEP));
    all
}

#[test]
fn depth_needs_no_stack_in_requests() {
    for value in deep() {
        for place in [
            "@",
            r#"{"messages":@}"#,
            r#"{"messages":[{"role":"user"},@]}"#,
            r#"{"messages":[{"role":"user","content":@}]}"#,
            r#"{"messages":[{"role":"user","tool_calls":[@]}]}"#,
            r#"{"messages":[{"role":"user"}],"tools":[@],"tool_choice":@,"stream_options":@,"x":@}"#,
        ] {
            let Ok(request) = ChatRequest::from_json(place.replace('@', &value).as_bytes()) else {
                continue;
            };
            assert_eq!(request, request.clone());
            assert!(!format!("{request:?}").is_empty());
            exercise(&request);
        }
        let mut text = FunctionCall::default();
        text.arguments.clone_from(&value);
        let read = text
            .json()
            .and_then(|json| json.decode::<serde_json::Value>());
        assert!(read.is_err());
        if let Ok(json) = Json::parse(value) {
            let part = Part::raw(json);
            assert!(part.said().is_none());
            assert!(Content::from(vec![part]).text().is_empty());
        }
    }
}

#[test]
fn depth_needs_no_stack_in_answers() {
    for value in deep() {
        for place in [
            "@",
            r#"{"choices":[@],"usage":@,"x":@}"#,
            r#"{"choices":[{"delta":@,"message":@,"logprobs":@}]}"#,
            r#"{"choices":[{"logprobs":{"content":[@],"refusal":@}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[@],"function_call":@}}]}"#,
            r#"{"choices":[{"message":{"tool_calls":[@],"content":@}}]}"#,
            r#"{"error":@}"#,
        ] {
            let data = place.replace('@', &value);
            let stream = format!("data: {data}\n\n");
            let mut input = stream.as_bytes();
            let mut decoder = EventDecoder::<OpenAi>::new().limit(1 << 26);
            if let Ok(Some(event)) = decoder.next(&mut input) {
                assert_eq!(*event, event.clone());
                assert!(!format!("{event:?}").is_empty());
                if let Event::Chunk(chunk) = event {
                    let mut all = Completion::new().limit(usize::MAX);
                    push(&mut all, chunk).unwrap();
                    let completion = ChatCompletion::from(all);
                    assert_eq!(completion, completion.clone());
                    assert!(!completion.to_json().is_empty());
                }
            }
            if let Ok(completion) = ChatCompletion::from_json(&data) {
                assert!(!completion.to_json().is_empty());
            }
        }
    }
}
