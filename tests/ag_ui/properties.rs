//! Encoded events are decoded unchanged, in chunks of any size.

use copilot_wire::ag_ui::{
    ActivityDelta, ActivitySnapshot, AgUi, Custom, Ending, Event, Interrupt, Message,
    MessagesSnapshot, Output, Raw, RunError, RunFinished, StateDelta, StateSnapshot, StepStarted,
    TextMessageChunk, TextMessageContent, TokenUsage, ToolCall, ToolCallArgs, ToolCallEnd,
    ToolCallResult, ToolCallStart,
};
use copilot_wire::json::Json;
use copilot_wire::protocol::{EventDecoder, FrameEvent as _, Usage};
use proptest::prelude::*;

use crate::support::{read, stream_of};

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,12}",
        "[\u{0}-\u{20}\"\\\\\u{2028}\u{2029}\u{1F980}é]{0,8}",
        Just("data: [DONE]\n\n".to_owned()),
    ]
}

fn value() -> impl Strategy<Value = serde_json::Value> {
    (text(), any::<u64>(), any::<bool>()).prop_map(|(text, number, null)| match null {
        true => serde_json::Value::Null,
        false => serde_json::json!({"text": text, "number": number}),
    })
}

fn operations() -> impl Strategy<Value = serde_json::Value> {
    let operation = (text(), value())
        .prop_map(|(path, value)| serde_json::json!({"op": "add", "path": path, "value": value}));
    prop::collection::vec(operation, 0..3).prop_map(serde_json::Value::from)
}

fn output() -> impl Strategy<Value = Output> {
    prop_oneof![
        text().prop_map(|id| ToolCallStart::new(id, "f").into()),
        (text(), text()).prop_map(|(id, text)| ToolCallArgs::new(id, text).into()),
        text().prop_map(|id| ToolCallEnd::new(id).into()),
        (text(), text()).prop_map(|(id, text)| ToolCallResult::new("m", id, text).into()),
        value().prop_map(|value| StateSnapshot::new(&value).unwrap().into()),
        operations().prop_map(|patch| StateDelta::new(&patch).unwrap().into()),
        (text(), text())
            .prop_map(|(id, text)| { MessagesSnapshot::new([Message::user(id, text)]).into() }),
        (text(), value())
            .prop_map(|(id, value)| { ActivitySnapshot::new(id, "table", &value).unwrap().into() }),
        (text(), operations())
            .prop_map(|(id, patch)| { ActivityDelta::new(id, "table", &patch).unwrap().into() }),
        value().prop_map(|value| Raw::new(&value).unwrap().into()),
        (text(), value()).prop_map(|(name, value)| Custom::new(name, &value).unwrap().into()),
    ]
}

fn error() -> impl Strategy<Value = RunError> {
    (text(), text()).prop_map(|(message, code)| RunError::new(message).code(code))
}

fn interruption() -> impl Strategy<Value = RunFinished> {
    (text(), any::<u32>()).prop_map(|(id, tokens)| {
        let mut end = RunFinished::interrupted([Interrupt::new(id, "r")]);
        end.usage
            .push(TokenUsage::from(&Usage::new(tokens.into(), 1)));
        end
    })
}

fn ending() -> impl Strategy<Value = Ending> {
    prop_oneof![
        Just(ToolCall::new("c", "f", "{}").into()),
        error().prop_map(Ending::from),
        interruption().prop_map(Ending::from),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        8 => output().prop_map(Event::from),
        1 => (text(), text()).prop_map(|(id, text)| TextMessageContent::new(id, text).into()),
        1 => (text(), any::<bool>()).prop_map(|(text, some)| {
            let mut chunk = TextMessageChunk::default();
            chunk.delta = some.then_some(text);
            chunk.into()
        }),
        1 => text().prop_map(|name| {
            let mut step = StepStarted::default();
            step.step_name = name;
            step.into()
        }),
        1 => error().prop_map(Event::from),
        1 => interruption().prop_map(Event::from),
        1 => text().prop_map(|text| {
            let json = serde_json::json!({"type": "TOMORROW", "text": text}).to_string();
            let json = json
                .replace('\u{2028}', "\\u2028")
                .replace('\u{2029}', "\\u2029");
            Event::Unknown(Json::parse(json).unwrap())
        }),
    ]
}

/// Reads a stream in pieces of these sizes, again and again.
fn decode(stream: &[u8], sizes: &[usize]) -> Vec<Event> {
    let mut decoder = EventDecoder::<AgUi>::new();
    let mut events = Vec::new();
    let (mut rest, mut sizes) = (stream, sizes.iter().cycle());
    while !rest.is_empty() {
        let (mut piece, after) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
        rest = after;
        while let Some(event) = decoder.next(&mut piece).unwrap() {
            events.push(event.clone());
        }
    }
    events
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn decoding_is_the_inverse_of_encoding(
        events in prop::collection::vec(event(), 0..12),
        sizes in prop::collection::vec(1_usize..40, 1..5),
    ) {
        let mut stream = Vec::new();
        for event in &events {
            event.write(&mut stream);
        }
        prop_assert!(!stream.contains(&b'\r'));
        prop_assert_eq!(decode(&stream, &sizes), events);
    }

    /// Any reply is a stream that clients read.
    #[test]
    fn a_reply_keeps_the_rules_whatever_is_sent(
        said in prop::collection::vec((text(), output()), 0..16),
        ending in prop::option::of(ending()),
    ) {
        let stream = stream_of(move |reply| {
            let (said, ending) = (said.clone(), ending.clone());
            async move {
                for (text, output) in said {
                    reply.text(&text).await?;
                    // Only the agent knows what its changes fit.
                    if matches!(output, Output::StateDelta(_) | Output::ActivityDelta(_)) {
                        continue;
                    }
                    // What is refused leaves no trace.
                    let _ = reply.send(output).await;
                }
                Ok(ending.map_or(Ok(()), |ending| reply.end(ending))?)
            }
        });
        read(&stream);
    }
}
