//! Failures, after which no client may run the turn again.

use copilot_wire::Router;
use copilot_wire::anthropic::{ErrorObject, Model};
use copilot_wire::protocol::AgentError;
use serde_json::{Value, json};

use crate::support::{agent, ask, fixed, post, router};

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
