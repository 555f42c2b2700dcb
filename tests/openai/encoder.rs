//! A session writes valid streams, whatever an agent sends in whatever order.

use copilot_wire::json::{Json, Wire as _};
use copilot_wire::openai::{
    ChatCompletionChunk, ChatMessage, ChatRequest, Choice, Delta, Ending, ErrorObject,
    FinishReason, Function, Logprobs, OpenAi, Reply, TokenLogprob, ToolCall, ToolCallDelta, Usage,
};
use copilot_wire::protocol::{
    self, Citation, Env, Failure, Notice, Part, Protocol, SendError, Session, Status,
};
use proptest::prelude::*;

use crate::rules::{End, check};
use crate::support::{Read, fixed};

fn request(usage: bool) -> ChatRequest {
    let functions = ["f", "g", "one", "two", "three"].map(|name| Function::new(name, "").into());
    let request = ChatRequest::new("m", vec![ChatMessage::user("hi")]).stream(true);
    let request = request.offer(functions);
    if usage {
        request.include_usage()
    } else {
        request
    }
}

/// Says `chunks` and ends well.
fn say(usage: bool, chunks: &[ChatCompletionChunk]) -> String {
    let (mut session, mut out) = open(usage, &fixed());
    for chunk in chunks {
        session.output(chunk, &mut out).unwrap();
    }
    session.finish(&mut out);
    String::from_utf8(out).unwrap()
}

fn open(usage: bool, env: &Env) -> (Session<Reply>, Vec<u8>) {
    let mut session = OpenAi::session(&request(usage), &(), env);
    let mut out = Vec::new();
    session.open(&mut out);
    (session, out)
}

fn text(session: &mut Session<Reply>, text: &str, out: &mut Vec<u8>) {
    session.text(text, out).unwrap();
}

fn chunk(chunk: impl Into<ChatCompletionChunk>) -> ChatCompletionChunk {
    chunk.into()
}

fn fragments(list: impl IntoIterator<Item = ToolCallDelta>) -> Delta {
    let mut delta = Delta::default();
    delta.tool_calls.extend(list);
    delta
}

#[test]
fn an_answer_without_a_word_gets_a_sentence() {
    let mut reasoning = Delta::default();
    let thought = Json::parse("\"hm\"").unwrap();
    reasoning.unknown.push("reasoning_content", thought);
    for said in [vec![], vec![chunk(Choice::new(0, reasoning))]] {
        let chunks = check(&say(true, &said), true, End::Done);
        let text: String = chunks
            .iter()
            .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str())
            .collect();
        assert_eq!(text, "There is no answer.");
        let last = chunks.last().unwrap();
        assert_eq!(last["choices"][0]["finish_reason"], "stop");
    }
}

#[test]
fn rule_2_the_head_is_the_replys_own() {
    let mut foreign = ChatCompletionChunk::from(Delta::text("a"));
    foreign.id = Some("upstream".into());
    foreign.created = Some(1);
    foreign.model = Some("other".into());
    foreign.system_fingerprint = Some("fp".into());
    foreign
        .unknown
        .push("x_groq", Json::parse("{\"id\": 1}").unwrap());
    let chunks = check(&say(false, &[foreign]), false, End::Done);
    assert_eq!(chunks[1]["model"], "m");
    assert_eq!(chunks[1]["system_fingerprint"], "fp");
    assert_eq!(chunks[1]["x_groq"]["id"], 1);
}

#[test]
fn rule_3_the_role_comes_once_and_choices_are_never_empty() {
    let mut opening = Delta::text("");
    opening.role = Some("assistant".into());
    let mut again = Delta::text("b");
    again.role = Some("assistant".into());
    let mut filter = ChatCompletionChunk::default();
    filter
        .unknown
        .push("prompt_filter_results", Json::parse("[1]").unwrap());
    let events = [
        chunk(filter),
        chunk(opening),
        chunk(Delta::text("a")),
        chunk(again),
        chunk(Delta::default()),
        chunk(ChatCompletionChunk::default()),
    ];
    let chunks = check(&say(false, &events), false, End::Done);
    assert_eq!(chunks.len(), 4);
    // What came with no choice is not lost.
    assert_eq!(chunks[1]["prompt_filter_results"][0], 1);
}

