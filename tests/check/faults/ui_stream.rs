//! Faults in UI message streams.

use super::Broken;
use crate::script::Front::UiStream;
use crate::script::is_preflight;

const TEXT: &str = "data: {\"type\":\"text-start\",\"id\":\"t1\"}\n\n\
    data: {\"type\":\"text-delta\",\"id\":\"t1\",\"delta\":\"Hello\"}\n\n\
    data: {\"type\":\"text-end\",\"id\":\"t1\"}\n\n";
const STEP: &str = "data: {\"type\":\"start-step\"}\n\n";
const END_STEP: &str = "data: {\"type\":\"finish-step\"}\n\n";
const FINISH: &str = "data: {\"type\":\"finish\"}\n\n";
const DONE: &str = "data: [DONE]\n\n";
const CALL: &str = "data: {\"type\":\"tool-input-available\",\"toolCallId\":\"c9\",\"toolName\":\"f\",\"input\":{}}\n\n";
const OUTPUT: &str =
    "data: {\"type\":\"tool-output-available\",\"toolCallId\":\"c9\",\"output\":{}}\n\n";

pub(crate) const FAULTS: &[Broken] = &[
    ("ui/request", UiStream, |asked, answer| {
        match asked.has("regenerate-message") {
            true => answer.status(400),
            false => answer,
        }
    }),
    ("ui/odd-request", UiStream, |asked, answer| {
        match asked.has("tomorrow") {
            true => answer.status(400),
            false => answer,
        }
    }),
    ("ui/header", UiStream, |_, answer| {
        answer.without("x-vercel-ai-ui-message-stream")
    }),
    ("ui/json", UiStream, |_, answer| {
        answer.said(TEXT, "data: ping\n\n")
    }),
    ("ui/type", UiStream, |_, answer| {
        answer.said(TEXT, "data: {\"type\":\"status\"}\n\n")
    }),
    ("ui/newer", UiStream, |_, answer| {
        answer.said(TEXT, "data: {\"type\":\"reset-step\"}\n\n")
    }),
    ("ui/members", UiStream, |_, answer| {
        answer.said(TEXT, "data: {\"type\":\"source-url\",\"url\":\"u\"}\n\n")
    }),
    ("ui/extra", UiStream, |_, answer| {
        answer.said("{\"type\":\"finish\"}", "{\"type\":\"finish\",\"cost\":1}")
    }),
    ("ui/start", UiStream, |_, answer| {
        let start = "data: {\"type\":\"start\",";
        let early = "data: {\"type\":\"data-x\",\"data\":1,\"transient\":true}\n\n";
        answer.said(start, &[early, start].concat())
    }),
    ("ui/message-id", UiStream, |_, answer| {
        match answer.text().contains("\"m9\"") {
            true => answer,
            false => answer.said("\"messageId\":\"m1\"", "\"messageId\":\"m2\""),
        }
    }),
    ("ui/step", UiStream, |_, answer| {
        match answer.text().contains("\"m9\"") {
            true => answer.said(STEP, ""),
            // Behind the result of a tool, pages would post for ever: that is another rule.
            false => answer,
        }
    }),
    ("ui/tool-step", UiStream, |_, answer| {
        answer.said(TEXT, &[CALL, OUTPUT].concat())
    }),
    ("ui/open-block", UiStream, |_, answer| {
        answer.said(
            "\"text-delta\",\"id\":\"t1\"",
            "\"text-delta\",\"id\":\"t2\"",
        )
    }),
    ("ui/closed-block", UiStream, |_, answer| {
        answer.said("data: {\"type\":\"text-end\",\"id\":\"t1\"}\n\n", "")
    }),
    ("ui/tool", UiStream, |_, answer| answer.said(TEXT, OUTPUT)),
    ("ui/tool", UiStream, |_, answer| {
        let piece = "data: {\"type\":\"tool-input-delta\",\"toolCallId\":\"c9\",\"inputTextDelta\":\"{\"}\n\n";
        answer.said(TEXT, &[CALL, piece, TEXT].concat())
    }),
    ("ui/finish", UiStream, |_, answer| {
        answer.said(&[FINISH, DONE].concat(), "")
    }),
    ("ui/finish-step", UiStream, |_, answer| {
        answer.said(END_STEP, "")
    }),
    ("ui/after-finish", UiStream, |_, answer| {
        answer.said(FINISH, &[FINISH, END_STEP].concat())
    }),
    ("ui/done", UiStream, |_, answer| answer.said(DONE, "")),
    ("ui/refusal", UiStream, |_, answer| {
        match answer.status.as_u16() {
            400 => answer.header("content-type", "application/json").body("{}"),
            _ => answer,
        }
    }),
    ("ui/resume", UiStream, |asked, answer| {
        match answer.status.as_u16() {
            204 if !is_preflight(asked) => answer.status(404),
            _ => answer,
        }
    }),
];
