//! The messages of the next request.

use copilot_wire::meilisearch::{Append, ChatRequest, Event, History, Message, ToolCall, Tools};
use copilot_wire::openai::FinishReason;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{encode, fixture, fixture_json, whole};

fn values(messages: &[Message]) -> Value {
    serde_json::to_value(messages).unwrap()
}

fn after(recording: &str, messages: &[Message]) -> History {
    let mut history = History::from(messages.to_vec());
    for event in whole(&fixture(&format!("recorded/{recording}/stream.sse"))).events {
        history.apply(&event);
    }
    history
}

#[test]
fn the_next_request_is_the_recorded_one() {
    let question = Message::user("Which films are about robots?");
    let mut history = after("search_all_tools", &[question]);
    history.push(Message::user("Which of them is the oldest?"));
    let request = ChatRequest::new("gpt-4o-mini", history.messages()).tools(Tools::ALL);
    let ours: Value = serde_json::from_slice(&request.to_json()).unwrap();
    let mut recorded = fixture_json("request_follow_up.json");
    // The recorded client joined the rounds without a separator.
    let text = recorded["messages"][3]["content"].as_str().unwrap();
    recorded["messages"][3]["content"] = text.replace("now.Here", "now.\n\nHere").into();
    assert_eq!(ours["messages"], recorded["messages"]);
    assert_eq!(ours["stream"], recorded["stream"]);
    assert_eq!(ours["tools"].as_array().unwrap().len(), 3);
}

#[test]
fn within_a_turn_it_is_what_the_server_told_the_model() {
    for (recording, upstream) in [
        ("search_all_tools", "upstream_search_turn1.json"),
        ("parallel_two_all_tools", "upstream_parallel_turn1.json"),
    ] {
        let question = Message::user("Which films are about robots?");
        let messages = after(recording, &[question]).into_messages();
        let told = fixture_json(upstream)["body"]["messages"].clone();
        // Without the workspace's prompt; the calls of a round one by one, in any order.
        let mut calls: Vec<Value> = Vec::new();
        let mut results: Vec<Value> = Vec::new();
        for message in told.as_array().unwrap() {
            if let Some(list) = message.get("tool_calls") {
                calls.extend(list.as_array().unwrap().clone());
            } else if message["role"] == "tool" {
                results.push(message.clone());
            }
        }
        let ours = values(&messages);
        let ours = ours.as_array().unwrap();
        let pairs = ours[1..ours.len() - 1].chunks(2).map(|pair| {
            let call = pair[0]["tool_calls"][0].clone();
            assert_eq!(call["id"], pair[1]["tool_call_id"]);
            (call, pair[1].clone())
        });
        let (mut our_calls, mut our_results): (Vec<_>, Vec<_>) = pairs.unzip();
        let by_text = |value: &Value| value.to_string();
        for list in [&mut calls, &mut results, &mut our_calls, &mut our_results] {
            list.sort_by_key(by_text);
        }
        assert_eq!(our_calls, calls, "{recording}");
        assert_eq!(our_results, results, "{recording}");
    }
}

#[test]
fn messages_go_back_byte_for_byte() {
    let history = after("args_not_json_all_tools", &[]);
    let raw = r#"{"role":"assistant","tool_calls":[{"id":"call_A1b2C3d4E5f6","type":"function","function":{"name":"_meiliSearchInIndex","arguments":"{\"index_uid\": \"movies\", \"q\": "}}]}"#;
    assert_eq!(history.messages()[0].json().text(), raw);
}

#[test]
fn a_history_goes_on_from_a_recorded_request() {
    let request = fixture("recorded/history_follow_up/request.json");
    let request = ChatRequest::read(&request.into()).unwrap();
    assert_eq!(request.tools, Tools::ALL);
    let messages = after("history_follow_up", &request.messages).into_messages();
    let roles: Vec<_> = messages.iter().map(Message::role).collect();
    assert_eq!(
        roles,
        [
            "user",
            "assistant",
            "tool",
            "assistant",
            "user",
            "assistant",
            "tool",
            "assistant"
        ]
    );
}

#[test]
fn what_was_refused_or_cut_short_is_remembered_as_it_was_read() {
    let last = |recording: &str| values(&after(recording, &[]).into_messages());
    assert_eq!(
        last("refusal"),
        json!([{"role": "assistant", "content": "I'm sorry, I can't help with that."}])
    );
    assert_eq!(
        last("llm_drop_mid_text"),
        json!([{"role": "assistant", "content": "Half an answ"}])
    );
    assert_eq!(last("llm_401"), json!([]));
    let mut forgotten = after("abort_mid_stream", &[Message::user("a")]);
    forgotten.forget_turn();
    assert_eq!(
        values(&forgotten.messages()),
        json!([{"role": "user", "content": "a"}])
    );
}

