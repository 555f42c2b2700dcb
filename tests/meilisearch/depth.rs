//! Depth needs no stack, and each result finds its call.

use bytes::Bytes;
use copilot_wire::json::{Json, Wire as _};
use copilot_wire::meilisearch::{
    ApiError, Append, ChatRequest, Event, History, Meilisearch, Message, Search, Unknown,
};
use copilot_wire::protocol::{Conversation, Env, EventDecoder, Protocol};
use http::StatusCode;

/// Performs all operations on a request.
fn exercise(request: &ChatRequest) {
    let texts: usize = Conversation::messages(request).map(|m| m.text.len()).sum();
    assert!(request.prompt().unwrap_or_default().len() <= texts);
    assert_eq!(Conversation::tools(request).count(), 0);
    assert!(request.results().count() <= request.messages.len());
    assert_eq!(request.documents().count(), 0);
    assert_eq!(request.dialog_decision(), None);
    assert!(!request.to_json().is_empty());
    let _ = Meilisearch::session(request, &(), &Env::default());
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
