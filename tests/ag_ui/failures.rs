//! Failures: always told, because a stream that is only cut looks finished.

use copilot_wire::protocol::AgentError;
use serde_json::json;

use crate::support::{read, stream_of};

#[test]
fn a_failure_before_any_text_is_sent() {
    let answer = read(&stream_of(|_| async {
        Err(AgentError::new("The model is away."))
    }));
    assert_eq!(answer.types(), ["RUN_STARTED", "RUN_ERROR"]);
    let error = json!({"type": "RUN_ERROR", "message": "The model is away."});
    assert_eq!(answer.one("RUN_ERROR"), &error);
}

#[test]
fn a_failure_closes_what_is_open() {
    let answer = read(&stream_of(|reply| async move {
        reply.status("Looking").await?;
        reply.text("Par").await?;
        Err(AgentError::new("Busy.").retryable())
    }));
    assert_eq!(
        answer.types()[3..],
        [
            "TEXT_MESSAGE_CONTENT",
            "TEXT_MESSAGE_END",
            "STEP_FINISHED",
            "RUN_ERROR"
        ]
    );
    assert_eq!(answer.one("RUN_ERROR")["code"], "retryable");
    let answer = read(&stream_of(|reply| async move {
        reply.reasoning("Hm").await?;
        Err(AgentError::new("Away."))
    }));
    assert_eq!(answer.types().last(), Some(&"RUN_ERROR"));
    assert!(answer.types().contains(&"REASONING_END"));
}

#[test]
fn a_panic_is_sent_as_a_failure() {
    let answer = read(&stream_of(|reply| async move {
        reply.text("Par").await?;
        panic!("a bug in the agent");
    }));
    assert_eq!(answer.texts(), ["Par"]);
    let error = answer.one("RUN_ERROR");
    assert!(
        !error["message"].as_str().unwrap().contains("bug"),
        "{error}"
    );
}
