//! Lists of streams, as a client and a relay read them.

use std::hint::black_box;

use copilot_wire::anthropic::Anthropic;
use copilot_wire::json::Wire as _;
use copilot_wire::meilisearch::{Event, History, Meilisearch};
use copilot_wire::models::{Relay, Upstream};
use copilot_wire::openai::{ChatCompletion, OpenAi};
use copilot_wire::openbb::OpenBb;
use copilot_wire::protocol::{Completion, EventDecoder, Protocol};
use copilot_wire::responses::Responses;
use copilot_wire::sse::Decoder;

use super::{List, Lists, each};
use crate::Work;

/// Reads a stream as a client.
pub(super) fn decode<P: Protocol>(stream: &[u8]) -> usize {
    let mut decoder = EventDecoder::<P>::new();
    let mut completion = Completion::new();
    let mut input = stream;
    let mut found = 0;
    while let Some(event) = decoder.next(&mut input).unwrap() {
        completion.push_event::<P>(event).unwrap();
        black_box(event);
        found += 1;
    }
    // A stream may be incomplete.
    black_box(decoder.end().is_ok());
    black_box(completion);
    found
}

/// Reads the stream of a model as a client and as a relay.
fn stream<U: Upstream>(stream: String) -> Work {
    Box::new(move || {
        let mut relay = Relay::<U>::new();
        relay.read(stream.as_bytes()).unwrap();
        // An answer may be incomplete, which is found out at the end.
        black_box(relay.finish().is_ok());
        decode::<U>(stream.as_bytes())
    })
}

/// Also puts the chunks together to a document.
fn chunks(stream: String) -> Work {
    let mut others = self::stream::<OpenAi>(stream.clone());
    Box::new(move || {
        let mut decoder = EventDecoder::<OpenAi>::new();
        let mut all = Completion::new();
        let mut input = stream.as_bytes();
        while let Some(event) = decoder.next(&mut input).unwrap() {
            all.push_event::<OpenAi>(event).unwrap();
        }
        let document = ChatCompletion::from_json(ChatCompletion::from(all).to_json()).unwrap();
        document.calls().len() + others()
    })
}

/// Also keeps the history that the events append to.
fn history(stream: String) -> Work {
    Box::new(move || {
        let mut decoder = EventDecoder::<Meilisearch>::new();
        let mut history = History::new();
        let mut input = stream.as_bytes();
        while let Some(event) = decoder.next(&mut input).unwrap() {
            history.apply(event);
            black_box(matches!(event, Event::Text(_)));
        }
        let _ = decoder.decoder().outcome();
        history.into_messages().len() + decode::<Meilisearch>(stream.as_bytes())
    })
}

/// Reads frames from pieces of 16 bytes.
fn pieces(stream: String) -> Work {
    Box::new(move || {
        let mut decoder = Decoder::new();
        let mut found = 0;
        for mut piece in stream.as_bytes().chunks(16) {
            while let Some(frame) = decoder.next(&mut piece).unwrap() {
                black_box(frame);
                found += 1;
            }
        }
        found
    })
}

fn frames(count: usize, data: impl Fn(usize) -> String) -> String {
    (0..count)
        .map(|at| format!("data: {}\n\n", data(at)))
        .collect()
}

