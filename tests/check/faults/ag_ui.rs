//! Faults in runs of AG-UI.

use serde_json::json;

use super::{Broken, by, has, said, status, then, when};
use crate::script::Front::AgUi;
use crate::script::{Fault, Piece};

const PIECE: &str = "{\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"m\",\"delta\":\"Hello\"}";
const CUSTOM: &str = "{\"type\":\"CUSTOM\",\"name\":\"n\",\"value\":null}";

/// The same run with an event before one of its events.
fn put(before: &str, event: &str) -> Fault {
    said(before, &format!("{event}\n\ndata: {before}"))
}

/// The same run without the events of a type.
fn no_event(kind: &'static str) -> Fault {
    by(move |_, answer| {
        if !answer.streams {
            return answer;
        }
        let text = answer.text();
        let frames = text.split_inclusive("\n\n");
        let left = frames.filter(|frame| !frame.contains(&format!("\"{kind}\"")));
        let left: String = left.collect();
        answer.body(left)
    })
}

/// The same run with an outcome.
fn finished(outcome: &str) -> Fault {
    let end = "\"type\":\"RUN_FINISHED\",";
    said(end, &format!("{end}\"outcome\":{outcome},"))
}

faults! {
    "ag-ui/type" AgUi put(CUSTOM, "{\"type\":\"TOMORROW\"}");
    "ag-ui/members" AgUi said("\"name\":\"n\"", "\"name\":7");
    "ag-ui/members" AgUi said("\"content\":{}", "\"content\":[]");
    "ag-ui/members" AgUi {
        let result = json!({"type": "TOOL_CALL_RESULT", "toolCallId": "c", "content": "x"});
        put(CUSTOM, &result.to_string())
    };
    "ag-ui/null" AgUi { let start = "\"type\":\"RUN_STARTED\""; said(start, &format!("{start},\"parentRunId\":null")) };
    "ag-ui/empty-delta" AgUi said("\"Hello\"", "\"\"");
    "ag-ui/outcome" AgUi finished("{\"type\":\"success\",\"pendingToolCallIds\":[\"c\"]}");
    "ag-ui/outcome" AgUi finished("{\"type\":\"cancelled\"}");
    "ag-ui/outcome" AgUi finished("{\"type\":\"interrupt\",\"interrupts\":[]}");
    "ag-ui/patch" AgUi said("\"path\":\"/a\"", "\"path\":\"a\"");
    "ag-ui/state" AgUi said("\"path\":\"/a\"", "\"path\":\"/b/c\"");
    "ag-ui/open-twice" AgUi {
        let chunk = "{\"type\":\"TEXT_MESSAGE_CHUNK\",\"messageId\":\"m\",\"delta\":\"x\"}";
        put(PIECE, chunk)
    };
    "ag-ui/not-open" AgUi {
        let start =
            "{\"type\":\"TEXT_MESSAGE_START\",\"messageId\":\"m\",\"role\":\"assistant\"}";
        put(start, "{\"type\":\"TEXT_MESSAGE_CHUNK\",\"delta\":\"x\"}")
    };
    "ag-ui/ids" AgUi {
        let start = "\"type\":\"RUN_STARTED\",\"threadId\":";
        said(start, &format!("{start}\"another\",\"was\":"))
    };
    "ag-ui/run-started" AgUi no_event("RUN_STARTED");
    "ag-ui/after-end" AgUi { let behind = format!("data: {CUSTOM}\n\n"); then(Piece::Bytes(behind.into())) };
    "ag-ui/open-twice" AgUi put(PIECE, "{\"type\":\"TEXT_MESSAGE_START\",\"messageId\":\"m\"}");
    "ag-ui/open-twice" AgUi { let step = "{\"type\":\"STEP_STARTED\",\"stepName\":\"s\"}"; put(step, step) };
    "ag-ui/not-open" AgUi {
        let start =
            "{\"type\":\"TEXT_MESSAGE_START\",\"messageId\":\"m\",\"role\":\"assistant\"}";
        put(start, PIECE)
    };
    "ag-ui/not-open" AgUi no_event("TOOL_CALL_START");
    "ag-ui/left-open" AgUi no_event("TEXT_MESSAGE_END");
    "ag-ui/left-open" AgUi no_event("TOOL_CALL_END");
    "ag-ui/left-open" AgUi no_event("STEP_FINISHED");
    "ag-ui/left-open" AgUi no_event("REASONING_END");
    "ag-ui/finish" AgUi no_event("RUN_FINISHED");
    "ag-ui/line-feed" AgUi said("\n", "\r\n");
    "ag-ui/json" AgUi then(Piece::Bytes("data: [DONE]\n\n".into()));
    "ag-ui/size" AgUi when(has("\"oracle\""), said("\"Hello\"", &format!("\"{}\"", "x".repeat(10_000_000))));
    "ag-ui/request" AgUi when(has("\"document\""), status(422));
    "ag-ui/odd-request" AgUi when(has("\"oracle\""), status(422));
}
