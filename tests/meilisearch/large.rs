//! Large inputs: time is linear in the length, and depth does not use the stack.
//!
//! The sizes are such that quadratic work takes minutes.

use std::thread;

use bytes::Bytes;
use copilot_wire::json::Json;
use copilot_wire::meilisearch::{
    ApiError, Append, ChatRequest, Event, History, Meilisearch, Message, Search, Unknown,
};
use copilot_wire::protocol::{Conversation, Env, EventDecoder, Protocol};
use http::StatusCode;

const MANY: usize = 50_000;
const LONG: usize = 1024 * 1024;

/// Returns the content of an array or object with `many` elements, each created from its index.
fn list(many: usize, element: impl Fn(usize) -> String) -> String {
    let all: Vec<_> = (0..many).map(element).collect();
    all.join(",")
}

/// Performs all operations on a request.
fn exercise(request: &ChatRequest) {
    let texts: usize = Conversation::messages(request).map(|m| m.text.len()).sum();
    assert!(request.prompt().unwrap_or_default().len() <= texts);
    assert_eq!(Conversation::tools(request).count(), 0);
    assert!(request.results().count() <= request.messages.len());
    assert_eq!(request.documents().count(), 0);
    assert_eq!(request.dialog_answer(), None);
    assert!(!request.to_json().is_empty());
    Meilisearch::session(request, &(), &Env::default());
}

fn call(id: usize, name: &str, arguments: &str) -> String {
    format!(
        r#"{{"id":"call_{id:06}","type":"function","function":{{"name":"{name}","arguments":"{arguments}"}}}}"#
    )
}

