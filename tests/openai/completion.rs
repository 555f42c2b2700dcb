//! Chunks are put together right, whatever their order, and whatever is in them.

use copilot_wire::json::Wire as _;
use copilot_wire::openai::{
    ChatCompletion, ChatCompletionChunk, Choice, Content, Delta, Event, FinishReason, OpenAi,
    ToolCallDelta,
};
use copilot_wire::protocol::{Completion, EventDecoder};
use proptest::prelude::*;

use crate::support::{Read, push};

fn chunk(data: &str) -> ChatCompletionChunk {
    let stream = format!("data: {}\n\n", data.replace('\n', " "));
    match EventDecoder::<OpenAi>::new()
        .next(&mut stream.as_bytes())
        .unwrap()
    {
        Some(Event::Chunk(chunk)) => chunk.clone(),
        other => panic!("{other:?}"),
    }
}

fn delta(delta: &str) -> ChatCompletionChunk {
    chunk(&format!(r#"{{"choices":[{{"index":0,"delta":{delta}}}]}}"#))
}

fn whole(chunks: &[ChatCompletionChunk]) -> ChatCompletion {
    let mut whole = Completion::new();
    for chunk in chunks {
        push(&mut whole, chunk).unwrap();
    }
    ChatCompletion::from(whole)
}

/// Id, name and arguments of every call of the first choice.
fn calls(completion: &ChatCompletion) -> Vec<(&str, &str, &str)> {
    let calls = completion.calls().iter();
    calls
        .map(|call| (&*call.id, &*call.function.name, &*call.function.arguments))
        .collect()
}

#[test]
fn the_role_counts_once() {
    let every = r#"{"role":"assistant","content":"a"}"#;
    let completion = whole(&[delta(every), delta(every)]);
    let message = completion.message().unwrap();
    assert_eq!(
        (message.role.as_str(), &message.content),
        ("assistant", &Content::from("aa"))
    );
    // No role at all is an assistant's; no content at all is null.
    let completion = whole(&[delta("{}")]);
    assert_eq!(completion.message().unwrap().role, "assistant");
    assert!(completion.message().unwrap().content.is_null());
}

#[test]
fn several_fragments_of_one_call_in_one_chunk() {
    let completion = whole(&[delta(
        r#"{"tool_calls":[{"index":0,"id":"A","type":"function","function":{"name":"f","arguments":"{"}},
            {"index":0,"function":{"arguments":"}"}}]}"#,
    )]);
    assert_eq!(calls(&completion), [("A", "f", "{}")]);
}

#[test]
fn ids_and_names_that_are_repeated_count_once() {
    let first = r#"{"tool_calls":[{"index":0,"id":"A","function":{"name":"f","arguments":"{"}}]}"#;
    let again = r#"{"tool_calls":[{"index":0,"id":"A","function":{"name":"f","arguments":"}"}}]}"#;
    assert_eq!(
        calls(&whole(&[delta(first), delta(again)])),
        [("A", "f", "{}")]
    );
    // They may also come late.
    let bare = r#"{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}"#;
    assert_eq!(
        calls(&whole(&[delta(bare), delta(again)])),
        [("A", "f", "{}")]
    );
}

#[test]
fn one_id_under_two_indexes_is_two_calls() {
    let call = |index: u32| ToolCallDelta::start(index, "same", "f");
    let mut both = Delta::default();
    both.tool_calls = vec![call(0), call(1), ToolCallDelta::arguments(1, "{}")].into();
    assert_eq!(
        calls(&whole(&[both.into()])),
        [("same", "f", ""), ("same", "f", "{}")]
    );
}