/// JSON readers differ on which of two members of one name counts.
#[test]
fn what_waits_for_a_chunk_gives_way_to_what_is_newer() {
    let with = |mut chunk: ChatCompletionChunk, value: &str| {
        chunk
            .unknown
            .push("x", Json::parse(value.to_owned()).unwrap());
        chunk
    };
    let none = ChatCompletionChunk::default;
    let events = [
        with(none(), "1"),
        with(none(), "2"),
        chunk(Delta::text("a")),
    ];
    let written = say(false, &events);
    assert_eq!(written.matches("\"x\":").count(), 1, "{written}");
    assert!(written.contains("\"x\":2"), "{written}");

    let events = [with(none(), "1"), with(Delta::text("a").into(), "3")];
    let written = say(false, &events);
    assert_eq!(written.matches("\"x\":").count(), 1, "{written}");
    assert!(written.contains("\"x\":3"), "{written}");
}

#[test]
fn rule_4_calls_are_written_one_behind_the_other() {
    let events = [
        chunk(fragments([
            ToolCallDelta::start(0, "A", "one"),
            ToolCallDelta::start(1, "B", "two"),
        ])),
        chunk(fragments([ToolCallDelta::arguments(1, "{\"b\"")])),
        chunk(fragments([ToolCallDelta::arguments(0, "{\"a\"")])),
        chunk(fragments([ToolCallDelta::arguments(1, ":2}")])),
        chunk(fragments([ToolCallDelta::arguments(0, ":1}")])),
        // Without an id, and without arguments; and one that nobody can call.
        chunk(fragments([ToolCallDelta::start(2, "", "three")])),
        chunk(fragments([ToolCallDelta::arguments(3, "{}")])),
    ];
    let stream = say(false, &events);
    check(&stream, false, End::Done);
    let completion = Read::all(stream.as_bytes()).completion();
    let calls: Vec<_> = completion
        .calls()
        .iter()
        .map(|call| {
            (
                call.id.as_str(),
                call.function.name.as_str(),
                call.function.arguments.as_str(),
            )
        })
        .collect();
    assert_eq!(calls[0], ("A", "one", "{\"a\":1}"));
    assert_eq!(calls[1], ("B", "two", "{\"b\":2}"));
    assert!(calls[2].0.starts_with("call_") && calls[2].1 == "three" && calls[2].2 == "{}");
    assert_eq!(calls.len(), 3);
    assert_eq!(
        completion.choices[0].finish_reason,
        Some(FinishReason::ToolCalls)
    );
}

#[test]
fn rule_4_a_relayed_call_without_an_id_gets_one_before_the_agents_own() {
    let request = request(false);
    let names = ["own", "one", "two"];
    let request = request.offer(names.map(|name| Function::new(name, "").into()));
    let mut session = OpenAi::session(&request, &(), &fixed());
    let mut out = Vec::new();
    session.open(&mut out);
    // The second one is buffered: the first may still get arguments.
    let relayed = fragments([
        ToolCallDelta::start(0, "A", "one"),
        ToolCallDelta::start(1, "", "two"),
    ]);
    session.output(&chunk(relayed), &mut out).unwrap();
    let own = protocol::ToolCall::new("own", &Json::parse("{}").unwrap()).unwrap();
    session.part(Part::Calls(&[own]), &mut out).unwrap();
    session.finish(&mut out);
    let stream = std::str::from_utf8(&out).unwrap();
    check(stream, false, End::Done);
    assert_eq!(Read::all(&out).completion().calls().len(), 3);
}

#[test]
fn rule_5_one_finish_reason_then_usage_then_done() {
    let usage = Usage::new(19, 10).cached(3).reasoning(7);
    let finish = || chunk(Choice::new(0, Delta::default()).finish(FinishReason::Length));
    let events = [
        chunk(Delta::text("a")),
        finish(),
        finish(),
        chunk(usage.clone()),
        // An upstream end does not end the reply.
        chunk(Delta::text("b")),
    ];
    let stream = say(true, &events);
    let chunks = check(&stream, true, End::Done);
    assert_eq!(
        chunks.last().unwrap()["usage"],
        serde_json::to_value(&usage).unwrap()
    );
    let read = Read::all(stream.as_bytes());
    assert_eq!(read.chunks.last().unwrap().usage.as_ref(), Some(&usage));
    let completion = read.completion();
    assert_eq!(
        completion.choices[0].finish_reason,
        Some(FinishReason::Length)
    );
    assert_eq!(completion.message().unwrap().content.text(), "ab");
    // Nobody asked, nobody is told; and what is not known is not made up.
    let chunks = check(&say(false, &events), false, End::Done);
    assert!(chunks.iter().all(|chunk| chunk.get("usage").is_none()));
    check(&say(true, &[chunk(Delta::text("a"))]), true, End::Done);
}

