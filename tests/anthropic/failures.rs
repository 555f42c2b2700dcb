//! Failures, after which no client may run the turn again.

use copilot_wire::Router;
use copilot_wire::anthropic::{ErrorObject, Model};
use copilot_wire::protocol::AgentError;
use serde_json::{Value, json};

use crate::strict::read;
use crate::support::{agent, ask, fixed, post, router, stream_of};

#[test]
fn a_failure_before_any_text_is_a_text_too() {
    for status in [false, true] {
        let answer = read(&stream_of(move |reply| async move {
            if status {
                reply.status("Looking").await?;
            }
            Err(AgentError::new("The model is away."))
        }));
        assert_eq!(answer.text(), "The model is away.");
        let error = answer.error.unwrap();
        assert_eq!(
            error,
            json!({"type": "invalid_request_error", "message": "The model is away."})
        );
    }
}

#[test]
fn a_failure_in_the_text_closes_the_block() {
    let answer = read(&stream_of(|reply| async move {
        reply.text("Par").await?;
        Err(AgentError::new("The model is away."))
    }));
    assert_eq!(answer.text(), "Par");
    assert_eq!(answer.error.unwrap()["message"], "The model is away.");
    let answer = read(&stream_of(|reply| async move {
        reply.text("Par").await?;
        panic!("a bug in the agent");
    }));
    assert!(answer.error.is_some());
}

#[test]
fn a_retryable_failure_is_an_overload() {
    let answer = read(&stream_of(|reply| async move {
        reply.text("Par").await?;
        Err(AgentError::new("Busy.").retryable())
    }));
    assert_eq!(answer.error.unwrap()["type"], "overloaded_error");
}

#[test]
fn every_stream_forbids_a_retry_unless_the_mount_allows_it() {
    let fails = || {
        agent(|_, reply| async move {
            reply.text("Par").await?;
            Err(AgentError::new("Away."))
        })
    };
    let (head, _) = post(&router(fails()), &ask("Hi"));
    assert_eq!(head.headers["x-should-retry"], "false");
    let id = head.headers["request-id"].to_str().unwrap();
    assert!(id.starts_with("req_") && id.len() == 36, "{id}");
    let model = Model::new("analyst").retries(true);
    let open = Router::new().env(fixed()).mount(model, fails()).unwrap();
    let (head, _) = post(&open, &ask("Hi"));
    assert!(!head.headers.contains_key("x-should-retry"));
    assert!(head.headers.contains_key("request-id"));
}

#[test]
fn a_failure_without_a_stream_is_a_status() {
    for (is_final, status, kind) in [
        (true, 424, ErrorObject::INVALID_REQUEST),
        (false, 503, ErrorObject::OVERLOADED),
    ] {
        let fails = agent(move |_, reply| async move {
            reply.text("Par").await?;
            let error = AgentError::new("Away.");
            Err(if is_final { error } else { error.retryable() })
        });
        let mut body = ask("Hi");
        body["stream"] = json!(false);
        let (head, text) = post(&router(fails), &body);
        assert_eq!(head.status, status);
        assert_eq!(head.headers.contains_key("x-should-retry"), is_final);
        let found: Value = serde_json::from_str(&text).unwrap();
        let expected = json!({"type": "error", "error": {"type": kind, "message": "Away."}});
        assert_eq!(found, expected);
    }
}
