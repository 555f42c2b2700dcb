//! Much of one thing costs its length and not the square of it, and depth costs no stack.
//!
//! The sizes are such that quadratic work takes minutes.

use std::thread;

use copilot_wire::json::Json;
use copilot_wire::openai::{
    ChatCompletion, ChatMessage, ChatRequest, Content, ErrorObject, Event, Function, FunctionCall,
    OpenAi, Part, Tool, ToolCall,
};
use copilot_wire::protocol::{
    self, Completion, ContentPart as _, Conversation, EventDecoder, Protocol,
};
use serde_json::json;

use crate::support::{fixed, push};

const MANY: usize = 100_000;
const LONG: usize = 4 * 1024 * 1024;

/// `many` elements, each made of its place, as the inside of an array or object.
fn list(many: usize, element: impl Fn(usize) -> String) -> String {
    let all: Vec<_> = (0..many).map(element).collect();
    all.join(",")
}

/// Everything that is done with a request.
fn exercise(request: &ChatRequest) {
    let texts: usize = request.messages().map(|message| message.text.len()).sum();
    assert!(request.prompt().unwrap_or_default().len() <= texts);
    assert!(request.tools().count() <= request.tools.len());
    assert!(request.results().count() <= request.messages.len());
    assert_eq!(request.documents().count(), 0);
    assert_eq!(request.dialog_answer(), None);
    assert!(!request.to_json().is_empty());
    OpenAi::session(request, &(), &fixed());
}

