//! Events: written byte for byte as by GitHub's SDK, and read in every form.

use bytes::Bytes;
use copilot_wire::github::{
    ChatRequest, Chunk, ChunkForm, Confirmation, CopilotError, ErrorKind, Event, GitHub, Output,
    Reference, Reply,
};
use copilot_wire::json::{Json, Wire as _};
use copilot_wire::protocol::{Env, EventDecoder, Failure, Protocol, SendError, Session};
use serde_json::Value;

use crate::fixtures::bytes;

pub(crate) fn encode(events: &[Event]) -> String {
    encode_in(&ChatRequest::default(), events)
}

/// Creates a session whose acknowledgement is written.
pub(crate) fn opened(request: &ChatRequest) -> Session<Reply> {
    let mut session = GitHub::session(request, &ChunkForm::Short, &Env::default());
    session.open(&mut Vec::new());
    session
}

fn encode_in(request: &ChatRequest, events: &[Event]) -> String {
    let mut session = opened(request);
    let mut out = Vec::new();
    for event in events {
        send(&mut session, event, &mut out);
    }
    String::from_utf8(out).unwrap()
}

/// Writes an event as an agent that relays it: the ending is the session's own.
fn send(session: &mut Session<Reply>, event: &Event, out: &mut Vec<u8>) {
    match event {
        Event::Output(output) => session.output(output, out).unwrap(),
        Event::Confirmation(question) => session.ending(question, out).unwrap(),
        Event::Done => session.finish(out),
        _ => {}
    }
}

pub(crate) fn decode(mut input: &[u8]) -> Vec<Event> {
    let mut decoder = EventDecoder::<GitHub>::new();
    let mut events = Vec::new();
    while let Some(event) = decoder.next(&mut input).unwrap() {
        events.push(event.clone());
    }
    events
}

pub(crate) fn text(text: &str) -> Event {
    Output::Text(text.into()).into()
}

/// Creates the events of an SDK call from its arguments.
fn built(function: &str, arguments: &Value) -> Vec<Event> {
    let string = |value: &Value| value.as_str().unwrap().to_owned();
    match function {
        "createAckEvent" => vec![text("")],
        "createDoneEvent" => vec![Event::Finish, Event::Done],
        "createTextEvent" => vec![text(arguments[0].as_str().unwrap())],
        "createConfirmationEvent" => {
            let it = &arguments[0];
            let id = it["id"].as_str().unwrap();
            let mut question = Confirmation::new(id, string(&it["title"]), string(&it["message"]));
            if let Some(metadata) = it.get("metadata") {
                question = question.metadata(metadata).unwrap();
            }
            vec![question.into()]
        }
        "createReferencesEvent" => {
            let list = arguments[0].as_array().unwrap().iter().map(|it| {
                let mut reference = Reference::bare(string(&it["type"]), string(&it["id"]));
                reference.data = it.get("data").map(|data| Json::encode(data).unwrap());
                reference.is_implicit = it.get("is_implicit").and_then(Value::as_bool);
                if let Some(metadata) = it.get("metadata") {
                    let read = metadata.as_object().unwrap();
                    let own = reference.metadata.get_or_insert_default();
                    own.display_name = read.get("display_name").map(string);
                    own.display_icon = read.get("display_icon").map(string);
                    own.display_url = read.get("display_url").map(string);
                }
                reference
            });
            vec![Output::References(list.collect()).into()]
        }
        "createErrorsEvent" => {
            let list = arguments[0].as_array().unwrap().iter().map(|it| {
                let kind = match it["type"].as_str().unwrap() {
                    "reference" => ErrorKind::Reference,
                    "function" => ErrorKind::Function,
                    _ => ErrorKind::Agent,
                };
                CopilotError::new(
                    kind,
                    string(&it["code"]),
                    string(&it["message"]),
                    string(&it["identifier"]),
                )
            });
            vec![Output::Errors(list.collect()).into()]
        }
        other => panic!("{other}"),
    }
}

/// Returns the metadata with the order of its members, which `serde_json::Value` does not retain.
fn ordered(case: &Json) -> Option<Json> {
    let arguments = case.get("args")?.elements().next()?;
    arguments.get("metadata").map(|metadata| compact(&metadata))
}

