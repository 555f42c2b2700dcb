//! The shared vocabulary on OpenAI, through the router.

use copilot_wire::json::Json;
use copilot_wire::openai::{
    ChatCompletion, ChatMessage, ChatRequest, Ending, ErrorObject, FinishReason, Function, Model,
    OpenAi,
};
use copilot_wire::protocol::{
    AgentError, Chart, ChartKind, Citation, Confirmation, Conversation, Notice, SendError, Status,
    Table, ToolCall, Verdict,
};
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
fn every_part_has_an_equivalent() {
    let rows = || json!([{"height": 4.2, "port": "Brest"}]);
    let read = answer(move |reply| async move {
        reply
            .cite(Citation::new("Tide tables").url("https://tides.example/brest"))
            .await?;
        reply
            .status(Status::new("looking").detail("port", "Brest"))
            .await?;
        reply.text("High water.").await?;
        reply.table(Table::new("Tides", &rows())?).await?;
        let kind = ChartKind::Bar {
            x: "port".into(),
            y: vec!["height".into()],
        };
        reply.chart(Chart::new("Drawn", kind, &rows())?).await?;
        reply.error(Notice::new("One port is missing.")).await?;
        reply.cite(Citation::new("A friend")).await?;
        Ok(())
    });
    let grid = "| height | port |\n| --- | --- |\n| 4.2 | Brest |\n\n";
    assert_eq!(
        text(&read),
        format!(
            "High water.\n\n**Tides**\n\n{grid}\n\n**Drawn**\n\n{grid}\
             \n\n**Error:** One port is missing.\n\n\
             \n\n**Sources**\n\n- [Tide tables](https://tides.example/brest)\n- A friend\n"
        )
    );
}

#[test]
fn a_status_alone_is_nothing() {
    let read = answer(|reply| async move {
        reply.status("working").await?;
        Ok(reply.text("Done.").await?)
    });
    assert_eq!(text(&read), "Done.");
    assert_eq!(read.chunks.len(), 3);
}

#[test]
fn a_call_ends_the_turn() {
    let read = answer(|reply| async move {
        reply.text("One moment.").await?;
        reply.cite(Citation::new("A friend")).await?;
        reply.call(ToolCall::new("get_tide", &json!({"port": "Brest"}))?)?;
        Ok(())
    });
    let completion = read.completion();
    assert_eq!(
        completion.choices[0].finish_reason,
        Some(FinishReason::ToolCalls)
    );
    let call = &completion.calls()[0];
    assert!(call.id.starts_with("call_") && call.id.len() == 37);
    assert_eq!(call.function.name, "get_tide");
    assert_eq!(call.function.arguments, r#"{"port":"Brest"}"#);
    assert_eq!(text(&read), "One moment.\n\n**Sources**\n\n- A friend\n");
}

#[test]
fn only_tools_on_offer_can_be_called_and_only_with_an_object() {
    let outcome = |call: fn() -> ToolCall| {
        let failing = move |reply: Reply<OpenAi>| async move {
            let result = reply.call(call());
            match result {
                Err(SendError::Unsupported(_)) => Err(AgentError::new("unsupported")),
                Err(SendError::Invalid(_)) => Err(AgentError::new("invalid")),
                other => panic!("{other:?}"),
            }
        };
        let router = Router::new()
            .mount(Model::new("m"), agent(failing))
            .unwrap();
        let request = stream(vec![ChatMessage::user("hi")]).to_json();
        let (status, text) = post(&router, std::str::from_utf8(&request).unwrap());
        assert_eq!(status, 400);
        ErrorObject::find(&Json::parse(text).unwrap())
            .unwrap()
            .message
    };
    assert_eq!(
        outcome(|| ToolCall::new("rm", &json!({})).unwrap()),
        "unsupported"
    );
    assert_eq!(
        outcome(|| ToolCall::new("get_tide", &[1]).unwrap()),
        "invalid"
    );
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

/// Reasoning is beside the text, in the chunks and in the message of a completion.
#[test]
fn reasoning_is_no_part_of_the_text() {
    let router = Router::new().mount(
        Model::new("m"),
        agent(async |reply: Reply<OpenAi>| {
            reply.reasoning("Two and two\n").await?;
            reply.text("Four.").await?;
            Ok(reply.reasoning("is \"four\".").await?)
        }),
    );
    let router = router.unwrap();
    let thought = json!("Two and two\nis \"four\".").to_string();
    let streamed = ask(&router, &stream(vec![ChatMessage::user("hi")]));
    check(&streamed, false, End::Done);
    let streamed = Read::all(streamed.as_bytes());
    let whole = ask(
        &router,
        &stream(vec![ChatMessage::user("hi")]).stream(false),
    );
    let whole = ChatCompletion::from_json(whole.into_bytes()).unwrap();
    for completion in [streamed.completion(), whole] {
        let message = completion.message().unwrap();
        assert_eq!(message.content.text(), "Four.");
        let found = message.unknown.get("reasoning_content").unwrap();
        assert_eq!(found.text(), thought);
    }
}
