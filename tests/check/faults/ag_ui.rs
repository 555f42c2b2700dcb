//! Faults in runs of AG-UI.

use serde_json::json;

use super::Broken;
use crate::script::Front::AgUi;
use crate::script::{Answer, Piece};

const PIECE: &str = "{\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"m\",\"delta\":\"Hello\"}";
const CUSTOM: &str = "{\"type\":\"CUSTOM\",\"name\":\"n\",\"value\":null}";

/// The same run with an event before one of its events.
fn put(answer: Answer, before: &str, event: &str) -> Answer {
    answer.said(before, &format!("{event}\n\ndata: {before}"))
}

/// The same run without the events of a type.
fn without(answer: Answer, kind: &str) -> Answer {
    if !answer.streams {
        return answer;
    }
    let text = answer.text();
    let frames = text.split_inclusive("\n\n");
    let left = frames.filter(|frame| !frame.contains(&format!("\"{kind}\"")));
    let left: String = left.collect();
    answer.body(left)
}

/// The same run with an outcome.
fn finished(answer: Answer, outcome: &str) -> Answer {
    let end = "\"type\":\"RUN_FINISHED\",";
    answer.said(end, &format!("{end}\"outcome\":{outcome},"))
}

pub(crate) const FAULTS: &[Broken] = &[
    ("ag-ui/type", AgUi, |_, answer| {
        put(answer, CUSTOM, "{\"type\":\"TOMORROW\"}")
    }),
    ("ag-ui/members", AgUi, |_, answer| {
        answer.said("\"name\":\"n\"", "\"name\":7")
    }),
    ("ag-ui/members", AgUi, |_, answer| {
        answer.said("\"content\":{}", "\"content\":[]")
    }),
    ("ag-ui/members", AgUi, |_, answer| {
        let result = json!({"type": "TOOL_CALL_RESULT", "toolCallId": "c", "content": "x"});
        put(answer, CUSTOM, &result.to_string())
    }),
    ("ag-ui/null", AgUi, |_, answer| {
        let start = "\"type\":\"RUN_STARTED\"";
        answer.said(start, &format!("{start},\"parentRunId\":null"))
    }),
    ("ag-ui/empty-delta", AgUi, |_, answer| {
        answer.said("\"Hello\"", "\"\"")
    }),
    ("ag-ui/outcome", AgUi, |_, answer| {
        finished(
            answer,
            "{\"type\":\"success\",\"pendingToolCallIds\":[\"c\"]}",
        )
    }),
    ("ag-ui/outcome", AgUi, |_, answer| {
        finished(answer, "{\"type\":\"cancelled\"}")
    }),
    ("ag-ui/outcome", AgUi, |_, answer| {
        finished(answer, "{\"type\":\"interrupt\",\"interrupts\":[]}")
    }),
    ("ag-ui/patch", AgUi, |_, answer| {
        answer.said("\"path\":\"/a\"", "\"path\":\"a\"")
    }),
    ("ag-ui/state", AgUi, |_, answer| {
        answer.said("\"path\":\"/a\"", "\"path\":\"/b/c\"")
    }),
    ("ag-ui/open-twice", AgUi, |_, answer| {
        let chunk = "{\"type\":\"TEXT_MESSAGE_CHUNK\",\"messageId\":\"m\",\"delta\":\"x\"}";
        put(answer, PIECE, chunk)
    }),
    ("ag-ui/not-open", AgUi, |_, answer| {
        let start = "{\"type\":\"TEXT_MESSAGE_START\",\"messageId\":\"m\",\"role\":\"assistant\"}";
        put(
            answer,
            start,
            "{\"type\":\"TEXT_MESSAGE_CHUNK\",\"delta\":\"x\"}",
        )
    }),
    ("ag-ui/ids", AgUi, |_, answer| {
        let start = "\"type\":\"RUN_STARTED\",\"threadId\":";
        answer.said(start, &format!("{start}\"another\",\"was\":"))
    }),
    ("ag-ui/run-started", AgUi, |_, answer| {
        without(answer, "RUN_STARTED")
    }),
    ("ag-ui/after-end", AgUi, |_, answer| {
        let behind = format!("data: {CUSTOM}\n\n");
        answer.then(Piece::Bytes(behind.into()))
    }),
    ("ag-ui/open-twice", AgUi, |_, answer| {
        put(
            answer,
            PIECE,
            "{\"type\":\"TEXT_MESSAGE_START\",\"messageId\":\"m\"}",
        )
    }),
    ("ag-ui/open-twice", AgUi, |_, answer| {
        let step = "{\"type\":\"STEP_STARTED\",\"stepName\":\"s\"}";
        put(answer, step, step)
    }),
    ("ag-ui/not-open", AgUi, |_, answer| {
        let start = "{\"type\":\"TEXT_MESSAGE_START\",\"messageId\":\"m\",\"role\":\"assistant\"}";
        put(answer, start, PIECE)
    }),
    ("ag-ui/not-open", AgUi, |_, answer| {
        without(answer, "TOOL_CALL_START")
    }),
    ("ag-ui/left-open", AgUi, |_, answer| {
        without(answer, "TEXT_MESSAGE_END")
    }),
    ("ag-ui/left-open", AgUi, |_, answer| {
        without(answer, "TOOL_CALL_END")
    }),
    ("ag-ui/left-open", AgUi, |_, answer| {
        without(answer, "STEP_FINISHED")
    }),
    ("ag-ui/left-open", AgUi, |_, answer| {
        without(answer, "REASONING_END")
    }),
    ("ag-ui/finish", AgUi, |_, answer| {
        without(answer, "RUN_FINISHED")
    }),
    ("ag-ui/line-feed", AgUi, |_, answer| {
        answer.said("\n", "\r\n")
    }),
    ("ag-ui/json", AgUi, |_, answer| {
        answer.then(Piece::Bytes("data: [DONE]\n\n".into()))
    }),
    ("ag-ui/size", AgUi, |asked, answer| {
        match asked.has("\"oracle\"") {
            true => answer.said("\"Hello\"", &format!("\"{}\"", "x".repeat(10_000_000))),
            false => answer,
        }
    }),
    ("ag-ui/request", AgUi, |asked, answer| {
        match asked.has("\"document\"") {
            true => answer.status(422),
            false => answer,
        }
    }),
    ("ag-ui/odd-request", AgUi, |asked, answer| {
        match asked.has("\"oracle\"") {
            true => answer.status(422),
            false => answer,
        }
    }),
];
