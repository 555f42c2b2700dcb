//! Encoded events are decoded unchanged, in chunks of any size.

use copilot_wire::Body;
use copilot_wire::anthropic::{
    Anthropic, ContentBlock, Delta, ErrorObject, Event, Message, MessageDelta, Stop, StopReason,
    TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock, Usage,
};
use copilot_wire::json::Json;
use copilot_wire::protocol::EventDecoder;
use proptest::prelude::*;

use crate::support::{fixed, whole};

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
        (reason(), prop::option::of(text()), any::<u64>()).prop_map(
            |(reason, sequence, tokens)| {
                let mut stop = Stop::default();
                (stop.stop_reason, stop.stop_sequence) = (reason, sequence);
                let mut delta = MessageDelta::default();
                (delta.delta, delta.usage.output_tokens) = (stop, tokens);
                Event::MessageDelta(delta)
            }
        ),
        Just(Event::MessageStop),
        Just(Event::Ping),
        (text(), text()).prop_map(|(kind, message)| Event::Error(ErrorObject::new(kind, message))),
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

    /// Any reply is a stream that clients read, and they read it as it was sent.
    #[test]
    fn a_reply_keeps_the_rules_whatever_is_sent(events in prop::collection::vec(event(), 0..24)) {
        let body = serde_json::json!({"stream": true, "messages": [{"role": "user", "content": "Hi"}]});
        let request = copilot_wire::anthropic::MessagesRequest::from_json(body.to_string()).unwrap();
        let send = |events: Vec<Event>| {
            let events = futures::stream::iter(events.into_iter().map(Ok));
            whole(Body::from_events::<Anthropic, _>(&request, events, &fixed()))
        };
        // A part that is not valid ends the turn with an error; what is free of type is of no client.
        let known = |event: &Event| !matches!(
            event,
            Event::ContentBlockStart { content_block: ContentBlock::Other(_) | ContentBlock::ToolResult(_), .. }
                | Event::ContentBlockDelta { delta: Delta::Other(_) | Delta::Citation(_), .. }
        );
        let stream = send(events.into_iter().filter(known).collect());
        crate::strict::read(&stream);
    }
}
