//! Faults in streams of content blocks.

use http::Method;

use super::Broken;
use crate::script::Front::Anthropic;
use crate::streams::{ANTHROPIC_END, ANTHROPIC_TEXT};

const STOP: &str = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
const THINKING_STOP: &str = "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\"";
const TEXT_START: &str = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\"";
const END: &str = "event: message_delta\n";

pub(crate) const FAULTS: &[Broken] = &[
    ("anthropic/request", Anthropic, |asked, answer| {
        if asked.has("tomorrow") {
            answer.status(400)
        } else {
            answer
        }
    }),
    ("anthropic/whole", Anthropic, |asked, answer| {
        if asked.has("\"stream\":false") {
            answer.swap("\"type\":\"message\"", "\"type\":\"answer\"")
        } else {
            answer
        }
    }),
    ("anthropic/should-retry", Anthropic, |_, answer| {
        answer.without("x-should-retry")
    }),
    ("anthropic/event-name", Anthropic, |_, answer| {
        answer.said("event: message_stop\n", "")
    }),
    ("anthropic/event", Anthropic, |_, answer| {
        let pong = format!("event: pong\ndata: {{\"type\":\"pong\"}}\n\n{STOP}");
        answer.said(STOP, &pong)
    }),
    ("anthropic/start", Anthropic, |_, answer| {
        answer.said("{\"input_tokens\":1,\"output_tokens\":0}", "{}")
    }),
    ("anthropic/block-start", Anthropic, |_, answer| {
        answer.said("\"index\":1", "\"index\":2")
    }),
    ("anthropic/block-kind", Anthropic, |_, answer| {
        answer.said("text_delta", "words_delta")
    }),
    ("anthropic/block-delta", Anthropic, |_, answer| {
        let delta = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":7,\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}\n\n";
        answer.said(END, &format!("{delta}{END}"))
    }),
    ("anthropic/block-stop", Anthropic, |_, answer| {
        answer.said(THINKING_STOP, TEXT_START)
    }),
    ("anthropic/one-text", Anthropic, |_, answer| {
        let second = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":2}\n\n";
        answer.said(END, &format!("{second}{END}"))
    }),
    ("anthropic/empty", Anthropic, |_, answer| {
        answer.said(ANTHROPIC_TEXT, "")
    }),
    ("call/arguments", Anthropic, |_, answer| {
        answer.said("\\\"Brest\\\"}", "")
    }),
    ("call/not-offered", Anthropic, |_, answer| {
        answer.said("\"get_weather\"", "\"rm\"")
    }),
    ("anthropic/stop-reason", Anthropic, |_, answer| {
        answer.said("\"end_turn\"", "null")
    }),
    ("anthropic/stop", Anthropic, |_, answer| {
        answer.said(STOP, "")
    }),
    ("anthropic/after-stop", Anthropic, |_, answer| {
        answer.said(STOP, &STOP.repeat(2))
    }),
    ("anthropic/error", Anthropic, |_, answer| {
        answer.said(
            STOP,
            "event: error\ndata: {\"type\":\"error\",\"error\":{}}\n\n",
        )
    }),
    ("anthropic/error-block", Anthropic, |_, answer| {
        let error = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"no\"}}\n\n";
        answer.said(ANTHROPIC_END, error)
    }),
    ("anthropic/count-tokens", Anthropic, |asked, answer| {
        if asked.is(Method::POST, "/v1/messages/count_tokens") {
            answer.status(404)
        } else {
            answer
        }
    }),
    ("anthropic/refusal", Anthropic, |asked, answer| {
        if asked.request.body() == "[]" && !answer.streams {
            answer.body("{\"error\":{}}")
        } else {
            answer
        }
    }),
];