fn member(at: usize) -> String {
    format!(r#""unknown{at:04}":1"#)
}

/// The streams of chat completions, whose lists may be in one chunk or over many.
fn chat_completions() -> Lists {
    let mut lists = Lists::new("openai-stream", chunks);
    let mut in_one_and_many = |name: &str, frame: &'static str, element: fn(usize) -> String| {
        lists.add(name, move |count| {
            frames(count, |at| frame.replace("LIST", &element(at)))
        });
        lists.add(format!("{name}-at-once"), move |count| {
            frames(1, |_| frame.replace("LIST", &each(count, element)))
        });
    };
    let choices = r#"{"id":"x","model":"m","choices":[LIST]}"#;
    in_one_and_many("choices", choices, |at| {
        format!(r#"{{"index":{at},"delta":{{"content":"t"}}}}"#)
    });
    in_one_and_many("texts", choices, |_| {
        r#"{"index":0,"delta":{"content":"t"}}"#.to_owned()
    });
    let calls = r#"{"id":"x","model":"m","choices":[{"index":0,"delta":{"tool_calls":[LIST]}}]}"#;
    fn call(index: usize, id: usize) -> String {
        format!(
            r#"{{"index":{index},"id":"c{id:04}","function":{{"name":"f{id:04}","arguments":"{{}}"}}}}"#
        )
    }
    in_one_and_many("calls", calls, |at| call(at, at));
    in_one_and_many("calls-of-one-index", calls, |at| call(0, at));
    in_one_and_many("fragments", calls, |_| {
        r#"{"index":0,"id":"c","function":{"name":"f","arguments":" "}}"#.to_owned()
    });
    in_one_and_many(
        "members",
        r#"{"id":"x","model":"m","choices":[{"index":0,"delta":{LIST}}]}"#,
        member,
    );
    in_one_and_many(
        "lists",
        r#"{"id":"x","model":"m","choices":[{"index":0,"delta":{LIST}}]}"#,
        |at| format!(r#""unknown{at:04}":[0]"#),
    );
    in_one_and_many(
        "same-member",
        r#"{"id":"x","model":"m","choices":[{"index":0,"delta":{LIST}}]}"#,
        |_| r#""k":"x""#.to_owned(),
    );
    in_one_and_many(
        "members-of-choices",
        r#"{"id":"x","model":"m","choices":[{"index":0,LIST}]}"#,
        member,
    );
    in_one_and_many(
        "members-of-chunks",
        r#"{"id":"x","model":"m","choices":[],LIST}"#,
        member,
    );
    in_one_and_many(
        "tokens",
        r#"{"id":"x","model":"m","choices":[{"index":0,"logprobs":{"content":[LIST]}}]}"#,
        |_| r#"{"token":"a","top_logprobs":[{"token":"a"},{}]}"#.to_owned(),
    );
    in_one_and_many(
        "bytes",
        r#"{"id":"x","model":"m","choices":[{"index":0,"logprobs":{"content":[{"bytes":[LIST]}]}}]}"#,
        |_| "256".to_owned(),
    );
    lists
}

fn responses() -> Lists {
    let mut lists = Lists::new("responses-stream", stream::<Responses>);
    lists.add("items", |count| frames(count, |at| format!(r#"{{"type":"response.output_item.done","output_index":{at},"item":{{"type":"function_call","id":"i{at:04}","call_id":"c{at:04}","name":"f{at:04}","arguments":"{{}}"}}}}"#)));
    lists.add("begun", |count| frames(2 * count, |at| match at < count {
        true => format!(r#"{{"type":"response.output_item.added","output_index":{at},"item":{{"type":"function_call","id":"i{at:04}","call_id":"c{at:04}","name":"f{at:04}","arguments":""}}}}"#),
        false => format!(r#"{{"type":"response.function_call_arguments.delta","output_index":{},"item_id":"i{:04}","delta":"{{}}"}}"#, at - count, at - count),
    }));
    lists.add("deltas", |count| frames(count, |at| format!(r#"{{"type":"response.output_text.delta","output_index":0,"content_index":0,"item_id":"i","delta":"t{at:04}"}}"#)));
    lists.of(
        "output",
        "data: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\",\"output\":[LIST]}}\n\n",
        |at| format!(r#"{{"type":"function_call","id":"i{at:04}","call_id":"c{at:04}","name":"f{at:04}","arguments":"{{}}"}}"#),
    );
    lists
}

fn messages() -> Lists {
    let mut lists = Lists::new("anthropic-stream", stream::<Anthropic>);
    lists.add("blocks", |count| frames(count, |at| format!(r#"{{"type":"content_block_start","index":{at},"content_block":{{"type":"tool_use","id":"c{at:04}","name":"f{at:04}","input":{{}}}}}}"#)));
    lists.add("open-blocks", |count| frames(2 * count, |at| match at < count {
        true => format!(r#"{{"type":"content_block_start","index":{at},"content_block":{{"type":"tool_use","id":"c{at:04}","name":"f{at:04}","input":{{}}}}}}"#),
        false => format!(r#"{{"type":"content_block_delta","index":{},"delta":{{"type":"input_json_delta","partial_json":"{{}}"}}}}"#, at - count),
    }));
    lists.add("usage", |count| frames(count, |at| format!(r#"{{"type":"message_delta","delta":{{}},"usage":{{"output_tokens":1,"unknown{at:04}":1}}}}"#)));
    lists.add("usage-members", |count| {
        frames(2, |_| {
            format!(
                r#"{{"type":"message_delta","delta":{{}},"usage":{{"output_tokens":1,{}}}}}"#,
                each(count, member)
            )
        })
    });
    lists
}

fn meilisearch() -> Lists {
    let mut lists = Lists::new("meilisearch-stream", history);
    let calls = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[LIST]}}]}\n\n";
    let call = |index: usize, name: &str, arguments: &str| {
        format!(
            r#"{{"index":{index},"id":"i{index:04}","function":{{"name":"{name}","arguments":"{arguments}"}}}}"#
        )
    };
    lists.of("open", calls, move |at| call(at, "f", "{"));
    lists.add("closed", move |count| {
        let open = each(count, |at| call(at, "f", "{"));
        let closed = each(count, |at| call(at, "", "}"));
        calls.replace("LIST", &format!("{open},{closed}"))
    });
    lists.of("calls-of-one-index", calls, move |_| call(0, "f", "{"));
    lists.of("fragments-of-nothing", calls, move |at| call(at, "", "{"));
    lists.of("choices", "data: {\"choices\":[LIST]}\n\n", |_| {
        r#"{"delta":{"content":"x"}}"#.to_owned()
    });
    lists.of(
        "members-of-errors",
        "data: {\"error\":{\"message\":\"m\",LIST}}\n\n",
        member,
    );
    // The messages that the server appends to the history: calls, and their results in reverse order.
    let append = |message: &str| {
        let arguments = serde_json::to_string(message).unwrap();
        format!(
            r#"{{"choices":[{{"index":0,"delta":{{"tool_calls":[{{"index":0,"id":"a","type":"function","function":{{"name":"_meiliAppendConversationMessage","arguments":{arguments}}}}}]}},"finish_reason":null}}]}}"#
        )
    };
    lists.add("history", move |count| {
        let calls = each(count, |at| call(at, "f", "{}"));
        let calls = append(&format!(
            r#"{{"role":"assistant","content":null,"tool_calls":[{calls}]}}"#
        ));
        let result = |at: usize| {
            append(&format!(
                r#"{{"role":"tool","content":"r","tool_call_id":"i{:04}"}}"#,
                count - 1 - at
            ))
        };
        format!("data: {calls}\n\n{}", frames(count, result))
    });
    lists
}

fn openbb() -> Lists {
    fn work(stream: String) -> Work {
        Box::new(move || decode::<OpenBb>(stream.as_bytes()))
    }
    let mut lists = Lists::new("openbb-stream", work);
    let cases = [
        ("copilotMessageChunk", r#"{LIST,"delta":"x"}"#, None),
        (
            "copilotStatusUpdate",
            r#"{"artifacts":[LIST]}"#,
            Some(r#"{"name":"n"}"#),
        ),
        (
            "copilotMessageArtifact",
            r#"{"content":[LIST]}"#,
            Some("{}"),
        ),
        (
            "copilotCitationCollection",
            r#"{"citations":[LIST]}"#,
            Some(r#"{"id":"i"}"#),
        ),
        (
            "copilotPromptSuggestions",
            r#"{"suggestions":[LIST]}"#,
            Some(r#""s""#),
        ),
        ("copilotTokenUsage", r#"{"breakdown":[LIST]}"#, Some("{}")),
        ("copilotConversationSummary", "{LIST}", None),
        (
            "copilotFunctionCall",
            r#"{"function":"f","input_arguments":{LIST}}"#,
            None,
        ),
        ("copilotNews", "{LIST}", None),
    ];
    for (name, frame, element) in cases {
        let frame = format!("event: {name}\ndata: {frame}\n\n");
        lists.of(name, frame, move |at| {
            element.map_or_else(|| member(at), str::to_owned)
        });
    }
    lists
}

/// The streams that any client reads.
fn frames_of_events() -> Lists {
    let mut lists = Lists::new("frames", pieces);
    lists.add("line", |count| {
        format!("data: {}\n\n", "x".repeat(256 * count))
    });
    lists.add("lines", |count| format!("{}\n", "data: x\n".repeat(count)));
    lists.add("events", |count| "data: x\n\n".repeat(count));
    lists
}

pub(super) fn lists() -> Vec<List> {
    let all = [
        chat_completions(),
        responses(),
        messages(),
        meilisearch(),
        openbb(),
        frames_of_events(),
    ];
    all.into_iter().flat_map(|lists| lists.all).collect()
}
