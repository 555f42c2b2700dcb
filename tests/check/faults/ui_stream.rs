//! Faults in UI message streams.

use super::{Broken, by, has, said, status, when, without};
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

faults! {
    "ui/request" UiStream when(has("regenerate-message"), status(400));
    "ui/odd-request" UiStream when(has("tomorrow"), status(400));
    "ui/header" UiStream without("x-vercel-ai-ui-message-stream");
    "ui/json" UiStream said(TEXT, "data: ping\n\n");
    "ui/type" UiStream said(TEXT, "data: {\"type\":\"status\"}\n\n");
    "ui/newer" UiStream said(TEXT, "data: {\"type\":\"reset-step\"}\n\n");
    "ui/members" UiStream said(TEXT, "data: {\"type\":\"source-url\",\"url\":\"u\"}\n\n");
    "ui/extra" UiStream said("{\"type\":\"finish\"}", "{\"type\":\"finish\",\"cost\":1}");
    "ui/start" UiStream {
        let start = "data: {\"type\":\"start\",";
        let early = "data: {\"type\":\"data-x\",\"data\":1,\"transient\":true}\n\n";
        said(start, &[early, start].concat())
    };
    "ui/message-id" UiStream by(|_, answer| match answer.text().contains("\"m9\"") {
        true => answer,
        false => answer.said("\"messageId\":\"m1\"", "\"messageId\":\"m2\""),
    });
    "ui/step" UiStream by(|_, answer| {
        match answer.text().contains("\"m9\"") {
            true => answer.said(STEP, ""),
            // Behind the result of a tool, pages would post for ever: that is another rule.
            false => answer,
        }
    });
    "ui/tool-step" UiStream said(TEXT, &[CALL, OUTPUT].concat());
    "ui/open-block" UiStream said("\"text-delta\",\"id\":\"t1\"", "\"text-delta\",\"id\":\"t2\"");
    "ui/closed-block" UiStream said("data: {\"type\":\"text-end\",\"id\":\"t1\"}\n\n", "");
    "ui/tool" UiStream said(TEXT, OUTPUT);
    "ui/tool" UiStream {
        let piece = "data: {\"type\":\"tool-input-delta\",\"toolCallId\":\"c9\",\"inputTextDelta\":\"{\"}\n\n";
        said(TEXT, &[CALL, piece, TEXT].concat())
    };
    "ui/finish" UiStream said(&[FINISH, DONE].concat(), "");
    "ui/finish-step" UiStream said(END_STEP, "");
    "ui/after-finish" UiStream said(FINISH, &[FINISH, END_STEP].concat());
    "ui/done" UiStream said(DONE, "");
    "ui/refusal" UiStream by(|_, answer| match answer.status.as_u16() {
        400 => answer.header("content-type", "application/json").body("{}"),
        _ => answer,
    });
    "ui/resume" UiStream by(|asked, answer| match answer.status.as_u16() {
        204 if !is_preflight(asked) => answer.status(404),
        _ => answer,
    });
}
