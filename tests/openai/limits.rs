//! The accumulator's limit holds for everything that it keeps, and nothing that it keeps holds on to
//! an event.

use copilot_wire::json::{Json, Members};
use copilot_wire::openai::{
    Accumulator, ChatCompletion, ChatCompletionChunk, Event, Model, OpenAi, Relay,
};
use copilot_wire::protocol::EventDecoder;
use copilot_wire::{Reply, Router};
use serde_json::Value;

use crate::support::{agent, post};

/// Every place that has members or texts of any size; `@` is where they are.
const PLACES: [&str; 18] = [
    r#"{"x":@}"#,
    r#"{"id":@}"#,
    r#"{"model":@}"#,
    r#"{"system_fingerprint":@}"#,
    r#"{"service_tier":@}"#,
    r#"{"usage":{"x":@}}"#,
    r#"{"usage":{"prompt_tokens_details":{"x":@}}}"#,
    r#"{"choices":[{"x":@}]}"#,
    r#"{"choices":[{"finish_reason":@}]}"#,
    r#"{"choices":[{"delta":{"x":@}}]}"#,
    r#"{"choices":[{"delta":{"x":[@]}}]}"#,
    r#"{"choices":[{"delta":{"content":@}}]}"#,
    r#"{"choices":[{"delta":{"tool_calls":[{"type":@}]}}]}"#,
    r#"{"choices":[{"delta":{"tool_calls":[{"x":@}]}}]}"#,
    r#"{"choices":[{"logprobs":{"x":@}}]}"#,
    r#"{"choices":[{"logprobs":{"content":[{"x":@}]}}]}"#,
    r#"{"choices":[{"logprobs":{"content":[{"top_logprobs":[{"x":@}]}]}}]}"#,
    r#"{"choices":[{"logprobs":{"refusal":[{"token":@}]}}]}"#,
];

