//! The shared vocabulary on OpenAI, through the router.

use copilot_wire::json::Wire as _;
use copilot_wire::openai::{
    ChatMessage, ChatRequest, Ending, FinishReason, Function, Model, OpenAi,
};
use copilot_wire::protocol::{AgentError, Citation, Confirmation, Conversation, Verdict};
use copilot_wire::{Reply, Request, Router, agent_fn};
use serde_json::json;

use crate::rules::{End, check};
use crate::support::{Read, agent, post};

fn stream(messages: Vec<ChatMessage>) -> ChatRequest {
    let tool = Function::new("get_tide", "The tide at a port.");
    ChatRequest::new("m", messages)
        .stream(true)
        .offer(vec![tool.into()])
}

fn ask(router: &Router, request: &ChatRequest) -> String {
    let (status, text) = post(router, std::str::from_utf8(&request.to_json()).unwrap());
    assert_eq!(status, 200);
    text
}

pub(crate) fn answer<F, Fut>(answer: F) -> Read
where
    F: Fn(Reply<OpenAi>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), AgentError>> + Send + 'static,
{
    let router = Router::new().mount(Model::new("m"), agent(answer)).unwrap();
    let text = ask(&router, &stream(vec![ChatMessage::user("hi")]));
    check(&text, false, End::Done);
    Read::all(text.as_bytes())
}

pub(crate) fn text(read: &Read) -> String {
    read.completion()
        .message()
        .unwrap()
        .content
        .text()
        .into_owned()
}

#[test]
fn native_endings_end_the_turn_too() {
    let read = answer(|reply| async move {
        reply.text("As far as it").await?;
        reply.end(FinishReason::Length)?;
        Ok(())
    });
    assert_eq!(
        read.completion().choices[0].finish_reason,
        Some(FinishReason::Length)
    );
    let read = answer(|reply| async move {
        let call = |id: &str| copilot_wire::openai::ToolCall::new(id, "get_tide", &json!({}));
        reply.end(Ending::from(vec![call("A")?, call("B")?]))?;
        // Too late to be told.
        Err(AgentError::new("late"))
    });
    let completion = read.completion();
    let ids: Vec<_> = completion
        .calls()
        .iter()
        .map(|call| call.id.as_str())
        .collect();
    assert_eq!(ids, ["A", "B"]);
}

/// Asks before it deletes, and reads the answer in the next turn.
async fn careful(request: Request<OpenAi>, reply: Reply<OpenAi>) -> Result<(), AgentError> {
    match request.decision() {
        Some(answer) if answer.accepts("delete `7`") => reply.text("Deleted.").await?,
        Some(answer) if answer.verdict == Verdict::Refused => reply.text("Kept.").await?,
        _ => {
            if request
                .prompt()
                .is_some_and(|prompt| prompt.contains("sources"))
            {
                reply.cite(Citation::new("A friend")).await?;
            }
            let message = "This cannot be undone.";
            reply.confirm(Confirmation::new("delete `7`", "Delete it?", message))?;
        }
    }
    Ok(())
}

#[test]
fn a_question_is_answered_in_the_next_turn() {
    let router = Router::new()
        .mount(Model::new("m"), agent_fn(careful))
        .unwrap();
    let said = |messages: Vec<ChatMessage>| {
        let text = ask(&router, &stream(messages));
        check(&text, false, End::Done);
        Read::all(text.as_bytes())
            .completion()
            .message()
            .unwrap()
            .content
            .text()
            .into_owned()
    };
    let user = |text: &str| ChatMessage::user(text);
    let ask = || said(vec![user("Delete it")]);
    let question = ask();
    assert!(question.contains("Question: Delete it? This cannot be undone. To agree"));
    let behind = said(vec![user("Delete it, with sources")]);
    assert!(behind.starts_with("\n\n**Sources**") && behind.contains("\n\nQuestion: "));
    let yes = |question: &str| {
        let (_, code) = question.rsplit_once("reply: yes ").unwrap();
        format!("Yes {}", &code[..6])
    };
    let turn = |question: &str, answer: &str| {
        said(vec![
            user("Delete it"),
            ChatMessage::assistant(question),
            user(answer),
        ])
    };
    assert_eq!(turn(&question, &yes(&question)), "Deleted.");
    assert_eq!(turn(&ask(), "no."), "Kept.");
    // Not an answer; one to an earlier question; one that was not asked.
    let question = ask();
    let asked = || ChatMessage::assistant(question.as_str());
    let agreed = || ChatMessage::user(yes(&question));
    for messages in [
        vec![user("Delete it"), asked(), user("Yes, but why?")],
        vec![asked(), user("hm"), ChatMessage::assistant("So?"), agreed()],
        vec![asked(), agreed(), ChatMessage::assistant("Deleted.")],
        vec![asked(), agreed(), user("yes")],
        vec![user(&question), agreed()],
        vec![ChatMessage::assistant("Really?"), agreed()],
        vec![agreed()],
    ] {
        assert!(said(messages).contains("To agree"));
    }
}
