//! A decoder that changes the event before reads what one that has seen nothing reads.

use copilot_wire::ag_ui::AgUi;
use copilot_wire::anthropic::Anthropic;
use copilot_wire::github::GitHub;
use copilot_wire::openai::OpenAi;
use copilot_wire::openbb::OpenBb;
use copilot_wire::protocol::{EventDecoder, Protocol};
use copilot_wire::responses::Responses;
use copilot_wire::ui_stream::UiStream;
use proptest::prelude::*;

/// The frames that follow each other: their forms, numbers and texts.
type Frames = Vec<(prop::sample::Index, &'static str, &'static str)>;

/// Checks a protocol with the places of the text `@`, of the number `#`, and of other values that look like them.
fn check<P: Protocol<Event: PartialEq + std::fmt::Debug>>(shapes: &[&str], frames: &Frames) {
    let mut remembering = EventDecoder::<P>::new();
    for (shape, number, text) in frames {
        let data = shape.get(shapes).replace('#', number).replace('@', text);
        let stream = format!("{data}\n\n");
        let mut forgetful = EventDecoder::<P>::new();
        let fresh = forgetful.next(&mut stream.as_bytes());
        let remembered = remembering.next(&mut stream.as_bytes());
        assert_eq!(format!("{fresh:?}"), format!("{remembered:?}"));
        // `Debug` does not show raw values.
        assert_eq!(fresh.ok(), remembered.ok());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn memory_makes_no_difference(
        frames in prop::collection::vec(
            (any::<prop::sample::Index>(), prop::sample::select(&NUMBERS), prop::sample::select(&TEXTS)), 0..30,
        ),
    ) {
        check::<AgUi>(&AG_UI, &frames);
        check::<Anthropic>(&ANTHROPIC, &frames);
        check::<GitHub>(&GITHUB, &frames);
        check::<OpenAi>(&OPENAI, &frames);
        check::<OpenBb>(&OPENBB, &frames);
        check::<Responses>(&RESPONSES, &frames);
        check::<UiStream>(&UI_STREAM, &frames);
    }
}

const NUMBERS: [&str; 12] = [
    "7",
    "8",
    "0",
    "18446744073709551615",
    "18446744073709551616",
    "",
    "-1",
    "1.0",
    "01",
    "1e1",
    "\"1\"",
    "null",
];

const TEXTS: [&str; 9] = [
    "",
    "a",
    "é 🦀",
    "\\n",
    "\\\"",
    "\\u00e9",
    "\"",
    "x\"},{\"y\":\"z",
    "x\",\"y\":\"z",
];

const AG_UI: [&str; 3] = [
    r#"data: {"type":"TEXT_MESSAGE_CONTENT","messageId":"a","delta":"@"}"#,
    r#"data: {"type":"TEXT_MESSAGE_CONTENT","messageId":"@","delta":"x"}"#,
    r#"data: {"delta":"@","type":"TEXT_MESSAGE_CONTENT","messageId":"a","delta":"x"}"#,
];

const ANTHROPIC: [&str; 3] = [
    r##"data: {"type":"content_block_delta","index":#,"delta":{"type":"text_delta","text":"@"}}"##,
    r##"data: {"type":"content_block_delta","index":0,"delta":{"type":"@","text":"@"}}"##,
    r##"data: {"type":"content_block_delta","index":0,"delta":{"text":"@","type":"text_delta","text":"x"}}"##,
];

const GITHUB: [&str; 7] = [
    r#"data: {"choices":[{"index":0,"delta":{"content":"@","role":"assistant"}}]}"#,
    r#"data: {"choices":[{"delta":{"role":"assistant","content":"@"},"index":0}]}"#,
    r#"data: {"choices":[{"index":0,"delta":{"content":"x","content":"@","role":"assistant"}}]}"#,
    r#"data: {"choices":[{"index":0,"delta":{"content":"@","role":"assistant"}},7]}"#,
    r#"data: {"id":"@","choices":[{"index":0,"delta":{"content":"@","role":"assistant"}}]}"#,
    r#"data: {"choices":[{"index":0,"delta":{"content":"assistant","role":"@"}}]}"#,
    "event: other\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"@\",\"role\":\"assistant\"}}]}",
];

const OPENAI: [&str; 14] = [
    r#"data: {"id":"a","choices":[{"index":0,"delta":{"content":"@"},"finish_reason":null}]}"#,
    r#"data:  {"id":"a","choices":[{"index":0,"delta":{"content":"@"},"finish_reason":null}]} "#,
    r#"data: {"id":"a","choices":[{"index":1,"delta":{"content":"@"}}],"obfuscation":"@"}"#,
    r#"data: {"id":"@","choices":[{"index":0,"delta":{"content":"x"}}]}"#,
    r#"data: {"choices":[{"delta":{"content":"x","content":"@"}}]}"#,
    r#"data: {"choices":[{"delta":{"content":"@","content":"x"}}]}"#,
    r#"data: {"choices":[{"delta":{"content":"@"}},{"index":1,"delta":{"content":"@"}}]}"#,
    r#"data: {"choices":[{"delta":{"content":"@"}},7]}"#,
    r#"data: {"choices":[{"delta":{"content":[{"type":"text","text":"@"}]}}]}"#,
    r#"data: {"choices":[{"delta":{"c\u006fntent":"@"},"content":"@"}]}"#,
    r#"data: {"choices":[{"delta":{"content":"@"}}],"error":"@"}"#,
    r#"data: {"choices":[{"delta":{"content":"@"}}],"choices":[]}"#,
    r#"data: {"choices":[{"delta":{"content":"@","tool_calls":[{"index":0,"function":{"arguments":"@"}}]}}]}"#,
    r#"data: {"choices":[{"delta":{"role":"assistant","content":"@","refusal":null}}]"#,
];

const OPENBB: [&str; 8] = [
    "event: copilotMessageChunk\ndata: {\"delta\":\"@\"}",
    "event: copilotMessageChunk\ndata: {\"delta\": \"@\", \"n\": 1}",
    "event: copilotMessageChunk\ndata: {\"delta\":\"@\",\"delta\":\"x\"}",
    "event: copilotMessageChunk\ndata: {\"delta\":\"x\",\"delta\":\"@\"}",
    "event: copilotMessageChunk\ndata: {\"delta\":[\"@\"]}",
    "event: another\ndata: {\"delta\":\"@\"}",
    "data: {\"delta\":\"@\"}",
    "event: copilotStatusUpdate\ndata: {\"eventType\":\"INFO\",\"message\":\"@\"}",
];

const RESPONSES: [&str; 6] = [
    r##"data: {"type":"response.output_text.delta","sequence_number":#,"output_index":0,"delta":"@"}"##,
    r##"data: {"type":"response.output_text.delta","sequence_number": # ,"output_index":1,"delta":"@","x":[]}"##,
    r##"data: {"type":"response.output_text.delta","delta":"@","sequence_number":#}"##,
    r##"data: {"type":"response.output_text.delta","sequence_number":1,"sequence_number":#,"delta":"@"}"##,
    r##"data: {"type":"response.output_text.delta","sequence_number":#,"delta":"x","delta":"@"}"##,
    r##"data: {"type":"response.output_text.delta","sequence_number":#,"p":#,"delta":"@"}"##,
];

const UI_STREAM: [&str; 3] = [
    r#"data: {"type":"text-delta","id":"a","delta":"@"}"#,
    r#"data: {"type":"text-delta","id":"@","delta":"x"}"#,
    r#"data: {"delta":"@","type":"text-delta","id":"a","delta":"x"}"#,
];