fn chunk(data: &str) -> ChatCompletionChunk {
    let stream = format!("data: {data}\n\n");
    let mut input = stream.as_bytes();
    match EventDecoder::<OpenAi>::new().next(&mut input) {
        Ok(Some(Event::Chunk(chunk))) => chunk.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn whatever_is_kept_is_weighed() {
    let long = format!("\"{}\"", "y".repeat(100_000));
    for place in PLACES {
        let large = chunk(&place.replace('@', &long));
        let small = chunk(&place.replace('@', "\"y\""));
        let mut all = Accumulator::new().limit(64 * 1024);
        all.push(&small).unwrap();
        let before = all.clone().finish();
        // What the head of the completion says counts once; so does what a call is.
        let once = ["id", "model", "system", "service", "type"];
        if once.iter().any(|name| place.contains(&format!("\"{name}"))) {
            all = Accumulator::new().limit(64 * 1024);
            assert!(all.push(&large).is_err(), "{place}");
            assert_eq!(all.finish(), ChatCompletion::default(), "{place}");
            continue;
        }
        assert!(all.push(&large).is_err(), "{place}");
        // The chunk is left out, all of it.
        assert_eq!(all.finish(), before, "{place}");
        let mut all = Accumulator::new();
        all.push(&large).unwrap();
        let written = String::from_utf8(all.finish().to_json().into()).unwrap();
        assert!(written.contains(&long), "{place}");
    }
}

#[test]
fn nothing_small_adds_up_beyond_the_limit() {
    // New names are never free; that the same name takes no more is the next test.
    for place in [
        r#"{"@":0}"#,
        r#"{"choices":[{"@":0}]}"#,
        r#"{"choices":[{"delta":{"@":0}}]}"#,
        r#"{"choices":[{"logprobs":{"@":0}}]}"#,
        r#"{"choices":[{"logprobs":{"content":[{"@":0}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"@":0}]}}]}"#,
    ] {
        let mut all = Accumulator::new().limit(64 * 1024);
        let many = (0..10_000).take_while(|at| {
            let name = format!("k{at}");
            all.push(&chunk(&place.replace('@', &name))).is_ok()
        });
        assert!(many.count() < 1000, "{place}");
    }
}

#[test]
fn what_is_replaced_is_given_back() {
    let citations = format!("[\"{}\"]", "u".repeat(1000));
    let event = format!(
        r#"{{"citations":{citations},"usage":{{"prompt_tokens":1,"x":{citations}}},"choices":[{{"index":0,"delta":{{}},"content_filter_results":{citations}}}]}}"#
    );
    let mut all = Accumulator::new().limit(256 * 1024);
    for at in 0..1000 {
        let event = event.replace("[\"u", &format!("[\"{at}"));
        all.push(&chunk(&event)).unwrap();
    }
    let completion = all.finish();
    let newest = |members: &Members, name: &str| members.get(name).unwrap().text()[..5].to_owned();
    let choice = &completion.choices[0];
    let usage = completion.usage.as_ref().unwrap();
    for shown in [
        newest(&completion.unknown, "citations"),
        newest(&choice.unknown, "content_filter_results"),
        newest(&usage.unknown, "x"),
    ] {
        assert_eq!(shown, "[\"999");
    }
}

/// The values of members, at any depth that models have.
fn kept(completion: &ChatCompletion) -> Vec<&Json> {
    let mut lists = vec![&completion.unknown];
    let mut values = Vec::new();
    if let Some(usage) = &completion.usage {
        lists.push(&usage.unknown);
        values.extend(&usage.prompt_tokens_details);
        values.extend(&usage.completion_tokens_details);
    }
    for choice in &completion.choices {
        lists.extend([&choice.unknown, &choice.message.unknown]);
        lists.extend(choice.message.tool_calls.iter().map(|call| &call.unknown));
        if let Some(logprobs) = &choice.logprobs {
            lists.push(&logprobs.unknown);
            for token in [&logprobs.content, &logprobs.refusal]
                .into_iter()
                .flatten()
                .flatten()
            {
                lists.push(&token.unknown);
                let top = token.top_logprobs.iter().flatten();
                lists.extend(top.map(|top| &top.unknown));
            }
        }
    }
    values.extend(
        lists
            .into_iter()
            .flat_map(Members::iter)
            .map(|(_, value)| value),
    );
    values
}

#[test]
fn nothing_that_is_kept_holds_on_to_its_event() {
    let mut count = 0;
    for place in PLACES {
        // The chunk is alive: a slice of its event would have company.
        let chunk = chunk(&place.replace('@', r#"{"y":1}"#));
        let mut all = Accumulator::new();
        all.push(&chunk).unwrap();
        let completion = all.finish();
        for value in kept(&completion) {
            assert!(value.as_bytes().is_unique(), "{place}");
            count += 1;
        }
    }
    assert_eq!(count, 18);
}

const UPSTREAM: &[u8] = b"data: {\"id\":\"1\",\"citations\":[\"old\"],\"obfuscation\":\"xxxx\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"content_filter_results\":{\"hate\":0}}]}\n\n\
    data: {\"id\":\"1\",\"citations\":[\"new\"],\"obfuscation\":\"x\",\"choices\":[{\"index\":0,\"message\":{\"content\":\"a\"},\"delta\":{\"content\":\"b\"},\"logprobs\":{\"content\":[],\"model\":\"m\"},\"content_filter_results\":{\"hate\":1.50}}]}\n\n\
    data: {\"id\":\"1\",\"citations\":null,\"search_results\":[1],\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

/// Of a name the newest counts; `null` takes nothing back, and padding is of no answer.
fn assert_whole(completion: &Value) {
    assert_eq!(completion["citations"], serde_json::json!(["new"]));
    assert_eq!(completion["search_results"], serde_json::json!([1]));
    assert_eq!(completion.get("obfuscation"), None);
    let choice = &completion["choices"][0];
    assert_eq!(choice["content_filter_results"]["hate"], 1.5);
    assert_eq!(choice["message"]["content"], "ab");
    assert_eq!(choice["logprobs"]["model"], "m");
}

#[test]
fn an_answer_in_one_piece_has_unknown_members_at_every_level() {
    let forward = |reply: Reply<OpenAi>| async move {
        let mut relay = Relay::new();
        relay.pass(UPSTREAM, &reply).await?;
        Ok(relay.end(reply)?)
    };
    let router = Router::new()
        .mount(Model::new("m"), agent(forward))
        .unwrap();
    let (_, text) = post(&router, r#"{"messages":[{"role":"user","content":"x"}]}"#);
    assert_whole(&serde_json::from_str(&text).unwrap());
}
