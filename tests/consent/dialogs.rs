//! The answer of a dialog, which is the client's word, counts once.

use copilot_wire::{ag_ui, github, ui_stream};
use serde_json::{Value, json};

use super::exchange::{send, whole};
use super::{Asker, Server};

/// Every front end with dialogs over HTTP: its path, and the request with an answer.
fn answers(accepted: bool) -> [(&'static str, Value); 3] {
    let state = if accepted { "accepted" } else { "dismissed" };
    [
        (
            "/github",
            json!({"messages": [{"role": "user", "content": "ask"}, {"role": "user", "content": "",
                "copilot_confirmations": [{"state": state, "confirmation": {"id": "delete-1"}}]}]}),
        ),
        (
            "/api/chat",
            json!({"id": "c", "messages": [
                {"id": "1", "role": "user", "parts": [{"type": "text", "text": "ask"}]},
                {"id": "2", "role": "assistant", "parts": [{"type": "dynamic-tool", "toolName": "confirm",
                    "toolCallId": "t", "state": "approval-responded", "input": {"title": "x"},
                    "approval": {"id": "delete-1", "approved": accepted}}]}]}),
        ),
        (
            "/agui",
            json!({"threadId": "t", "runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": {},
                "messages": [{"id": "1", "role": "user", "content": "ask"}],
                "resume": [{"interruptId": "delete-1", "status": "resolved", "payload": {"accepted": accepted}}]}),
        ),
    ]
}

fn server() -> Server {
    let agent = Asker::new("Delete?", "All of it.");
    Server::with(&agent, |router| {
        router
            .mount(github::Mount::unverified(), agent.clone())
            .unwrap()
            .mount(ui_stream::Mount::new().approvals(true), agent.clone())
            .unwrap()
            .mount(ag_ui::Mount::new().interrupts(true), agent.clone())
            .unwrap()
    })
}

fn told(server: &Server, path: &str, body: &Value, expected: &str) {
    let answer = send(&server.router, http::Request::post(path), body.to_string());
    let answer = whole(answer.into_body());
    assert!(answer.contains(expected), "{path}: {expected}: {answer}");
}

#[test]
fn an_answer_of_a_dialog_counts_once() {
    for (accepted, verdict) in [(true, "Accepted"), (false, "Refused")] {
        for (path, body) in answers(accepted) {
            let server = server();
            told(&server, path, &body, verdict);
            for _ in 0..2 {
                told(&server, path, &body, "Used");
            }
            // The time of asking is not known: after an hour nobody repeats a request by accident.
            server.clock.set(29_900_059);
            told(&server, path, &body, "Used");
            server.clock.set(29_900_061);
            told(&server, path, &body, verdict);
        }
    }
}

#[test]
fn another_answer_counts() {
    let (yes, no) = (answers(true), answers(false));
    for ((path, yes), (_, no)) in yes.into_iter().zip(no) {
        let server = server();
        told(&server, path, &no, "Refused");
        told(&server, path, &yes, "Accepted");
        // Later in the conversation, the same question may be asked again.
        let mut later = yes;
        let first = later["messages"][0].clone();
        later["messages"].as_array_mut().unwrap().insert(0, first);
        told(&server, path, &later, "Accepted");
    }
}