#[test]
fn another_id_under_one_index_is_another_call() {
    let call = |id: &str, piece: &str| {
        delta(&format!(
            r#"{{"tool_calls":[{{"index":0,"id":"{id}","function":{{"name":"f","arguments":"{piece}"}}}}]}}"#
        ))
    };
    let more = delta(r#"{"tool_calls":[{"index":0,"function":{"arguments":"3"}}]}"#);
    let completion = whole(&[call("A", "1"), call("B", "2"), more, call("A", "4")]);
    assert_eq!(
        calls(&completion),
        [("A", "f", "1"), ("B", "f", "23"), ("A", "f", "4")]
    );
}

#[test]
fn an_index_from_the_wire_is_never_a_size() {
    let huge = |index: &str| {
        let id = index.replace('"', "");
        delta(&format!(
            r#"{{"tool_calls":[{{"index":{index},"id":"{id}","function":{{"name":"f"}}}}]}}"#
        ))
    };
    let completion = whole(&[huge("4294967295"), huge("4294967294"), huge("0")]);
    let ids: Vec<_> = calls(&completion).iter().map(|call| call.0).collect();
    assert_eq!(ids, ["0", "4294967294", "4294967295"]);
    // What is no index at all is not taken for one.
    for index in [
        "4294967296",
        "-1",
        "1.5",
        "\"0\"",
        "1e3",
        "99999999999999999999999",
    ] {
        assert_eq!(calls(&whole(&[huge(index).clone()])), [], "{index}");
        let choice = chunk(&format!(
            r#"{{"choices":[{{"index":{index},"delta":{{"content":"x"}}}}]}}"#
        ));
        assert!(whole(&[choice]).choices.is_empty(), "{index}");
    }
    let far = Choice::new(u32::MAX, Delta::text("x"));
    assert_eq!(whole(&[far.into()]).choices[0].index, u32::MAX);
}

#[test]
fn it_holds_no_more_than_its_limit() {
    let mut whole = Completion::new().limit(1000);
    let piece = ChatCompletionChunk::from(Delta::text("x".repeat(100)));
    let pushed = (0..100)
        .take_while(|_| push(&mut whole, &piece).is_ok())
        .count();
    assert!((1..10).contains(&pushed));
    assert_eq!(whole.text().len(), pushed * 100);
    // Nothing is free: not an empty choice, not a call without text.
    for hostile in [
        |n| ChatCompletionChunk::from(Choice::new(n, Delta::default())),
        |n| {
            let mut delta = Delta::default();
            delta.tool_calls.push(ToolCallDelta::start(n, "", ""));
            delta.into()
        },
        |n| delta(&format!(r#"{{"k{n}":0}}"#)),
    ] {
        let mut whole = Completion::new().limit(10_000);
        assert!((0..1000).any(|n| push(&mut whole, &hostile(n)).is_err()));
    }
}

#[test]
fn unknown_text_is_joined_and_other_members_are_kept() {
    let completion = whole(&[
        delta(r#"{"reasoning_content":"let me ","n":1}"#),
        delta(r#"{"reasoning_content":"think","n":2}"#),
        delta(r#"{"reasoning_content":null,"n":null}"#),
        delta(r#"{"function_call":{"name":"old","arguments":"{"}}"#),
        delta(r#"{"function_call":{"arguments":"}"}}"#),
    ]);
    let message = completion.message().unwrap();
    assert_eq!(
        message.unknown.get("reasoning_content").unwrap().text(),
        "\"let me think\""
    );
    assert_eq!(message.unknown.get("n").unwrap().text(), "2");
    let function = message.function_call.as_ref().unwrap();
    assert_eq!(
        (function.name.as_str(), function.arguments.as_str()),
        ("old", "{}")
    );
}

#[test]
fn a_completion_is_read_as_it_is_written() {
    let read = Read::all(include_bytes!(
        "../../fixtures/openai/chunk-two-choices-logprobs.sse"
    ));
    let completion = read.completion();
    assert!(
        completion
            .choices
            .iter()
            .all(|it| it.finish_reason.is_some())
    );
    assert_eq!(
        ChatCompletion::from_json(completion.to_json()).unwrap(),
        completion
    );
    assert_eq!(
        (completion.id.as_str(), completion.created),
        ("chatcmpl-9x", 1_764_000_000)
    );
    assert_eq!(completion.model, "gpt-4o-2024-08-06");
}

#[test]
fn alternatives_have_one_level_and_what_is_deeper_stays_as_it_came() {
    let token = r#"{"token":"a","logprob":-0.5,"bytes":null,"top_logprobs":[{"token":"b","logprob":-1.5,"bytes":[98],"top_logprobs":[{"token": "c"}]}]}"#;
    let data = format!(r#"{{"choices":[{{"logprobs":{{"content":[{token}]}}}}]}}"#);
    let chunk = chunk(&data);
    let logprobs = chunk.choices[0].logprobs.as_ref().unwrap();
    let top = logprobs
        .content
        .as_ref()
        .unwrap()
        .first()
        .unwrap()
        .top_logprobs
        .as_ref()
        .unwrap()
        .first()
        .unwrap();
    assert_eq!((top.token.as_str(), top.logprob), ("b", -1.5));
    assert_eq!(
        top.unknown.get("top_logprobs").unwrap().text(),
        r#"[{"token": "c"}]"#
    );
    assert!(serde_json::to_string(&chunk).unwrap().contains(token));
}

/// It fails by ending the process.
#[test]
fn nested_alternatives_need_no_stack() {
    let deep = "{\"top_logprobs\":[".repeat(10_000) + &"]}".repeat(10_000);
    let chunk = chunk(&format!(
        r#"{{"choices":[{{"logprobs":{{"content":[{deep}]}}}}]}}"#
    ));
    let completion = whole(&[chunk.clone(), chunk]);
    assert_eq!(completion, completion.clone());
    let written = String::from_utf8(completion.to_json().into()).unwrap();
    let inner = &deep["{\"top_logprobs\":[{".len()..];
    assert!(written.contains(inner.trim_end_matches([']', '}'])));
}

#[test]
fn arguments_are_read_as_an_object() {
    #[derive(serde::Deserialize)]
    struct Place {
        port: String,
    }
    let completion = whole(&[delta(
        r#"{"tool_calls":[
            {"index":0,"function":{"name":"f","arguments":"{\"port\":\"Brest\"}"}},
            {"index":1,"function":{"name":"f","arguments":""}},
            {"index":2,"function":{"name":"f","arguments":"[1]"}},
            {"index":3,"function":{"name":"f","arguments":"{\"port\":"}}]}"#,
    )]);
    let functions: Vec<_> = completion
        .calls()
        .iter()
        .map(|call| &call.function)
        .collect();
    assert_eq!(
        functions[0].json().unwrap().decode::<Place>().unwrap().port,
        "Brest"
    );
    assert_eq!(functions[1].json().unwrap().text(), "{}");
    assert!(functions[2].json().is_err());
    assert!(functions[3].json().is_err());
}

#[test]
fn the_input_of_a_free_text_tool_is_continued() {
    let completion = whole(&[
        delta(
            r#"{"tool_calls":[{"index":0,"id":"c","type":"custom","custom":{"name":"patch","input":"*** "}}]}"#,
        ),
        delta(r#"{"tool_calls":[{"index":0,"custom":{"input":"Begin"}}]}"#),
        delta(r#"{"tool_calls":[{"index":0,"custom":{"input":" Patch"}}]}"#),
    ]);
    let call = &completion.calls()[0];
    assert_eq!((&*call.id, call.unknown.len()), ("c", 1));
    let custom = call.unknown.get("custom").unwrap();
    assert_eq!(custom.get("name").unwrap().text(), r#""patch""#);
    assert_eq!(custom.get("input").unwrap().text(), r#""*** Begin Patch""#);
}

proptest! {
    /// Texts and calls of several choices, cut anywhere and mixed in any order that keeps the
    /// pieces of one thing in order.
    #[test]
    fn interleaved_fragments_are_joined(
        texts in prop::collection::vec("[a-zé\"{}]{0,20}", 1..4),
        arguments in prop::collection::vec("[a-zé\"{}]{0,20}", 0..5),
        seed in any::<u64>(),
    ) {
        let mut random = seed;
        let mut next = |below: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) as usize % below
        };
        // A queue of pieces for every text and every call.
        let mut queues: Vec<Vec<ChatCompletionChunk>> = Vec::new();
        for (choice, text) in texts.iter().enumerate() {
            let piece = |delta| Choice::new(choice as u32, delta).into();
            let mut queue: Vec<_> = text.chars().map(|c| piece(Delta::text(c))).collect();
            queue.push(Choice::new(choice as u32, Delta::default()).finish(FinishReason::Stop).into());
            queues.push(queue);
        }
        for (index, text) in arguments.iter().enumerate() {
            let piece = |fragment| {
                let mut delta = Delta::default();
                delta.tool_calls.push(fragment);
                ChatCompletionChunk::from(delta)
            };
            let index = index as u32;
            let mut queue = vec![piece(ToolCallDelta::start(index, format!("id{index}"), "f"))];
            queue.extend(text.chars().map(|c| piece(ToolCallDelta::arguments(index, c))));
            queues.push(queue);
        }
        let mut all = Completion::new();
        while !queues.is_empty() {
            let at = next(queues.len());
            if queues[at].is_empty() {
                queues.remove(at);
            } else {
                push(&mut all, &queues[at].remove(0)).unwrap();
            }
        }
        prop_assert_eq!(all.text(), &texts[0]);
        prop_assert!(all.is_complete());
        let completion = ChatCompletion::from(all);
        for (choice, text) in completion.choices.iter().zip(&texts) {
            prop_assert_eq!(&*choice.message.content.text(), text);
        }
        let found: Vec<_> = calls(&completion).iter().map(|call| call.2.to_owned()).collect();
        prop_assert_eq!(found, arguments);
        for (index, call) in completion.calls().iter().enumerate() {
            prop_assert_eq!(&call.id, &format!("id{index}"));
        }
    }

    /// Nothing that is JSON makes it panic.
    #[test]
    fn anything_is_taken(
        index in prop::sample::select(vec!["0", "1", "null", "-1", "4294967295", "{}", "1e999"]),
        value in prop::sample::select(vec!["null", "0", "\"x\"", "\"\"", "[]", "{}", "[null]", "[{}]", "true"]),
        key in prop::sample::select(vec!["role", "content", "refusal", "tool_calls", "function_call", "x"]),
    ) {
        for data in [
            format!(r#"{{"choices":[{{"index":{index},"delta":{{"{key}":{value}}},"finish_reason":{value},"logprobs":{value}}}]}}"#),
            format!(r#"{{"choices":[{{"delta":{value}}}],"usage":{value},"id":{value},"created":{value}}}"#),
            format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":{index},"id":{value},"type":{value},"function":{{"name":{value},"arguments":{value}}}}}]}}}}]}}"#),
            format!(r#"{{"choices":[{{"logprobs":{{"content":[{{"token":{value},"logprob":{value},"bytes":{value},"top_logprobs":{value}}}]}}}}],"usage":{{"prompt_tokens":{value},"prompt_tokens_details":{value}}}}}"#),
        ] {
            let mut all = Completion::new();
            push(&mut all, &chunk(&data)).unwrap();
            // What is written is valid, and has no member twice.
            let _: serde_json::Value = serde_json::from_slice(&ChatCompletion::from(all).to_json()).unwrap();
            twice(&serde_json::to_string(&chunk(&data)).unwrap());
        }
    }
}

/// Panics when an object has a member twice.
fn twice(text: &str) {
    fn walk(json: &copilot_wire::json::Json) {
        let mut keys: Vec<String> = Vec::new();
        for (key, value) in json.members() {
            assert!(!keys.contains(&key.to_string()), "{key} twice");
            keys.push(key.into_owned());
            walk(&value);
        }
        json.elements().for_each(|element| walk(&element));
    }
    walk(&copilot_wire::json::Json::parse(text.to_owned()).unwrap());
}
