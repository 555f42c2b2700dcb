//! Properties: decoding returns the encoded events, for any text and any chunks; and the Workspace
//! accepts the stream.

use copilot_wire::openbb::{
    Artifact, Citation, CitationCollection, ConversationSummary, Event, FunctionCall, OpenBb,
    PromptSuggestions, StatusUpdate, TokenUsage,
};
use copilot_wire::protocol::EventDecoder;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{encode, output_event, plain, workspace};

/// Returns texts with characters that are special in a stream.
fn text() -> impl Strategy<Value = String> {
    let dangerous = prop_oneof![
        Just('\n'),
        Just('\r'),
        Just('\u{2028}'),
        Just('\u{2029}'),
        Just('"'),
        Just('\\'),
        Just('\0'),
        Just('\u{feff}'),
        Just(':'),
        Just(' '),
        any::<char>(),
    ];
    proptest::collection::vec(dangerous, 0..12)
        .prop_map(|characters| characters.into_iter().collect())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9_f64).prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(text(), inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn event() -> impl Strategy<Value = Event> {
    let rows =
        proptest::collection::vec(proptest::collection::btree_map(text(), value(), 0..3), 0..3);
    prop_oneof![
        text().prop_map(|text| output_event(&*text)),
        (text(), value(), any::<bool>()).prop_map(|(message, detail, hidden)| {
            let step = StatusUpdate::warning(message).detail(&detail).unwrap();
            output_event(if hidden { step.hidden() } else { step })
        }),
        (text(), text(), rows).prop_map(|(name, about, rows)| {
            output_event(
                Artifact::table(&rows)
                    .unwrap()
                    .name(&name)
                    .description(about),
            )
        }),
        (text(), text()).prop_map(|(name, html)| output_event(Artifact::html(&name, &html))),
        (text(), value()).prop_map(|(url, detail)| {
            output_event(CitationCollection::new([Citation::web(url)
                .detail(&detail)
                .unwrap()]))
        }),
        proptest::collection::vec(text(), 0..3)
            .prop_map(|texts| output_event(PromptSuggestions::new(texts))),
        (text(), any::<u64>())
            .prop_map(|(label, count)| output_event(TokenUsage::new([(label, count)]))),
        (text(), text())
            .prop_map(|(content, id)| output_event(ConversationSummary::new(content, id))),
    ]
}

/// Makes the artifact names of a stream different, because equal ones are changed.
fn apart(events: &mut [Event]) {
    for (index, event) in events.iter_mut().enumerate() {
        if let Event::Output(copilot_wire::openbb::Output::MessageArtifact(artifact)) = event {
            artifact.name.push_str(&index.to_string());
        }
    }
}

proptest! {
    #[test]
    fn decode_of_encode_is_the_event(
        mut events in proptest::collection::vec(event(), 0..5),
        call in proptest::option::of((text(), value())),
        cut in any::<prop::sample::Index>(),
    ) {
        apart(&mut events);
        if let Some((name, value)) = call {
            let arguments = json!({"name": name, "instructions": value});
            events.push(FunctionCall::new("save_skill", &arguments).unwrap().into());
        }
        let stream = encode(&plain(), events.clone()).unwrap();
        let turn = workspace::read(&stream).unwrap();
        prop_assert_eq!(turn.call.is_some(), matches!(events.last(), Some(Event::FunctionCall(_))));
        let mut decoder = EventDecoder::<OpenBb>::new();
        let mut found = Vec::new();
        let (one, two) = stream.split_at(cut.index(stream.len() + 1));
        for mut piece in [one, two] {
            while let Some(event) = decoder.next(&mut piece).unwrap() {
                found.push(event.clone());
            }
        }
        prop_assert_eq!(found, events);
    }
}
