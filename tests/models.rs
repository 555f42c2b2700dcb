//! Every model keeps what it does not understand, whatever the protocol, and writes it back.

use std::error::Error;
use std::fmt::Debug;

use copilot_wire::json::{JsonError, Wire as _};
#[cfg(feature = "ui_stream")]
use copilot_wire::ui_stream;
use copilot_wire::{anthropic, github, meilisearch, openai, openbb, responses};
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde::ser::{Impossible, SerializeStruct};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

/// A model by its name, with the members that it names and whether `null` is an absent member.
struct Model {
    name: &'static str,
    names: &'static [&'static str],
    /// Reads and writes; then the same with serde_json. Both must agree.
    again: fn(&str) -> Result<Value, Box<dyn Error>>,
    null_is_absent: bool,
}

fn again<T>(
    text: &str,
    parse: impl Fn(&[u8]) -> Result<T, JsonError>,
    to_json: impl Fn(&T) -> Vec<u8>,
) -> Result<Value, Box<dyn Error>>
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let model = parse(text.as_bytes())?;
    let written = to_json(&model);
    // What is read again is written as before. It may differ: an element of a list whose members were all `null` is
    // one without members now, which the list retains as invalid.
    let read = parse(&written)?;
    assert_eq!(to_json(&read), written, "{text}");
    assert_eq!(serde_json::to_vec(&model)?, written, "{text}");
    assert_eq!(serde_json::from_slice::<T>(&written)?, read, "{text}");
    let value: Value = serde_json::from_slice(&written)?;
    serde_json::from_value::<T>(value.clone())?;
    Ok(value)
}

macro_rules! models {
    ($null:literal: $($model:ty { $($name:literal),* $(,)? })*) => {
        [$(Model {
            name: stringify!($model),
            names: &[$($name),*],
            again: |text| again::<$model>(text, |json| <$model>::from_json(json), |model| model.to_json().to_vec()),
            null_is_absent: $null,
        }),*]
    };
}

fn all() -> Vec<Model> {
    let mut all = Vec::new();
    all.extend(models!(false:
        openbb::QueryRequest { "messages", "widgets", "context", "urls", "model", "use_docs", "workspace_options" }
        openbb::Message { "role", "content", "data", "extra_state" }
        openbb::StatusUpdate { "eventType", "message", "details", "artifacts", "hidden" }
        openbb::Artifact { "type", "name", "content", "chart_params" }
        openbb::FunctionCall { "function", "input_arguments", "extra_state" }
        openbb::CitationCollection { "citations" }
        openbb::Descriptor { "name", "description", "endpoints", "models" }
        openbb::Feedback { "vote", "tags", "user_comment" }
        github::ChatRequest { "copilot_thread_id", "messages", "agent" }
        github::Message { "role", "name", "content", "copilot_references", "copilot_confirmations" }
        github::Reference { "type", "id", "data", "is_implicit", "metadata" }
        github::Confirmation { "type", "title", "message", "confirmation" }
        github::CopilotError { "type", "code", "message", "agent" }
    ));
    #[cfg(feature = "ui_stream")]
    all.extend(models!(false:
        ui_stream::ChatRequest { "id", "messages", "trigger", "messageId", "system", "tools" }
        ui_stream::UiMessage { "id", "role", "metadata", "parts" }
        ui_stream::UiPart { "type", "text", "state", "input", "output", "toolCallId", "preliminary", "approval" }
        ui_stream::Data { "type", "id", "data", "transient" }
        ui_stream::ToolInputAvailable { "type", "toolCallId", "toolName", "input", "dynamic" }
        ui_stream::Start { "type", "messageId", "messageMetadata" }
    ));
    all.extend(models!(true:
        openai::ChatRequest { "model", "messages", "stream", "stream_options", "tools", "tool_choice" }
        openai::ChatMessage { "role", "content", "name", "refusal", "tool_calls", "tool_call_id" }
        openai::ChatCompletion { "id", "created", "model", "choices", "usage", "service_tier" }
        openai::ChatCompletionChunk { "id", "object", "created", "choices", "usage" }
        openai::Choice { "delta", "logprobs", "finish_reason" }
        openai::Logprobs { "content", "refusal" }
        openai::Tool { "type", "function" }
        anthropic::MessagesRequest { "model", "max_tokens", "system", "messages", "stream", "tools", "tool_choice", "metadata" }
        anthropic::MessageParam { "role", "content" }
        anthropic::Message { "id", "role", "model", "content", "stop_reason", "usage" }
        anthropic::MessageDelta { "delta", "usage" }
        anthropic::TextBlock { "text", "citations" }
        anthropic::ThinkingBlock { "thinking", "signature" }
        anthropic::ToolUseBlock { "id", "name", "input" }
        anthropic::ToolResultBlock { "tool_use_id", "content", "is_error" }
        anthropic::Tool { "type", "name", "description", "input_schema" }
        anthropic::ErrorObject { "type", "message" }
        responses::ResponsesRequest { "model", "instructions", "input", "stream", "tools", "tool_choice", "conversation" }
        responses::Item { "id", "type", "status", "role", "content", "call_id", "name", "arguments", "output", "summary" }
        responses::ContentPart { "type", "text", "refusal", "annotations" }
        responses::Annotation { "type", "start_index", "url", "title" }
        responses::Tool { "type", "name", "description", "parameters", "strict" }
        responses::Response { "id", "created_at", "status", "incomplete_details", "output", "error", "usage" }
        responses::Usage { "input_tokens", "input_tokens_details", "total_tokens" }
        responses::ErrorObject { "code", "message", "type", "param" }
        responses::StreamEvent { "type", "sequence_number", "response", "item", "part", "delta", "annotation", "arguments" }
        meilisearch::Search { "index_uid", "q", "filter" }
    ));
    #[cfg(feature = "ag_ui")]
    all.extend(models!(true:
        copilot_wire::ag_ui::RunAgentInput { "threadId", "runId", "state", "messages", "tools", "context", "resume" }
        copilot_wire::ag_ui::Message { "id", "role", "content", "name", "toolCalls", "toolCallId", "error", "metadata" }
        copilot_wire::ag_ui::InputContent { "type", "text", "source", "data", "filename", "metadata" }
        copilot_wire::ag_ui::ToolCall { "id", "type", "function" }
        copilot_wire::ag_ui::Tool { "name", "description", "parameters" }
        copilot_wire::ag_ui::ResumeEntry { "interruptId", "status", "payload" }
    ));
    #[cfg(feature = "ag_ui")]
    all.extend(models!(false:
        copilot_wire::ag_ui::TextMessageContent { "type", "messageId", "delta", "metadata" }
        copilot_wire::ag_ui::ToolCallResult { "messageId", "toolCallId", "content", "role" }
        copilot_wire::ag_ui::RunFinished { "threadId", "runId", "result", "outcome", "usage" }
        copilot_wire::ag_ui::StateDelta { "delta" }
        copilot_wire::ag_ui::ActivitySnapshot { "messageId", "activityType", "content", "replace" }
        copilot_wire::ag_ui::Interrupt { "id", "reason", "message", "responseSchema", "metadata" }
        copilot_wire::ag_ui::TokenUsage { "provider", "inputTokens", "totalTokens" }
    ));
    all
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0_u64..3).prop_map(Value::from),
        (-9_i64..0).prop_map(Value::from),
        Just(json!(1.5)),
        "[a-zé\"]{0,3}".prop_map(Value::from),
        Just(json!("function")),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key().prop_map(str::to_owned), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Names that many models have, and one that none has.