fn result(id: usize) -> String {
    format!(r#"{{"role":"tool","content":"r","tool_call_id":"call_{id:06}"}}"#)
}

#[test]
fn large_requests_are_read_in_linear_time() {
    let long = "x".repeat(LONG);
    let with = |messages: &str, rest: &str| {
        format!(r#"{{"model":"m","stream":true,"messages":[{messages}]{rest}}}"#)
    };
    let calls = |calls: &str| format!(r#"{{"role":"assistant","tool_calls":[{calls}]}}"#);
    let user = r#"{"role":"user","content":"x"}"#;
    let parts = format!(
        r#"{{"role":"user","content":[{{"type":"text","text":"{long}"}},{}]}}"#,
        list(MANY, |_| r#"{"type":"text","text":""}"#.into())
    );
    let others = format!(
        "{},{}",
        calls(&list(MANY, |at| call(at, "f", "{}"))),
        list(MANY, |at| result(at + MANY))
    );
    let one = calls(&call(0, "f", &format!(r#"{{\"x\":\"{long}\"}}"#)));
    let named = calls(&call(0, &long.repeat(4), "{}"));
    let results = list(MANY, |_| result(0));
    let tool = r#"{"type":"function","function":{"name":"_meiliSearchProgress"}}"#;
    let cases = [
        ("parts behind a long one", with(&parts, "")),
        ("messages", with(&list(MANY, |_| user.into()), "")),
        ("results of other calls", with(&others, "")),
        (
            "results of one long call",
            with(&format!("{one},{results}"), ""),
        ),
        (
            "results of a long name",
            with(&format!("{named},{results}"), ""),
        ),
        (
            "tools",
            with(
                user,
                &format!(r#","tools":[{}]"#, list(MANY, |_| tool.into())),
            ),
        ),
        (
            "parameters",
            with(
                user,
                &format!(",{}", list(MANY, |at| format!(r#""k{at}":0"#))),
            ),
        ),
    ];
    thread::scope(|scope| {
        for (name, body) in cases {
            scope.spawn(move || {
                let request = ChatRequest::read(&Bytes::from(body));
                exercise(&request.unwrap_or_else(|error| panic!("{name}: {error}")));
            });
        }
    });
}

#[test]
fn results_belong_to_the_calls_of_their_id_in_order() {
    let calls = |calls: &[String]| {
        format!(
            r#"{{"role":"assistant","tool_calls":[{}]}}"#,
            calls.join(",")
        )
    };
    let messages = [
        calls(&[call(0, "old", "{}")]),
        r#"{"role":"user","content":"x"}"#.into(),
        calls(&[
            call(0, "first", "{}"),
            call(0, "second", r#"{\"x\":1}"#),
            call(1, "third", "no"),
        ]),
        result(0),
        result(0),
        result(1),
        calls(&[call(0, "late", "{}")]),
    ];
    let body = format!(
        r#"{{"model":"m","stream":true,"messages":[{}]}}"#,
        messages.join(",")
    );
    let request = ChatRequest::read(&body.into()).unwrap();
    let results: Vec<_> = request.results().collect();
    let names: Vec<_> = results.iter().map(|result| &*result.name).collect();
    assert_eq!(names, ["first", "second", "third"]);
    let arguments = |at: usize| results[at].arguments.as_ref();
    assert_eq!(arguments(0).unwrap().text(), "{}");
    assert_eq!(arguments(1).unwrap().text(), r#"{"x":1}"#);
    assert_eq!(arguments(2), None);
}

/// Returns the events of one frame, from a decoder with a large limit.
fn events(frame: &str) -> Vec<Event> {
    let stream = format!("data: {frame}\n\n");
    let mut decoder = EventDecoder::<Meilisearch>::new().limit(1 << 28);
    let mut input = stream.as_bytes();
    let mut events = Vec::new();
    while let Some(event) = decoder.next(&mut input).unwrap() {
        events.push(event.clone());
    }
    let _ = decoder.decoder().outcome();
    events
}

#[test]
fn large_frames_are_read_in_linear_time() {
    let entry = |index: usize, name: &str, arguments: &str| {
        format!(
            r#"{{"index":{index},"id":"i{index}","function":{{"name":"{name}","arguments":"{arguments}"}}}}"#
        )
    };
    let frame = |calls: &str| format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{calls}]}}}}]}}"#);
    let open = list(2 * MANY, |at| entry(at, "f", "{"));
    let open_and_closed = format!("{open},{}", list(MANY, |at| entry(at, "", "}")));
    for (name, frame, expected) in [
        ("unfinished calls", frame(&open), 0),
        (
            "calls that are finished later",
            frame(&open_and_closed),
            MANY,
        ),
        (
            "calls under one index",
            frame(&list(MANY, |_| entry(0, "f", "{"))),
            MANY - 1,
        ),
        (
            "fragments of nothing",
            frame(&list(MANY, |at| entry(at, "", "{"))),
            MANY,
        ),
        (
            "choices",
            format!(
                r#"{{"choices":[{}]}}"#,
                list(MANY, |_| r#"{"delta":{"content":"x"}}"#.into())
            ),
            MANY,
        ),
        (
            "members of an error",
            format!(
                r#"{{"error":{{{}}}}}"#,
                list(MANY, |at| format!(r#""k{at}":0"#))
            ),
            1,
        ),
    ] {
        assert_eq!(events(&frame).len(), expected, "{name}");
    }
}

#[test]
fn calls_end_in_the_order_in_which_they_began() {
    let entry = |index: usize, name: &str, arguments: &str| {
        format!(r#"{{"index":{index},"function":{{"name":"{name}","arguments":"{arguments}"}}}}"#)
    };
    let calls = [
        entry(9, "a", "{"),
        entry(3, "b", "{"),
        entry(5, "c", "{"),
        entry(3, "", "}"),
        entry(5, "d", "{"),
        entry(3, "e", "{"),
    ];
    let frame = format!(
        r#"{{"choices":[{{"delta":{{"tool_calls":[{}]}},"finish_reason":"stop"}}]}}"#,
        calls.join(",")
    );
    let events = events(&frame);
    let names: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Unknown(Unknown::Call(call)) => Some(call.name.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(names, ["b", "c", "a", "d", "e"]);
}

fn append(message: &str) -> Event {
    let json = Json::parse(message.to_owned()).unwrap();
    Event::Append(Append::new(Message::from_json(json).unwrap()))
}

#[test]
fn a_large_history_is_kept_in_linear_time() {
    // Every message is read several times.
    const MANY: usize = 20_000;
    let calls = list(MANY, |at| call(at, "f", "{}"));
    let results = || (0..MANY).rev().map(|at| append(&result(at)));
    let one = append(&format!(r#"{{"role":"assistant","tool_calls":[{calls}]}}"#));
    // A member that occurs many times, of which the last one counts.
    let again = append(&format!(
        r#"{{"role":"assistant",{},"tool_calls":[{calls}]}}"#,
        list(2 * MANY, |_| r#""tool_calls":0"#.into())
    ));
    let said = || (0..MANY).map(|_| Event::Text("x".into()));
    for (name, events, expected) in [
        (
            "calls and results",
            std::iter::once(one).chain(results()).collect::<Vec<_>>(),
            MANY + 1,
        ),
        (
            "a member that comes again and again",
            std::iter::once(again)
                .chain(results().take(MANY / 2))
                .collect(),
            MANY / 2 + 1,
        ),
        ("results of nothing", results().collect(), 0),
        ("text", said().collect(), 1),
    ] {
        let mut history = History::new();
        for event in &events {
            history.apply(event);
        }
        assert_eq!(history.messages().len(), expected, "{name}");
        assert_eq!(history.into_messages().len(), expected, "{name}");
    }
}

#[test]
fn a_message_with_fewer_calls_has_one_list_of_them() {
    let mut history = History::new();
    history.apply(&append(&format!(
        r#"{{"role":"assistant","tool_calls":[],"x":1,"tool_calls":[{},{}]}}"#,
        call(0, "f", "{}"),
        call(1, "g", "{}")
    )));
    history.apply(&append(&result(1)));
    let messages = history.into_messages();
    assert_eq!(
        messages[0].json().text(),
        format!(
            r#"{{"role":"assistant","tool_calls":[{}],"x":1}}"#,
            call(1, "g", "{}")
        )
    );
}

#[test]
fn long_lists_of_members_are_read_in_linear_time() {
    let keys = format!("{{{}}}", list(MANY, |at| format!(r#""k{at}":0"#)));
    let keys = Bytes::from(keys);
    assert!(
        ApiError::from_response(StatusCode::OK, &keys)
            .code
            .is_empty()
    );
    assert_eq!(Search::from_json(&keys).unwrap().unknown.len(), MANY);
}

/// A depth that would overflow a thread's stack.
const DEEP: usize = 10_000;

/// Returns deeply nested values, complete and truncated.
fn deep() -> Vec<String> {
    let mut all = vec!["[".repeat(DEEP) + &"]".repeat(DEEP)];
    for key in ["x", "content", "tool_calls", "function", "delta", "error"] {
        let member = format!("{{\"{key}\":");
        all.push(member.repeat(DEEP) + "0" + &"}".repeat(DEEP));
        all.push(format!("{member}[").repeat(DEEP) + &"]}".repeat(DEEP));
    }
    all.push("{\"x\":[".repeat(DEEP));
    all
}

#[test]
fn depth_needs_no_stack() {
    let quoted = |text: &str| Json::encode(text).unwrap().text().to_owned();
    for value in deep() {
        for place in [
            r#"{"model":"m","stream":true,"messages":[{"role":"user","content":[@]}],"x":@}"#,
            r#"{"model":"m","stream":true,"messages":[{"role":"assistant","tool_calls":[@]}]}"#,
            r#"{"model":"m","stream":true,"messages":[],"tools":[@]}"#,
            r#"{"model":"m","stream":true,"messages":@,"n":@}"#,
            "@",
        ] {
            let body = Bytes::from(place.replace('@', &value));
            match ChatRequest::read(&body) {
                Ok(request) => {
                    assert!(!format!("{request:?}").is_empty());
                    exercise(&request);
                    let mut history = History::from(request.messages);
                    history.end_turn();
                    assert_eq!(history.messages(), history.clone().into_messages());
                }
                Err(error) => assert!(!format!("{error:?}").is_empty()),
            }
        }
        for place in [
            r#"{"choices":[@]}"#,
            r#"{"choices":[{"delta":{"content":"x","tool_calls":[@]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":$}}]},"finish_reason":"stop"}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"function":{"name":"_meiliSearchSources","arguments":$}}]},"finish_reason":"stop"}]}"#,
            r#"{"error":@}"#,
            "@",
        ] {
            let data = place.replace('@', &value).replace('$', &quoted(&value));
            let stream = format!("data: {data}\n\n");
            let mut decoder = EventDecoder::<Meilisearch>::new().limit(1 << 26);
            let mut input = stream.as_bytes();
            while let Ok(Some(event)) = decoder.next(&mut input) {
                assert_eq!(*event, event.clone());
                assert!(!format!("{event:?}").is_empty());
            }
        }
        let body = Bytes::from(value);
        let _ = Search::from_json(&body);
        let _ = ApiError::from_response(StatusCode::OK, &body);
        let _ = serde_json::from_slice::<Message>(&body);
        let _ = Json::parse(body).map(Message::from_json);
    }
}