#[test]
fn large_requests_are_read_in_linear_time() {
    let long = "x".repeat(LONG);
    let empty = r#"{"type":"text","text":""}"#;
    let call =
        |at| format!(r#"{{"id":"call_{at:06}","function":{{"name":"f","arguments":"{{}}"}}}}"#);
    let result =
        |at: usize| format!(r#"{{"role":"tool","tool_call_id":"call_{at:06}","content":"r"}}"#);
    let cases = [
        (
            "parts behind a long one",
            format!(
                r#"{{"messages":[{{"role":"user","content":[{{"type":"text","text":"{long}"}},{}]}}]}}"#,
                list(MANY, |_| empty.into())
            ),
        ),
        (
            "messages",
            format!(
                r#"{{"messages":[{}]}}"#,
                list(MANY, |_| r#"{"role":"user","content":"x"}"#.into())
            ),
        ),
        (
            "results of other calls",
            format!(
                r#"{{"messages":[{{"role":"assistant","tool_calls":[{}]}},{}]}}"#,
                list(MANY, call),
                list(MANY, |at| result(at + MANY))
            ),
        ),
        (
            "results of calls in messages of their own",
            format!(
                r#"{{"messages":[{}]}}"#,
                list(MANY, |at| if at < MANY / 2 {
                    format!(r#"{{"role":"assistant","tool_calls":[{}]}}"#, call(at))
                } else {
                    result(at - MANY / 2)
                })
            ),
        ),
        (
            "results of one long call",
            format!(
                r#"{{"messages":[{{"role":"assistant","tool_calls":[{{"id":"call_000000","function":{{"name":"{long}","arguments":"{{\"x\":\"{long}\"}}"}}}}]}},{}]}}"#,
                list(MANY, |_| result(0))
            ),
        ),
        (
            "tools",
            format!(
                r#"{{"messages":[{{"role":"user"}}],"tools":[{}],"tool_choice":"{long}"}}"#,
                list(MANY, |at| format!(r#"{{"function":{{"name":"f{at}"}}}}"#))
            ),
        ),
        (
            "unknown members",
            format!(
                r#"{{"messages":[{{"role":"user",{0}}}],{0}}}"#,
                list(MANY, |at| format!(r#""k{at}":0"#))
            ),
        ),
    ];
    thread::scope(|scope| {
        for (name, body) in cases {
            scope.spawn(move || {
                let request = ChatRequest::from_json(body);
                exercise(&request.unwrap_or_else(|refusal| panic!("{name}: {refusal}")));
            });
        }
    });
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

#[test]
fn calls_of_one_among_many_tools_are_made_in_linear_time() {
    let tools = (0..MANY).map(|at| Tool::from(Function::new(format!("function_{at:06}"), "")));
    let request = ChatRequest::new("m", vec![ChatMessage::user("x")]).offer(tools);
    let mut session = OpenAi::session(&request, &(), &fixed());
    let last = protocol::ToolCall::new(format!("function_{:06}", MANY - 1), &json!({})).unwrap();
    let mut out = Vec::new();
    for _ in 0..MANY / 2 {
        session
            .part(protocol::Part::Calls(std::slice::from_ref(&last)), &mut out)
            .unwrap();
        out.clear();
    }
}

/// The chunks that every case below brings, through everything that takes chunks.
fn play(name: &str, events: &[String]) {
    let decoder = || EventDecoder::<OpenAi>::new().limit(1 << 26);
    let stream: String = events
        .iter()
        .map(|data| format!("data: {data}\n\n"))
        .collect();
    let mut decoder = decoder();
    let mut completion = Completion::new().limit(usize::MAX);
    let mut input = stream.as_bytes();
    let request = ChatRequest::new("m", vec![ChatMessage::user("x")]).stream(true);
    let mut session = OpenAi::session(&request, &(), &fixed());
    let mut out = Vec::new();
    while let Some(event) = decoder
        .next(&mut input)
        .unwrap_or_else(|e| panic!("{name}: {e}"))
    {
        completion.push_event::<OpenAi>(event).unwrap();
        let Event::Chunk(chunk) = event else {
            continue;
        };
        assert!(chunk.text().is_none_or(|text| text.len() <= stream.len()));
        assert!(!completion.is_complete(), "{name}");
        assert!(completion.text().len() <= stream.len());
        // What it refuses it has looked at.
        let _ = session.output(chunk, &mut out);
        out.clear();
    }
    session.finish(&mut out);
    let body = ChatCompletion::from(completion).to_json();
    let completion = ChatCompletion::from_json(&body).unwrap();
    for call in completion.calls() {
        let _ = call.function.json();
    }
    assert!(ErrorObject::find(&Json::parse(body).unwrap()).is_none());
}

#[test]
fn large_streams_are_read_in_linear_time() {
    let choice = |rest: &str| format!(r#"{{"choices":[{{"index":0,{rest}}}]}}"#);
    let delta = |rest: &str| choice(&format!(r#""delta":{{{rest}}}"#));
    let call = |index: usize, id: usize| {
        format!(r#"{{"index":{index},"id":"{id:06}","function":{{"name":"f","arguments":"{{"}}}}"#)
    };
    let calls =
        |call: &dyn Fn(usize) -> String| delta(&format!(r#""tool_calls":[{}]"#, list(MANY, call)));
    let keys = || list(MANY / 2, |at| format!(r#""k{at}":0"#));
    let cases = [
        ("events of text", vec![delta(r#""content":"x""#); MANY / 2]),
        (
            "events with one key each",
            (0..MANY / 10)
                .map(|at| delta(&format!(r#""k{at}":[0]"#)))
                .collect(),
        ),
        ("calls", vec![calls(&|at| call(at, at))]),
        ("calls under one index", vec![calls(&|at| call(0, at))]),
        ("fragments of one call", vec![calls(&|_| call(0, 0))]),
        (
            "choices",
            vec![format!(
                r#"{{"choices":[{}]}}"#,
                list(MANY / 2, |at| format!(r#"{{"index":{at},"delta":{{}}}}"#))
            )],
        ),
        (
            "pieces of one choice",
            vec![format!(
                r#"{{"choices":[{}]}}"#,
                list(MANY, |_| r#"{"index":1,"delta":{"content":"x"}}"#.into())
            )],
        ),
        ("members of a delta", vec![delta(&keys())]),
        ("members of a choice", vec![choice(&keys())]),
        (
            "members of a chunk",
            vec![format!(r#"{{"choices":[],{}}}"#, keys())],
        ),
        (
            "one member again and again",
            vec![delta(&list(MANY, |_| r#""k":"x""#.into()))],
        ),
        (
            "tokens",
            vec![choice(&format!(
                r#""logprobs":{{"content":[{}]}}"#,
                list(MANY / 4, |_| {
                    r#"{"token":"a","top_logprobs":[{"token":"a"},{}]}"#.into()
                })
            ))],
        ),
        (
            "tokens that are none",
            vec![choice(&format!(
                r#""logprobs":{{"content":[{{"bytes":[{}]}}]}}"#,
                list(MANY, |_| "256".into())
            ))],
        ),
    ];
    thread::scope(|scope| {
        for (name, events) in &cases {
            scope.spawn(|| play(name, events));
        }
    });
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
        let _ = text.json();
        assert!(text.decode::<serde_json::Value>().is_err());
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
            if let Ok(json) = Json::parse(data) {
                let _ = ErrorObject::find(&json);
            }
        }
    }
}