#[test]
fn rule_6_after_a_failure_there_is_one_error() {
    let (mut session, mut out) = open(true, &fixed());
    text(&mut session, "Par", &mut out);
    session.output(&chunk(Usage::new(1, 1)), &mut out).unwrap();
    session.fail(&Failure::new("The model is away."), &mut out);
    session.finish(&mut out);
    let stream = String::from_utf8(out).unwrap();
    check(&stream, true, End::Error);
    let error = Read::all(stream.as_bytes()).error.unwrap();
    assert_eq!(error.message, "The model is away.");
    // After `server_error` opencode and Continue repeat the turn without end.
    assert_eq!(error.kind.as_deref(), Some("invalid_request_error"));
    assert_eq!(error.code.as_deref(), Some("invalid_prompt"));
    // An error object of the agent's own is written as it is.
    let own = ErrorObject::new("Slow down.")
        .kind("rate_limit_error")
        .code("429");
    let (mut session, mut out) = open(false, &fixed());
    text(&mut session, "a", &mut out);
    session.ending(&own.clone().into(), &mut out).unwrap();
    session.finish(&mut out);
    check(std::str::from_utf8(&out).unwrap(), false, End::Error);
    assert_eq!(Read::all(&out).error, Some(own));
}

#[test]
fn rule_7_a_keep_alive_is_a_comment() {
    let (mut session, mut out) = open(false, &fixed());
    out.clear();
    session.keep_alive(protocol::Framing::Sse, &mut out);
    assert_eq!(out, b": ping\n\n");
}

#[test]
fn what_a_client_cannot_take_is_refused_and_the_turn_goes_on() {
    let (mut session, mut out) = open(false, &fixed());
    let far = chunk(Choice::new(128, Delta::text("x")));
    let result = session.output(&far, &mut out);
    assert!(matches!(result, Err(SendError::Invalid(_))));
    let piece = "x".repeat(1024 * 1024);
    let long = chunk(fragments([ToolCallDelta::arguments(0, piece)]));
    let accepted = (0..20).take_while(|_| session.output(&long, &mut out).is_ok());
    assert_eq!(accepted.count(), 15);
    session.finish(&mut out);
    check(std::str::from_utf8(&out).unwrap(), false, End::Done);
}

#[test]
fn logprobs_and_choices_come_through() {
    let tokens = vec![TokenLogprob::new("é", -0.5)];
    let events = [
        chunk(Choice::new(1, Delta::text("é")).logprobs(Logprobs::content(tokens.clone()))),
        chunk(Choice::new(1, Delta::default()).finish(FinishReason::Stop)),
    ];
    let stream = say(false, &events);
    check(&stream, false, End::Done);
    let completion = Read::all(stream.as_bytes()).completion();
    let choice = &completion.choices[1];
    assert_eq!(
        choice.logprobs.as_ref().unwrap().content,
        Some(tokens.into())
    );
    assert_eq!(completion.choices.len(), 2);
}

#[test]
fn what_is_said_is_what_is_read() {
    let first = Delta::text("Hi \u{2028}\"there\"");
    let mut reasoned = Delta::default();
    reasoned
        .unknown
        .push("reasoning_content", Json::parse("\"hm\"").unwrap());
    let events = [
        chunk(first),
        chunk(reasoned),
        chunk(Delta::refusal("no")),
        chunk(fragments([ToolCallDelta::start(0, "A", "f")])),
        chunk(fragments([ToolCallDelta::arguments(0, "{}")])),
    ];
    let stream = say(false, &events);
    let read = Read::all(stream.as_bytes());
    // The role comes before all of it.
    for (said, heard) in events.iter().zip(&read.chunks[1..]) {
        assert_eq!(said.choices, heard.choices);
    }
}

/// A step of a reply.
#[derive(Clone, Debug)]
enum Act {
    Chunk(Box<ChatCompletionChunk>),
    Text(String),
    Cite,
    Status,
    Error,
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-z\"\\\\\n\u{2028}é]{0,12}"]
}

fn fragment() -> impl Strategy<Value = ToolCallDelta> {
    prop_oneof![
        (0u32..4, "[AB]?", "f?")
            .prop_map(|(index, id, name)| ToolCallDelta::start(index, id, name)),
        (0u32..4, "[{}a]{0,3}").prop_map(|(index, piece)| ToolCallDelta::arguments(index, piece)),
        Just(ToolCallDelta::default()),
    ]
}

