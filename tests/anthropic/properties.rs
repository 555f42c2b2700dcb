//! Encoded events are decoded unchanged, in chunks of any size.

use copilot_wire::anthropic::{
    Anthropic, ContentBlock, Delta, Ending, ErrorObject, Event, Message, MessageDelta, Output,
    Stop, StopReason, TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock, Usage,
};
use copilot_wire::json::Json;
use copilot_wire::protocol::{EventDecoder, FrameEvent as _};
use proptest::prelude::*;

use crate::support::stream_of;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,12}",
        "[\u{0}-\u{20}\"\\\\\u{2028}\u{2029}\u{1F980}é]{0,8}",
        Just("data: [DONE]\n\n".to_owned()),
    ]
}

fn json() -> impl Strategy<Value = Json> {
    (text(), any::<u64>()).prop_map(|(text, number)| {
        let value = serde_json::json!({"type": "tomorrow", "text": text, "number": number});
        // As it is written: with both separators escaped.
        let text = value.to_string().replace('\u{2028}', "\\u2028");
        Json::parse(text.replace('\u{2029}', "\\u2029")).unwrap()
    })
}

fn block() -> impl Strategy<Value = ContentBlock> {
    prop_oneof![
        text().prop_map(|text| TextBlock::new(text).into()),
        (text(), text()).prop_map(|(text, sign)| ThinkingBlock::new(text, sign).into()),
        (text(), text()).prop_map(|(id, name)| {
            ToolUseBlock::new(id, name, &serde_json::json!({}))
                .unwrap()
                .into()
        }),
        (text(), text()).prop_map(|(id, text)| ToolResultBlock::new(id, &text).failed().into()),
        json().prop_map(ContentBlock::Other),
    ]
}

fn delta() -> impl Strategy<Value = Delta> {
    prop_oneof![
        text().prop_map(Delta::Text),
        text().prop_map(Delta::Thinking),
        text().prop_map(Delta::Signature),
        text().prop_map(Delta::InputJson),
        json().prop_map(Delta::Citation),
        json().prop_map(Delta::Other),
    ]
}

fn reason() -> impl Strategy<Value = Option<StopReason>> {
    let names = ["end_turn", "tool_use", "max_tokens", "refusal", "tomorrow"];
    prop::option::of(prop::sample::select(names.to_vec()).prop_map(StopReason::from))
}

fn message_delta() -> impl Strategy<Value = MessageDelta> {
    (reason(), prop::option::of(text()), any::<u64>()).prop_map(|(reason, sequence, tokens)| {
        let mut stop = Stop::default();
        (stop.stop_reason, stop.stop_sequence) = (reason, sequence);
        let mut delta = MessageDelta::default();
        (delta.delta, delta.usage.output_tokens) = (stop, tokens);
        delta
    })
}

fn error() -> impl Strategy<Value = ErrorObject> {
    (text(), text()).prop_map(|(kind, message)| ErrorObject::new(kind, message))
}

/// What is free of type is of no client.
fn output() -> impl Strategy<Value = Output> {
    let is_known = |block: &ContentBlock| {
        !matches!(block, ContentBlock::Other(_) | ContentBlock::ToolResult(_))
    };
    let has_type = |delta: &Delta| !matches!(delta, Delta::Other(_) | Delta::Citation(_));
    prop_oneof![
        block()
            .prop_filter("a known block", is_known)
            .prop_map(Output::Start),
        delta()
            .prop_filter("a known delta", has_type)
            .prop_map(Output::Delta),
        Just(Output::Stop),
        message_delta().prop_map(Output::Message),
    ]
}

fn ending() -> impl Strategy<Value = Ending> {
    prop_oneof![
        (text(), text()).prop_map(|(id, name)| {
            ToolUseBlock::new(id, name, &serde_json::json!({}))
                .unwrap()
                .into()
        }),
        message_delta().prop_map(|delta| Ending::Stop(delta.delta)),
        error().prop_map(Ending::from),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (text(), text(), any::<u64>()).prop_map(|(id, model, tokens)| {
            let mut message = Message::default();
            (message.id, message.model) = (id, model);
            message.usage = Usage::new(tokens, 0);
            Event::MessageStart(message)
        }),
        (any::<u32>(), block()).prop_map(|(index, content_block)| Event::ContentBlockStart {
            index,
            content_block
        }),
        (any::<u32>(), delta())
            .prop_map(|(index, delta)| Event::ContentBlockDelta { index, delta }),
        any::<u32>().prop_map(|index| Event::ContentBlockStop { index }),
        message_delta().prop_map(Event::MessageDelta),
        Just(Event::MessageStop),
        Just(Event::Ping),
        error().prop_map(Event::Error),
    ]
}

/// Reads a stream in pieces of these sizes, again and again.
fn decode(stream: &[u8], sizes: &[usize]) -> Vec<Event> {
    let mut decoder = EventDecoder::<Anthropic>::new();
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
        prop_assert_eq!(decode(&stream, &sizes), events);
    }

    /// Any reply is a stream that clients read.
    #[test]
    fn a_reply_keeps_the_rules_whatever_is_sent(
        outputs in prop::collection::vec(output(), 0..24),
        ending in prop::option::of(ending()),
    ) {
        let stream = stream_of(move |reply| {
            let (outputs, ending) = (outputs.clone(), ending.clone());
            async move {
                for output in outputs {
                    // What is refused leaves no trace.
                    let _ = reply.send(output).await;
                }
                Ok(ending.map_or(Ok(()), |ending| reply.end(ending))?)
            }
        });
        crate::strict::read(&stream);
    }
}
