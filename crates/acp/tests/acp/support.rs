//! The agent of the tests, and editors for it.

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};

use copilot_wire::protocol::{
    AgentError, Chart, ChartKind, Citation, Confirmation, Conversation as _, Cut, HistoryItem,
    Notice, Protocol, Role, Status, Table, ToolRun, Usage, Verdict,
};
use copilot_wire::{Agent, Reply, Request, async_trait};
use copilot_wire_acp::sdk::v1::schema::{
    Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus, ReadTextFileRequest, SessionInfoUpdate,
    SessionUpdate, StopReason,
};
use copilot_wire_acp::{Acp, EmulatedEditor, Server};
use serde_json::json;

/// The pieces that floods have written.
pub(crate) static WRITTEN: AtomicUsize = AtomicUsize::new(0);

/// Does what the prompt asks for.
pub(crate) struct Player;

pub(crate) fn block_on<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(test)
}

pub(crate) async fn start() -> (EmulatedEditor, String) {
    let mut editor = EmulatedEditor::start(Server::new(Player)).await.unwrap();
    let session = editor.new_session().await.unwrap();
    (editor, session)
}

#[async_trait]
impl<P: Protocol> Agent<P> for Player {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let prompt = request.prompt().unwrap_or_default().into_owned();
        match prompt.as_str() {
            "everything" => {
                reply.reasoning("I think").await?;
                reply
                    .status(Status::new("Reading").detail("pages", "7"))
                    .await?;
                reply.text("Hello, ").await?;
                reply.text("world\u{2028}\"\n").await?;
                let run = ToolRun::new("get_price", &json!({"symbol": "A"}), &json!({"price": 1}))?;
                reply.tool_run(run).await?;
                let run = ToolRun::failed("search", &json!({}), "not found")?;
                reply.tool_run(run).await?;
                reply.status(Status::new("Thinking")).await?;
                reply.table(Table::new("T", &[json!({"a": 1})])?).await?;
                let kind = ChartKind::Pie {
                    angle: "a".into(),
                    label: "b".into(),
                };
                reply
                    .chart(Chart::new("C", kind, &[json!({"a": 1, "b": "x"})])?)
                    .await?;
                reply.error(Notice::new("half of it")).await?;
                reply
                    .cite(Citation::new("Source").url("https://a.example"))
                    .await?;
                reply.usage(Usage::new(10, 5).reasoning_tokens(2)).await?;
            }
            "tokens" => {
                for token in 0..50 {
                    reply.text(format!("{token} ")).await?;
                }
            }
            "cut" => {
                reply.text("half").await?;
                reply.cut(Cut::Length)?;
            }
            "filter" => reply.cut(Cut::Filter)?,
            "fail" => return Err(AgentError::new("The market is closed.")),
            "fail late" => {
                reply.text("half").await?;
                reply.status("Working").await?;
                return Err(AgentError::new("The market is closed."));
            }
            "panic" => panic!("of the test"),
            "hang" => {
                reply.text("half").await?;
                reply.status("Working").await?;
                std::future::pending::<()>().await;
            }
            "read" => match request.native::<Acp>(reply) {
                Ok((request, reply)) => {
                    let path = request.workspace.cwd.join("a.rs");
                    let file = ReadTextFileRequest::new(request.session_id.clone(), path);
                    match request.editor().request(&file).await {
                        Ok(file) => reply.text(file.content).await?,
                        Err(error) => reply.text(error.to_string()).await?,
                    }
                    let entry =
                        PlanEntry::new("x", PlanEntryPriority::High, PlanEntryStatus::Pending);
                    reply
                        .send(SessionUpdate::Plan(Plan::new(vec![entry])))
                        .await?;
                    reply.end(StopReason::MaxTurnRequests)?;
                }
                Err(_) => return Err(AgentError::new("Not an editor.")),
            },
            "title" => {
                if let Ok((_, reply)) = request.native::<Acp>(reply) {
                    let title = SessionInfoUpdate::new().title("The tides".to_owned());
                    let title = SessionUpdate::SessionInfoUpdate(title);
                    reply.send(title).await?;
                }
            }
            "print" => {
                #[expect(clippy::print_stdout, reason = "the test is about it")]
                {
                    println!("{{\"jsonrpc\": \"2.0\", \"id\": 3, \"result\": \"printed\"}}");
                }
                // A program that reads what it inherits.
                let mut program = std::process::Command::new("cat");
                reply
                    .text(format!("{}", program.status()?.success()))
                    .await?;
            }
            "flood" => loop {
                WRITTEN.fetch_add(1, Ordering::Relaxed);
                reply.text("x".repeat(1000)).await?;
            },
            "call" => {
                let call = copilot_wire::protocol::ToolCall::new("x", &json!({}))?;
                reply.call(call)?;
            }
            "delete" | "choose" | "a" => {
                let mut question = Confirmation::new("d", "Delete **it**?", "For ever.");
                if prompt == "choose" {
                    question = question.answers(["a", "yes"]);
                }
                match request.decision() {
                    Some(answer) if answer.accepts("d") => reply.text("deleted").await?,
                    Some(answer) if answer.verdict == Verdict::Refused => {
                        reply.text("kept").await?;
                    }
                    Some(answer) => {
                        reply.text(format!("{prompt} {:?}", answer.verdict)).await?;
                    }
                    None => {
                        reply.text("First. ").await?;
                        reply.confirm(question)?;
                    }
                }
            }
            "history" => {
                let mut said = String::new();
                for item in request.history() {
                    match item {
                        HistoryItem::Message(message) => {
                            let by = match message.role {
                                Role::User => "u",
                                Role::Assistant => "a",
                                _ => "?",
                            };
                            said.push_str(&format!("[{by}:{}]", message.text));
                        }
                        HistoryItem::Call(call) => {
                            said.push_str(&format!("[call:{}:{}]", call.name, call.arguments));
                        }
                        HistoryItem::Result(result) => {
                            said.push_str(&format!("[result:{}]", result.content));
                        }
                        HistoryItem::Attachment(file) => {
                            let kind = file.media_type.unwrap_or_default();
                            said.push_str(&format!("[file:{kind}]"));
                        }
                        _ => said.push('?'),
                    }
                }
                for document in request.documents() {
                    said.push_str(&format!("[doc:{}:{}]", document.name, document.content));
                }
                reply.text(said).await?;
            }
            _ => reply.text(format!("You said: {prompt}")).await?,
        }
        Ok(())
    }
}

/// Runs steps and tools and asks, whatever the prompt is.
pub(crate) struct Caller;

#[async_trait]
impl<P: Protocol> Agent<P> for Caller {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        if request.decision().is_none() {
            reply.text("First. ").await?;
            reply.status(Status::new("Reading")).await?;
            reply.text("Then. ").await?;
            reply.confirm(Confirmation::new("d", "Delete it?", "For ever."))?;
        }
        Ok(())
    }
}
