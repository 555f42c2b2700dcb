//! Faults in streams of content blocks.

use http::Method;

use super::{Broken, body, has, said, status, swap, when, without};
use crate::script::Front::Anthropic;
use crate::streams::{ANTHROPIC_END, ANTHROPIC_TEXT};

const STOP: &str = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
const THINKING_STOP: &str = "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\"";
const TEXT_START: &str = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\"";
const END: &str = "event: message_delta\n";

faults! {
    "anthropic/request" Anthropic when(has("tomorrow"), status(400));
    "anthropic/whole" Anthropic when(has("\"stream\":false"), swap("\"type\":\"message\"", "\"type\":\"answer\""));
    "anthropic/should-retry" Anthropic without("x-should-retry");
    "anthropic/event-name" Anthropic said("event: message_stop\n", "");
    "anthropic/event" Anthropic {
        let pong = format!("event: pong\ndata: {{\"type\":\"pong\"}}\n\n{STOP}");
        said(STOP, &pong)
    };
    "anthropic/start" Anthropic said("{\"input_tokens\":1,\"output_tokens\":0}", "{}");
    "anthropic/block-start" Anthropic said("\"index\":1", "\"index\":2");
    "anthropic/block-kind" Anthropic said("text_delta", "words_delta");
    "anthropic/block-delta" Anthropic {
        let delta = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":7,\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}\n\n";
        said(END, &format!("{delta}{END}"))
    };
    "anthropic/block-stop" Anthropic said(THINKING_STOP, TEXT_START);
    "anthropic/one-text" Anthropic {
        let second = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":2}\n\n";
        said(END, &format!("{second}{END}"))
    };
    "anthropic/empty" Anthropic said(ANTHROPIC_TEXT, "");
    "call/arguments" Anthropic said("\\\"Brest\\\"}", "");
    "call/not-offered" Anthropic said("\"get_weather\"", "\"rm\"");
    "anthropic/stop-reason" Anthropic said("\"end_turn\"", "null");
    "anthropic/stop" Anthropic said(STOP, "");
    "anthropic/after-stop" Anthropic said(STOP, &STOP.repeat(2));
    "anthropic/error" Anthropic said(STOP, "event: error\ndata: {\"type\":\"error\",\"error\":{}}\n\n");
    "anthropic/error-block" Anthropic {
        let error = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"no\"}}\n\n";
        said(ANTHROPIC_END, error)
    };
    "anthropic/count-tokens" Anthropic when(|asked| asked.is(Method::POST, "/v1/messages/count_tokens"), status(404));
    "anthropic/refusal" Anthropic when(|asked| asked.request.body() == "[]", body("{\"error\":{}}"));
}
