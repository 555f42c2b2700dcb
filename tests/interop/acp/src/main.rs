//! An agent for the official clients of editors: does what the prompt asks for. Its sessions are in a file, if the first
//! argument names one.

use copilot_wire::protocol::{
    AgentError, Confirmation, Conversation as _, Protocol, Status, ToolRun, Verdict,
};
use copilot_wire::{Agent, Reply, Request, async_trait};
use copilot_wire_acp::Server;
use serde_json::json;

mod file;

struct Player;

#[async_trait]
impl<P: Protocol> Agent<P> for Player {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let prompt = request.prompt().unwrap_or_default().into_owned();
        match prompt.trim() {
            "tool" => {
                reply.reasoning("Which price?").await?;
                reply.status(Status::new("Reading the prices")).await?;
                let run = ToolRun::new("get_price", &json!({"symbol": "A"}), &json!({"price": 1}))?;
                reply.tool_run(run).await?;
                reply.text("It costs 1.").await?;
            }
            "delete" => {
                let question = Confirmation::new("d", "Delete the log?", "It is lost for ever.");
                match request.decision() {
                    Some(answer) if answer.accepts("d") => reply.text("deleted").await?,
                    Some(answer) if answer.verdict == Verdict::Refused => {
                        reply.text("kept").await?;
                    }
                    _ => reply.confirm(question)?,
                }
            }
            "hang" => {
                reply.text("half").await?;
                std::future::pending::<()>().await;
            }
            "print" => {
                // An agent that writes where the messages are: it must not break them.
                #[expect(clippy::print_stdout, reason = "the test is about it")]
                {
                    println!("{{\"jsonrpc\": \"2.0\", \"id\": 1, \"result\": \"printed\"}}");
                }
                reply.text("printed").await?;
            }
            "fail" => return Err(AgentError::new("The market is closed.")),
            "fail late" => {
                reply.text("half").await?;
                return Err(AgentError::new("The market is closed."));
            }
            "history" => {
                let said: Vec<_> = request
                    .messages()
                    .map(|message| message.text.into_owned())
                    .collect();
                reply.text(said.join("|")).await?;
            }
            _ => reply.text(format!("You said: {prompt}")).await?,
        }
        Ok(())
    }
}

fn main() -> std::io::Result<()> {
    let server = Server::new(Player).name("player", "Player", "1.0.0");
    match std::env::args_os().nth(1) {
        Some(folder) => server.store(file::Folder::new(folder)).stdio(),
        None => server.stdio(),
    }
}