#[test]
fn events_are_byte_identical_to_the_sdk() {
    let raw = Json::parse(bytes("sdk-events.json")).unwrap();
    let cases = raw.get("cases").unwrap();
    let mut count = 0;
    for case in cases.elements() {
        let value: Value = case.decode().unwrap();
        let name = value["name"].as_str().unwrap();
        let output = value["output"].as_str().unwrap();
        let mut events = built(value["function"].as_str().unwrap(), &value["args"]);
        if let (Some(metadata), Event::Confirmation(question)) = (ordered(&case), &mut events[0]) {
            let id = value["args"][0]["id"].as_str().unwrap();
            *question = Confirmation::new(id, question.title.clone(), question.message.clone())
                .metadata(&metadata)
                .unwrap();
        }
        if let Event::Output(Output::References(list)) = &mut events[0] {
            let arguments = case.get("args").unwrap().elements().next().unwrap();
            for (reference, argument) in list.iter_mut().zip(arguments.elements()) {
                let data = argument.get("data");
                // The fixture is indented; serialized values are compact.
                reference.data = data.map(|data| compact(&data));
            }
        }
        let written = encode(&events);
        assert_eq!(written, output, "{name}");
        assert_eq!(
            written.len() as u64,
            value["bytes"].as_u64().unwrap(),
            "{name}"
        );
        assert_eq!(decode(output.as_bytes()), events, "{name}");
        count += 1;
    }
    assert_eq!(count, 21);
}

/// Returns the same value without white space, with the order of its members.
fn compact(json: &Json) -> Json {
    let mut inside = false;
    let mut escaped = false;
    let text = json.text().chars().filter(|&it| {
        let quote = it == '"' && !escaped;
        inside ^= quote;
        escaped = it == '\\' && !escaped;
        inside || !it.is_whitespace()
    });
    Json::parse(text.collect::<String>()).unwrap()
}