#[test]
fn half_a_pair_is_left_out() {
    let call = ToolCall::new("a", "f", "{}");
    let other = ToolCall::new("b", "f", "{}");
    let append = |message| Event::Append(Append::new(message));
    let mut history = History::new();
    for event in [
        append(Message::calls([&call, &other])),
        append(Message::tool("b", "found")),
        append(Message::tool("c", "of nobody")),
        append(Message::calls([&call])),
        append(Message::assistant("thinking")),
    ] {
        history.apply(&event);
    }
    assert_eq!(
        values(&history.messages()),
        json!([
            {"role": "assistant", "tool_calls": [{"id": "b", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
            {"role": "tool", "content": "found", "tool_call_id": "b"},
            {"role": "assistant", "content": "thinking"},
        ])
    );
}

/// Returns turns: text, some searches in order or interleaved, text.
fn turn() -> impl Strategy<Value = Vec<Event>> {
    // Ids repeat: with some providers the server runs a search twice.
    let searches = prop::collection::vec((0_u8..4, any::<bool>()), 0..6);
    (searches, any::<u64>()).prop_map(|(searches, seed)| {
        let mut pairs = Vec::new();
        let mut late = Vec::new();
        for (place, (id, interleaved)) in searches.into_iter().enumerate() {
            let call = ToolCall::new(
                format!("call_{id}"),
                "_meiliSearchInIndex",
                "{\"q\": \"é\"}",
            );
            let result = Message::tool(&call.id, &format!("result {place}"));
            pairs.push(Message::calls([&call]));
            if interleaved {
                late.push(result);
            } else {
                pairs.push(result);
            }
        }
        if seed % 2 == 0 {
            late.reverse();
        }
        pairs.extend(late);
        let mut events = vec![Event::Text("Before.".into())];
        events.extend(
            pairs
                .into_iter()
                .map(|message| Event::Append(Append::new(message))),
        );
        events.extend([
            Event::RoundBreak,
            Event::Text("After.".into()),
            Event::Finish(FinishReason::Stop),
            Event::Done,
        ]);
        events
    })
}

#[test]
fn a_turn_is_forgotten_after_its_end_too() {
    let question = Message::user("Which films are about robots?");
    let mut history = after("search_all_tools", std::slice::from_ref(&question));
    assert_eq!(history.messages().len(), 4);
    history.forget_turn();
    assert_eq!(history.messages(), [question]);
    // A turn that is requested again is another turn.
    for event in whole(&fixture("recorded/search_all_tools/stream.sse")).events {
        history.apply(&event);
    }
    assert_eq!(history.messages().len(), 4);
    history.push(Message::user("And then?"));
    history.forget_turn();
    assert_eq!(history.into_messages().len(), 5);
}

#[test]
fn two_streams_without_a_message_between_are_two_turns() {
    let mut history = History::new();
    for event in [
        Event::Text("One.".into()),
        Event::Done,
        Event::Text("Two.".into()),
        Event::Done,
    ] {
        history.apply(&event);
    }
    let said: Vec<_> = history
        .messages()
        .iter()
        .filter_map(Message::text)
        .collect();
    assert_eq!(said, ["One.", "Two."]);
}

proptest! {
    #[test]
    fn the_next_request_is_valid_wherever_the_stream_broke(events in turn(), cut in 0.0..=1.0_f64) {
        let stream = encode("m", Tools::ALL, &events);
        let cut = (stream.len() as f64 * cut) as usize;
        let read = whole(&stream[..cut]);
        let mut history = History::new();
        history.push(Message::user("question"));
        let mut calls = 0;
        let mut results = 0;
        let mut said = String::new();
        let mut broke = false;
        for event in &read.events {
            history.apply(event);
            match event {
                Event::Append(append) if append.message.role() == "tool" => results += 1,
                Event::Append(_) => calls += 1,
                Event::RoundBreak => broke = true,
                Event::Text(text) => {
                    if std::mem::take(&mut broke) && !said.is_empty() && !said.ends_with('\n') {
                        said.push_str("\n\n");
                    }
                    said.push_str(text);
                }
                _ => {}
            }
        }
        history.push(Message::user("next"));
        let messages = history.into_messages();
        let [first, middle @ .., last] = &messages[..] else { panic!("two at least") };
        prop_assert_eq!((first.role(), last.role()), ("user", "user"));
        let (middle, spoken) = match middle.split_last() {
            Some((spoken, rest)) if !said.is_empty() => (rest, spoken.text()),
            _ => (middle, None),
        };
        prop_assert_eq!(spoken.unwrap_or_default(), said);
        // OpenAI's rule: each call is followed by its result, and each result follows its call.
        for pair in middle.chunks(2) {
            let [call, result] = pair else { panic!("half a pair") };
            prop_assert_eq!(call.tool_calls().len(), 1);
            prop_assert_eq!(Some(call.tool_calls()[0].id.clone()), result.tool_call_id());
        }
        // No complete pair is omitted.
        prop_assert!(middle.len() / 2 <= results && results <= calls);
        prop_assert_eq!(middle.len() / 2, results);
    }
}

#[test]
fn one_empty_line_separates_two_rounds() {
    for (before, after, expected) in [
        ("a", &["b"][..], "a\n\nb"),
        ("a\n", &["b"], "a\n\nb"),
        ("a\n\n", &["b"], "a\n\nb"),
        ("a", &["\nb"], "a\n\nb"),
        ("a", &["\n\nb", "\nc"], "a\n\nb\nc"),
        ("a\n", &["\n", "\n", "b"], "a\n\nb"),
        ("", &["\nb", "c"], "\nbc"),
    ] {
        let mut history = History::new();
        let mut shown = history.apply(&Event::Text(before.into())).to_owned();
        shown += history.apply(&Event::RoundBreak);
        for text in after {
            shown += history.apply(&Event::Text((*text).into()));
        }
        assert_eq!(shown, expected);
        assert_eq!(history.into_messages()[0].text().unwrap(), expected);
    }
}
