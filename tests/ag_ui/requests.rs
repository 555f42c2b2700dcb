//! Requests that the official clients sent, and odd ones.

use bytes::Bytes;
use copilot_wire::Request;
use copilot_wire::ag_ui::{AgUi, Mount, RunAgentInput};
use copilot_wire::protocol::{Confirmation, Conversation, Protocol, Refusal, Verdict};
use serde_json::{Value, json};

use crate::support::{agent, ask, post, read, router};

fn parse(body: impl Into<Bytes>) -> Result<RunAgentInput, Refusal> {
    let (parts, ()) = http::Request::post("/agui").body(()).unwrap().into_parts();
    AgUi::read(&parts, body.into())
}

fn recorded(name: &str) -> RunAgentInput {
    let path = format!(
        "{}/fixtures/ag-ui/req-{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    parse(std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_question_counts_in_its_own_conversation_only() {
    let asks = agent(|request, reply| async move {
        match request.decision() {
            Some(answer) => reply.text(format!("{:?}", answer.verdict)).await?,
            None => reply.confirm(Confirmation::new("del-1", "Delete?", "All of it."))?,
        }
        Ok(())
    });
    let router = router(Mount::new(), asks);
    let said = |body: &Value| read(&post(&router, &body.to_string()).1).texts().concat();
    let mut body: Value = serde_json::from_str(&ask("Delete it")).unwrap();
    let question = said(&body);
    let (_, code) = question.rsplit_once("reply: yes ").unwrap();
    let yes = format!("yes {}", &code[..6]);
    body["messages"] = json!([
        {"id": "u1", "role": "user", "content": "Delete it"},
        {"id": "a1", "role": "assistant", "content": question},
        {"id": "u2", "role": "user", "content": yes},
    ]);
    for (thread, verdict) in [("th2", "NoProof"), ("", "NoProof"), ("th1", "Accepted")] {
        body["threadId"] = json!(thread);
        assert_eq!(said(&body), verdict, "{thread}");
    }
}

/// Recorded from clients that answered a question which another server had asked.
#[test]
fn a_yes_to_a_question_of_another_server_has_no_proof() {
    for version in ["0.0.59", "1.0.0"] {
        let input = recorded(&format!("question-{version}"));
        assert_eq!(input.dialog_decision(), None);
        let request = Request::<AgUi>::new(input);
        let answer = request.decision().unwrap();
        assert_eq!((&*answer.id, answer.verdict), ("q1", Verdict::NoProof));
    }
}

#[test]
fn neither_texts_nor_data_are_shown() {
    let secret = "s3cr3t";
    let body = format!(
        r#"{{"messages":[{{"role":"user","content":"{secret}"}},{{"role":"user","content":[
            {{"type":"text","text":"{secret}"}},{{"type":"binary","data":"{secret}","url":"{secret}"}},
            {{"type":"image","source":{{"type":"url","value":"{secret}"}}}}]}}],
            "state":"{secret}","forwardedProps":"{secret}","resume":[{{"payload":"{secret}"}}]}}"#
    );
    let shown = format!("{:?}", parse(body).unwrap());
    assert!(!shown.contains(secret), "{shown}");
}
