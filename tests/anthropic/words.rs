//! The shared vocabulary, as clients read it.

use copilot_wire::anthropic::Anthropic;
use copilot_wire::protocol::{AgentError, Confirmation, Verdict};
use copilot_wire::{Reply, Request};
use serde_json::{Value, json};

use crate::strict::{Read, read};
use crate::support::{agent, ask, post, router};

/// Asks before it deletes, and reads the answer in the next turn.
async fn careful(request: Request<Anthropic>, reply: Reply<Anthropic>) -> Result<(), AgentError> {
    match request.decision() {
        Some(answer) if answer.accepts("delete `7`") => reply.text("Deleted.").await?,
        Some(answer) if answer.verdict == Verdict::Refused => reply.text("Kept.").await?,
        _ => {
            let message = "This cannot be undone.";
            reply.confirm(Confirmation::new("delete `7`", "Delete it?", message))?;
        }
    }
    Ok(())
}

#[test]
fn a_question_is_answered_in_the_next_turn() {
    let router = router(agent(careful));
    let said = |messages: Value| -> Read {
        let mut body = ask("");
        body["messages"] = messages;
        read(&post(&router, &body).1)
    };
    let asked = || {
        let asked = said(json!([{"role": "user", "content": "Delete it"}]));
        assert_eq!(asked.stop_reason.as_deref(), Some("end_turn"));
        asked.text()
    };
    let question = asked();
    assert!(question.contains("Question: Delete it? This cannot be undone. To agree"));
    let turn = |question: &str, answer: Value| {
        json!([
            {"role": "user", "content": "Delete it"},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "x"},
                {"type": "text", "text": question},
            ]},
            {"role": "user", "content": answer},
            // Claude Code's first turn ends like this.
            {"role": "system", "content": "Be brief."},
        ])
    };
    let yes = |question: &str| {
        let (_, code) = question.rsplit_once("reply: yes ").unwrap();
        format!("yes {}", &code[..6])
    };
    let agreed = yes(&question);
    assert_eq!(said(turn(&question, json!(agreed))).text(), "Deleted.");
    assert_eq!(said(turn(&asked(), json!("no."))).text(), "Kept.");
    let question = asked();
    let reminded = json!([
        {"type": "text", "text": "<system-reminder>Today is Sunday.</system-reminder>"},
        {"type": "text", "text": yes(&question)},
    ]);
    assert_eq!(said(turn(&question, reminded)).text(), "Deleted.");
    // Neither an answer nor the newest question.
    let answer = said(turn(&question, json!("Yes, but why?")));
    assert!(answer.text().contains("To agree"));
    let later = json!([
        {"role": "assistant", "content": question}, {"role": "user", "content": "hm"},
        {"role": "assistant", "content": "So?"}, {"role": "user", "content": "yes"},
    ]);
    assert!(said(later).text().contains("To agree"));
}
