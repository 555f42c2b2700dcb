//! Properties: decoding returns the encoded event, for every event.

use copilot_wire::github::{
    Chunk, Confirmation, CopilotError, ErrorKind, Event, Metadata, Output, Reference, UnknownEvent,
};
use copilot_wire::json::{Json, Members, Wire as _};
use copilot_wire::sse::EventName;
use proptest::prelude::*;
use serde_json::Value;

use crate::events::{decode, encode};

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn json() -> impl Strategy<Value = Json> {
    value().prop_map(|value| Json::encode(&value).unwrap())
}

/// Returns members that no model has a field for.
fn unknown() -> impl Strategy<Value = Members> {
    prop::collection::vec(("x_[a-z]{0,4}", json()), 0..3)
        .prop_map(|members| members.into_iter().collect())
}

fn reference() -> impl Strategy<Value = Reference> {
    let metadata = (
        prop::option::of(".+"),
        prop::option::of(".+"),
        prop::option::of(".+"),
        unknown(),
    );
    let metadata = metadata.prop_map(|(name, icon, url, unknown)| {
        let mut metadata = Metadata::default();
        metadata.display_name = name;
        metadata.display_icon = icon;
        metadata.display_url = url;
        metadata.unknown = unknown;
        metadata
    });
    let data = json().prop_filter("null is none", |json| !json.is_null());
    (
        any::<(String, String)>(),
        prop::option::of(data),
        any::<Option<bool>>(),
        prop::option::of(metadata),
        unknown(),
    )
        .prop_map(|((kind, id), data, is_implicit, metadata, unknown)| {
            let mut reference = Reference::bare(kind, id);
            reference.data = data;
            reference.is_implicit = is_implicit;
            reference.metadata = metadata;
            reference.unknown = unknown;
            reference
        })
}

fn error() -> impl Strategy<Value = CopilotError> {
    let kind = prop_oneof![
        Just(ErrorKind::Reference),
        Just(ErrorKind::Function),
        Just(ErrorKind::Agent),
        "[A-Z ]{0,8}".prop_map(ErrorKind::Other),
    ];
    let texts = any::<(String, String, String)>();
    (kind, texts, prop::option::of(".+"), unknown()).prop_map(
        |(kind, (code, message, identifier), agent, unknown)| {
            let mut error = CopilotError::new(kind, code, message, identifier);
            error.agent = agent;
            error.unknown = unknown;
            error
        },
    )
}

fn confirmation() -> impl Strategy<Value = Confirmation> {
    let object = prop::collection::btree_map(any::<String>(), value(), 0..4);
    (any::<(String, String, String)>(), object, unknown()).prop_map(
        |((id, title, message), metadata, unknown)| {
            let question = Confirmation::new(&id, title, message);
            let mut question = question.metadata(&metadata).unwrap();
            question.unknown = unknown;
            question
        },
    )
}

fn raw() -> impl Strategy<Value = UnknownEvent> {
    let name = "[^\r\n]{1,12}".prop_filter("known names mean something", |name: &String| {
        name != "message" && !name.starts_with("copilot_")
    });
    (name, "[^\r\n]{0,40}")
        .prop_map(|(name, data)| UnknownEvent::new(EventName::try_from(name).unwrap(), data))
}

fn event() -> impl Strategy<Value = Event> {
    let chunk = prop::collection::vec(("[a-z]{1,8}", value()), 1..4).prop_map(|members| {
        let object = Value::Object(members.into_iter().collect());
        Chunk::new(Json::encode(&object).unwrap()).unwrap()
    });
    prop_oneof![
        any::<String>().prop_map(|text| Output::Text(text).into()),
        prop::collection::vec(reference(), 0..4).prop_map(|list| Output::from(list).into()),
        prop::collection::vec(error(), 0..4).prop_map(|list| Output::from(list).into()),
        chunk.prop_map(|chunk| Output::Chunk(chunk).into()),
        raw().prop_map(|raw| Output::Raw(raw).into()),
        confirmation().prop_map(Event::from),
    ]
}

proptest! {
    #[test]
    fn events_survive_the_wire(mut events in prop::collection::vec(event(), 0..5)) {
        events.extend([Event::Finish, Event::Done]);
        let wire = encode(&events);
        prop_assert_eq!(decode(wire.as_bytes()), events);
        // The strictest client accepts only one `data` line per event.
        for block in wire.split_terminator("\n\n") {
            let lines: Vec<_> = block.split('\n').collect();
            prop_assert!(matches!(lines.len(), 1 | 2), "{}", block);
            prop_assert!(lines[lines.len() - 1].starts_with("data: "), "{}", block);
        }
    }

    #[test]
    fn text_is_written_as_serde_json_writes_it(text: String) {
        let string = serde_json::to_string(&text).unwrap();
        let wire = encode(&[Output::Text(text).into()]);
        let expected = format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{string},\"role\":\"assistant\"}}}}]}}\n\n"
        );
        prop_assert_eq!(wire, expected);
    }

    #[test]
    fn any_request_is_read_and_written_back(members in prop::collection::vec(
        (prop_oneof!["messages", "agent", "copilot_thread_id", "[a-z]{1,8}"], value()), 0..5,
    )) {
        let members: serde_json::Map<String, Value> = members.into_iter().collect();
        let body = bytes::Bytes::from(serde_json::to_vec(&members).unwrap());
        let request = copilot_wire::github::ChatRequest::from_json(&body).unwrap();
        let written: Value = serde_json::from_slice(&request.to_json()).unwrap();
        // Both are read from the same text, because serde_json changes some floats.
        let sent: Value = serde_json::from_slice(&body).unwrap();
        prop_assert_eq!(written, sent);
        let _ = (request.context().withheld().count(), request.session_info());
        use copilot_wire::protocol::Conversation;
        let _ = (request.prompt(), request.dialog_decision(), request.documents().count());
        let _ = (Conversation::messages(&request).count(), request.results().count());
        let _ = (request.sampling(), request.to_openai());
    }

    #[test]
    fn no_bytes_make_the_decoder_panic(input in prop::collection::vec(any::<u8>(), 0..200)) {
        use copilot_wire::protocol::EventDecoder;
        let mut decoder = EventDecoder::<copilot_wire::github::GitHub>::new();
        let mut input = &input[..];
        while !input.is_empty() {
            let _ = decoder.next(&mut input);
        }
    }
}
