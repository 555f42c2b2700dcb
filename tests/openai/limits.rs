//! The limit of a completion holds for everything that it keeps, and nothing that it keeps holds on to
//! an event.

use copilot_wire::json::{Json, Members, Wire as _};
use copilot_wire::openai::{ChatCompletion, ChatCompletionChunk, Event, Model, OpenAi, Relay};
use copilot_wire::protocol::{Completion, EventDecoder};
use copilot_wire::{Reply, Router};
use serde_json::Value;

use crate::support::{agent, post, push};

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
        let mut all = Completion::new().limit(64 * 1024);
        assert!(push(&mut all, &large).is_err(), "{place}");
        assert!(ChatCompletion::from(all).to_json().len() < 1024, "{place}");
        let mut all = Completion::new();
        push(&mut all, &large).unwrap();
        let written = String::from_utf8(ChatCompletion::from(all).to_json().into()).unwrap();
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
        let mut all = Completion::new().limit(64 * 1024);
        let many = (0..10_000).take_while(|at| {
            let name = format!("k{at}");
            push(&mut all, &chunk(&place.replace('@', &name))).is_ok()
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
    let mut all = Completion::new().limit(256 * 1024);
    for at in 0..1000 {
        let event = event.replace("[\"u", &format!("[\"{at}"));
        push(&mut all, &chunk(&event)).unwrap();
    }
    let completion = ChatCompletion::from(all);
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
fn values(chunk: &ChatCompletionChunk) -> Vec<&Json> {
    let mut lists = vec![&chunk.unknown];
    let mut values = Vec::new();
    if let Some(usage) = &chunk.usage {
        lists.push(&usage.unknown);
        values.extend(&usage.prompt_tokens_details);
        values.extend(&usage.completion_tokens_details);
    }
    for choice in &chunk.choices {
        lists.extend([&choice.unknown, &choice.delta.unknown]);
        lists.extend(choice.delta.tool_calls.iter().map(|call| &call.unknown));
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
        let event = Event::Chunk(chunk(&place.replace('@', r#"{"y":1}"#)));
        let mut all = Completion::new();
        all.push_event::<OpenAi>(&event).unwrap();
        let Event::Chunk(chunk) = &event else {
            continue;
        };
        // The only value of the event: a slice that the completion keeps would have its company.
        for value in values(chunk) {
            assert!(value.as_bytes().is_unique(), "{place}");
            count += 1;
        }
        drop(all);
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