#[test]
fn metadata_is_spread_as_in_javascript() {
    let metadata = Json::parse(r#"{"b":1,"10":2,"2":3,"01":4,"id":"inner","-1":5,"4294967295":6}"#);
    let question = Confirmation::new("outer", "t", "m")
        .metadata(&metadata.unwrap())
        .unwrap();
    // The output of Node.js: JSON.stringify({id: "outer", ...metadata})
    let spread = r#"{"2":3,"10":2,"id":"inner","b":1,"01":4,"-1":5,"4294967295":6}"#;
    assert_eq!(question.confirmation.text(), spread);
    for odd in ["[]", "7", "null", "\"x\""] {
        let error = Confirmation::new("1", "t", "m")
            .metadata(&Json::parse(odd).unwrap())
            .unwrap_err();
        assert!(matches!(error, SendError::Invalid(_)), "{odd}");
    }
}

/// The SDK writes empty texts; VS Code displays no dialog without a message.
#[test]
fn empty_texts_are_written() {
    let question = Event::Confirmation(Confirmation::new("1", "Delete?", ""));
    let error = CopilotError::new(ErrorKind::Agent, "", "It failed.", "");
    let written = encode(&[Output::Errors(vec![error].into()).into(), question.clone()]);
    assert!(
        written.contains(r#""title":"Delete?","message":"","confirmation""#),
        "{written}"
    );
    assert!(
        written.contains(r#"{"type":"agent","code":"","message":"It failed.","identifier":""}"#),
        "{written}"
    );
    let read = decode(written.as_bytes());
    assert!(read.contains(&question), "{read:?}");
    // A member of another type is retained, and written once.
    let odd = r#"{"type":"action","title":"t","message":5,"confirmation":{}}"#;
    let read = decode(format!("event: copilot_confirmation\ndata: {odd}\n\n").as_bytes());
    assert_eq!(encode(&read).matches("message").count(), 1);
}

#[test]
fn builders_follow_what_clients_render() {
    let reference = Reference::new("a.b", "1", "One");
    assert_eq!(
        reference.to_json(),
        r#"{"type":"a.b","id":"1","data":{},"is_implicit":false,"metadata":{"display_name":"One"}}"#
    );
    for data in [
        r#"{"url":"x"}"#,
        r#"{"a":1,"html_url":"x"}"#,
        "[]",
        "1",
        "null",
    ] {
        let data = Json::parse(data).unwrap();
        assert!(
            Reference::new("a.b", "1", "One").data(&data).is_err(),
            "{data:?}"
        );
    }
    let nested = serde_json::json!({"page": {"url": "fine"}});
    assert!(Reference::new("a.b", "1", "One").data(&nested).is_ok());
}

#[test]
fn full_chunks_have_one_head() {
    let request = ChatRequest::from_json(Bytes::from(
        r#"{"agent":"tide","messages":[{"role":"user","content":"x"}]}"#,
    ))
    .unwrap();
    let mut session = GitHub::session(&request, &ChunkForm::Full, &Env::default());
    let mut out = Vec::new();
    session.open(&mut out);
    session.text("a \"b\"\u{2028}", &mut out).unwrap();
    session.keep_alive(copilot_wire::protocol::Framing::Sse, &mut out);
    for id in ["null", "\"upstream\""] {
        let foreign = format!(
            r#"{{"id":{id},"model":"other","choices":[{{"index":0,"delta":{{"refusal":"no"}}}}],"x":1}}"#
        );
        let foreign = Chunk::new(Json::parse(foreign).unwrap()).unwrap();
        session.output(&Output::Chunk(foreign), &mut out).unwrap();
    }
    session.finish(&mut out);
    let events = decode(&out);
    let mut heads = Vec::new();
    let mut deltas = Vec::new();
    for event in &events[..events.len() - 1] {
        let Event::Output(Output::Chunk(chunk)) = event else {
            panic!("{event:?}")
        };
        let value: Value = chunk.json().decode().unwrap();
        heads.push((
            value["id"].as_str().unwrap().to_owned(),
            value["object"].clone(),
            value["created"].as_u64().unwrap(),
            value["model"].clone(),
        ));
        deltas.push(value["choices"][0].clone());
    }
    assert_eq!(events.last(), Some(&Event::Done));
    assert!(heads.iter().all(|head| *head == heads[0]), "{heads:?}");
    assert!(heads[0].0.starts_with("chatcmpl-"));
    assert_eq!(heads[0].1, "chat.completion.chunk");
    assert_eq!(heads[0].3, "tide");
    let chunk = |delta: Value, reason: Value| serde_json::json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": reason});
    assert_eq!(
        deltas,
        [
            chunk(
                serde_json::json!({"role": "assistant", "content": ""}),
                Value::Null
            ),
            chunk(
                serde_json::json!({"content": "a \"b\"\u{2028}"}),
                Value::Null
            ),
            chunk(serde_json::json!({"content": ""}), Value::Null),
            serde_json::json!({"index": 0, "delta": {"refusal": "no"}}),
            serde_json::json!({"index": 0, "delta": {"refusal": "no"}}),
            chunk(serde_json::json!({}), "stop".into()),
        ]
    );
    // The role is written once: an accumulating OpenAI client would append it every time.
    assert_eq!(
        String::from_utf8(out).unwrap().matches("assistant").count(),
        1
    );
}

#[test]
fn an_answer_ends_once() {
    // A model's chunk that ends the answer is used as the ending: only `[DONE]` is added, and the
    // usage may be between.
    let mut session = opened(&ChatRequest::default());
    let mut out = Vec::new();
    for event in &decode(&bytes("chunk-usage.sse"))[..3] {
        send(&mut session, event, &mut out);
    }
    session.finish(&mut out);
    assert_eq!(out, bytes("chunk-usage.sse"));
}

/// The ending is delayed until the end of the turn, because an agent that relays a model's stream
/// may continue.
#[test]
fn nothing_follows_the_chunk_that_ends_an_answer() {
    let recorded = decode(&bytes("chunk-usage.sse"));
    let mut session = opened(&ChatRequest::default());
    let mut out = Vec::new();
    for event in &recorded[..3] {
        send(&mut session, event, &mut out);
    }
    session.text("One thing more.", &mut out).unwrap();
    let references = Output::from(Reference::bare("a", "b"));
    session.output(&references, &mut out).unwrap();
    session.finish(&mut out);
    let mut expected = recorded.clone();
    let usage = expected.split_off(1);
    expected.extend([text("One thing more."), references.into()]);
    expected.extend(usage);
    assert_eq!(decode(&out), expected);

    // A later failure is still written before the ending.
    let mut session = opened(&ChatRequest::default());
    let mut out = Vec::new();
    for event in &recorded[..3] {
        send(&mut session, event, &mut out);
    }
    session.fail(&Failure::new("no more"), &mut out);
    let events = decode(&out);
    assert!(matches!(&events[1], Event::Output(Output::Errors(errors)) if errors.len() == 1));
    assert_eq!(events[2..], recorded[1..]);
}

/// The filler is an empty text event, and no text may follow a confirmation.
#[test]
fn no_keep_alive_follows_a_confirmation() {
    let question = Confirmation::new("1", "Go on?", "");
    let mut session = opened(&ChatRequest::default());
    session.ending(&question, &mut Vec::new()).unwrap();
    let mut out = Vec::new();
    session.keep_alive(copilot_wire::protocol::Framing::Sse, &mut out);
    assert_eq!(out, b"");
}