fn key() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "role", "content", "type", "id", "name", "data", "message", "function", "token", "x",
    ])
}

/// `true` if all that `sent` says is in `written` too. Absent members may have become defaults, and
/// `null` absent; parts of content and arguments have more than one form.
fn holds(sent: &Value, written: &Value, null_is_absent: bool) -> bool {
    match (sent, written) {
        (Value::Object(sent), Value::Object(written)) => {
            sent.iter().all(|(key, value)| match written.get(key) {
                Some(other) => {
                    holds(value, other, null_is_absent) || null_is_absent && value.is_null()
                }
                None => null_is_absent && value.is_null(),
            })
        }
        (Value::Array(sent), Value::Array(written)) => {
            sent.len() == written.len()
                && sent
                    .iter()
                    .zip(written)
                    .all(|(sent, written)| holds(sent, written, null_is_absent))
        }
        (Value::Object(_), Value::String(text)) => {
            serde_json::from_str::<Value>(text).is_ok_and(|inside| inside == *sent)
        }
        _ => sent == written,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost(
        values in prop::collection::vec(value(), 8),
        unknown in prop::collection::vec(("[a-z]{1,4}_", value()), 0..3),
    ) {
        for model in all() {
            let named = model.names.iter().map(|name| (*name).to_owned()).zip(values.iter().cloned());
            let sent: Map<_, _> = named.chain(unknown.iter().cloned()).collect();
            let sent = Value::Object(sent);
            let written = (model.again)(&sent.to_string()).unwrap();
            prop_assert!(
                holds(&sent, &written, model.null_is_absent),
                "{}\n{sent}\n{written}",
                model.name
            );
        }
    }
}

#[test]
fn odd_elements_keep_their_places() {
    for (text, model) in [
        (
            r#"{"messages":[7,{"role":"a","content":"x"},null,{"role":"b","content":"y"},"z"]}"#,
            "github",
        ),
        (
            r#"{"model":"m","messages":[7,{"role":"a","content":"x"},null,{"role":"b","content":"y"},"z"]}"#,
            "openai",
        ),
        (
            r#"{"model":"m","input":[7,{"role":"a","content":"x"},null,{"role":"b","content":"y"},"z"]}"#,
            "responses",
        ),
        (
            r#"{"messages":[7,{"role":"a","content":"x"},null,{"role":"b","content":"y"},"z"]}"#,
            "openbb",
        ),
        (
            r#"{"model":"m","messages":[7,{"role":"a","content":"x"},null,{"role":"b","content":[{"type":"text","text":"y"},3]},"z"]}"#,
            "anthropic",
        ),
    ] {
        let written = match model {
            "github" => github::ChatRequest::from_json(text).unwrap().to_json(),
            "anthropic" => anthropic::MessagesRequest::from_json(text)
                .unwrap()
                .to_json(),
            "openai" => openai::ChatRequest::from_json(text).unwrap().to_json(),
            "responses" => responses::ResponsesRequest::from_json(text)
                .unwrap()
                .to_json(),
            _ => openbb::QueryRequest::from_json(text).unwrap().to_json(),
        };
        assert_eq!(written, text);
    }
}

#[test]
fn errors_name_the_place() {
    let error = openai::ChatRequest::from_json(r#"{"messages":[{},{"role":}]}"#).unwrap_err();
    assert_eq!(error.path(), "messages[1].role");
    let error = github::ChatRequest::from_json("[]").unwrap_err();
    assert_eq!(error.expected(), "an object");
    let error = serde_json::from_str::<openbb::Message>("7").unwrap_err();
    assert!(error.to_string().contains("an object"), "{error}");
}

/// A format that is not JSON cannot hold raw JSON, and would write a struct of an odd name.
#[test]
fn other_formats_are_refused() {
    let model = openai::ChatRequest::new("m", []);
    let error = model.serialize(Structs).unwrap_err();
    assert_eq!(error.to_string(), "raw JSON needs a JSON serializer");
}

/// A format that has structs of any name, whose fields may hold anything.
struct Structs;

type Nothing = Impossible<(), serde_json::Error>;

macro_rules! refuse {
    ($($method:ident($($argument:ty),*) -> $ok:ty;)*) => {$(
        fn $method(self $(, _: $argument)*) -> Result<$ok, serde_json::Error> {
            Err(serde::ser::Error::custom(stringify!($method)))
        }
    )*};
}

impl Serializer for Structs {
    type Ok = ();
    type Error = serde_json::Error;
    type SerializeSeq = Nothing;
    type SerializeTuple = Nothing;
    type SerializeTupleStruct = Nothing;
    type SerializeTupleVariant = Nothing;
    type SerializeMap = Nothing;
    type SerializeStruct = Self;
    type SerializeStructVariant = Nothing;

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, serde_json::Error> {
        Ok(self)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<(), serde_json::Error> {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: &T,
    ) -> Result<(), serde_json::Error> {
        Ok(())
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), serde_json::Error> {
        Ok(())
    }

    refuse! {
        serialize_bool(bool) -> ();
        serialize_i8(i8) -> ();
        serialize_i16(i16) -> ();
        serialize_i32(i32) -> ();
        serialize_i64(i64) -> ();
        serialize_u8(u8) -> ();
        serialize_u16(u16) -> ();
        serialize_u32(u32) -> ();
        serialize_u64(u64) -> ();
        serialize_f32(f32) -> ();
        serialize_f64(f64) -> ();
        serialize_char(char) -> ();
        serialize_str(&str) -> ();
        serialize_bytes(&[u8]) -> ();
        serialize_none() -> ();
        serialize_unit() -> ();
        serialize_unit_struct(&'static str) -> ();
        serialize_unit_variant(&'static str, u32, &'static str) -> ();
        serialize_seq(Option<usize>) -> Nothing;
        serialize_tuple(usize) -> Nothing;
        serialize_tuple_struct(&'static str, usize) -> Nothing;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Nothing;
        serialize_map(Option<usize>) -> Nothing;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Nothing;
    }
}

impl SerializeStruct for Structs {
    type Ok = ();
    type Error = serde_json::Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        _: &'static str,
        _: &T,
    ) -> Result<(), serde_json::Error> {
        Ok(())
    }

    fn end(self) -> Result<(), serde_json::Error> {
        Ok(())
    }
}

/// A content is no object.
#[test]
fn a_content_of_any_form_is_written_as_it_was_read() {
    for text in [
        r#""a \" b""#,
        r#"[{"type":"text","text":"a"},{"type":"later","x":1}]"#,
        r#"{"type":"text","text":"a"}"#,
        "7",
        "[]",
        "null",
    ] {
        let read = |json: &[u8]| openai::Content::from_json(json);
        let value = again(text, read, |content| content.to_json().to_vec()).unwrap();
        assert_eq!(value, serde_json::from_str::<Value>(text).unwrap());
    }
    assert!(openai::Content::from_json("[").is_err());
}