fn delta() -> impl Strategy<Value = Delta> {
    let calls = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(fragment(), 1..4)];
    let unknown = any::<bool>();
    (
        any::<bool>(),
        prop::option::of(piece()),
        prop::option::of(piece()),
        calls,
        unknown,
    )
        .prop_map(|(role, content, refusal, calls, unknown)| {
            let mut delta = fragments(calls);
            delta.role = role.then(|| "assistant".into());
            delta.content = content;
            delta.refusal = refusal;
            if unknown {
                delta
                    .unknown
                    .push("reasoning_content", Json::parse("\"x\"").unwrap());
            }
            delta
        })
}

fn choice() -> impl Strategy<Value = Choice> {
    let reasons = ["stop", "length", "tool_calls", "error"];
    let reason = prop::option::weighted(0.2, prop::sample::select(reasons.to_vec()));
    (0u32..3, delta(), reason).prop_map(|(index, delta, reason)| {
        let choice = Choice::new(index, delta);
        match reason.and_then(|name| {
            Some(name)
                .filter(|name| !name.is_empty())
                .map(FinishReason::from)
        }) {
            Some(reason) => choice.finish(reason),
            None => choice,
        }
    })
}

fn act() -> impl Strategy<Value = Act> {
    let chunks = (
        prop::collection::vec(choice(), 0..3),
        prop::option::weighted(0.1, 0u64..9),
    );
    prop_oneof![
        6 => chunks.prop_map(|(choices, tokens)| {
            // The choices of one chunk are different ones.
            let mut list: Vec<Choice> = Vec::new();
            for choice in choices {
                if list.iter().all(|other| other.index != choice.index) {
                    list.push(choice);
                }
            }
            let mut chunk = ChatCompletionChunk::new(list);
            chunk.usage = tokens.map(|tokens| Usage::new(tokens, tokens));
            chunk.unknown.push("x", Json::parse("1").unwrap());
            Act::Chunk(Box::new(chunk))
        }),
        3 => piece().prop_map(Act::Text),
        1 => prop_oneof![Just(Act::Cite), Just(Act::Status), Just(Act::Error)],
    ]
}

proptest! {
    #[test]
    fn the_rules_hold_for_any_reply(
        acts in prop::collection::vec(act(), 0..20),
        usage in any::<bool>(),
        fails in any::<bool>(),
        calls in any::<bool>(),
    ) {
        let (mut session, mut out) = open(usage, &Env::default());
        for act in &acts {
            match act {
                Act::Chunk(chunk) => session.output(chunk, &mut out).unwrap(),
                Act::Text(piece) => text(&mut session, piece, &mut out),
                Act::Cite => {
                    let citation = Citation::new("a source");
                    session.part(Part::Cite(&citation), &mut out).unwrap();
                }
                Act::Status => {
                    let status = Status::new("working");
                    session.part(Part::Status(&status), &mut out).unwrap();
                }
                Act::Error => {
                    let notice = Notice::new("oh");
                    session.part(Part::Error(&notice), &mut out).unwrap();
                }
            }
        }
        if calls {
            let calls = vec![
                ToolCall::new("1", "f", &()).unwrap(),
                ToolCall::new("2", "g", &[1]).unwrap(),
            ];
            session.ending(&Ending::from(calls), &mut out).unwrap();
        }
        let end = if fails {
            session.fail(&Failure::new("no"), &mut out);
            End::Error
        } else {
            session.finish(&mut out);
            End::Done
        };
        check(std::str::from_utf8(&out).unwrap(), usage, end);
    }
}

/// A chunk that is read keeps odd values of members that have a name; a reply does not pass them
/// on, because the strictest clients refuse them.
#[test]
fn odd_values_are_kept_and_not_relayed() {
    let data = r#"{"model":7,"choices":[3,{"index":0,"delta":{"content":5,"tool_calls":{},"role":[],"x":1},"logprobs":"y","finish_reason":""}],"usage":"z","citations":[1]}"#;
    let read = ChatCompletionChunk::from_json(data).unwrap();
    let written: serde_json::Value = serde_json::from_slice(&read.to_json()).unwrap();
    let mut whole: serde_json::Value = serde_json::from_str(data).unwrap();
    whole["object"] = "chat.completion.chunk".into();
    assert_eq!(written, whole);
    let chunks = check(&say(true, &[chunk(read)]), true, End::Done);
    assert_eq!(chunks[1]["citations"], serde_json::json!([1]));
    assert_eq!(
        chunks[1]["choices"],
        serde_json::json!([{"index": 0, "delta": {"x": 1}, "finish_reason": null}])
    );
}
