//! Asks a question after each text that is given on a line of standard input, and prints the reply.

use std::io::{self, BufRead as _, Write as _};

use copilot_wire::protocol::{AgentError, Confirmation, Conversation, Protocol};
use copilot_wire::testing::{OpenAiClient, Stage};
use copilot_wire::{Agent, Reply, Request, async_trait};
use serde::{Deserialize, Serialize};

#[path = "../../../../src/protocol/markdown/open/mod.rs"]
#[allow(dead_code)]
mod open;

/// What is said and asked in a turn.
#[derive(Deserialize)]
struct Turn {
    text: String,
    title: String,
    message: String,
}

/// The reply, and its parts; nothing is closed, and the question is none, where it was refused.
#[derive(Serialize)]
struct Said {
    text: String,
    closers: Option<String>,
    question: String,
}

/// Asks what the user says.
struct Asker;

#[async_trait]
impl<P: Protocol> Agent<P> for Asker {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let turn: Turn = serde_json::from_str(&request.prompt().unwrap_or_default())?;
        Ok(reply.confirm(Confirmation::new("delete-1", turn.title, turn.message))?)
    }
}

fn ask(line: &str) -> Result<Said, Box<dyn std::error::Error>> {
    let turn: Turn = serde_json::from_str(line)?;
    let mut constructs = open::OpenConstructs::new();
    constructs.feed(&turn.text);
    let mut stage = Stage::new(OpenAiClient::new("any"), Asker);
    let question = futures::executor::block_on(stage.say(line))?.text();
    Ok(Said {
        text: turn.text,
        closers: constructs.closers().ok(),
        question,
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        serde_json::to_writer(&mut out, &ask(&line?)?)?;
        writeln!(out)?;
    }
    Ok(())
}
