//! Asks a question after each text that is given on a line of standard input, and prints the reply.

use std::io::{self, BufRead as _, Write as _};

use copilot_wire::openai::testing::OpenAiClient;
use copilot_wire::protocol::{AgentError, Confirmation, Conversation, Protocol};
use copilot_wire::testing::Stage;
use copilot_wire::{Agent, Reply, Request, async_trait};
use serde::{Deserialize, Serialize};

/// What is said and asked in a turn.
#[derive(Clone, Deserialize, Serialize)]
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
        reply.text(turn.text).await?;
        Ok(reply.confirm(Confirmation::new("delete-1", turn.title, turn.message))?)
    }
}

/// Returns what the agent writes in a turn; `None` if it may not ask.
fn reply(turn: &Turn) -> Result<Option<String>, Box<dyn std::error::Error>> {
    let mut stage = Stage::new(OpenAiClient::new("any"), Asker);
    let prompt = serde_json::to_string(turn)?;
    let transcript = futures::executor::block_on(stage.say(&prompt))?;
    Ok(transcript.faults().is_empty().then(|| transcript.text()))
}

fn ask(line: &str) -> Result<Said, Box<dyn std::error::Error>> {
    let turn: Turn = serde_json::from_str(line)?;
    let bare = Turn {
        text: String::new(),
        ..turn.clone()
    };
    let question = reply(&bare)?.ok_or("the question alone was refused")?;
    let whole = reply(&turn)?;
    let closers = whole.as_deref().and_then(|whole| {
        let rest = whole.strip_prefix(&*turn.text)?;
        rest.strip_suffix(&*question)
    });
    Ok(Said {
        closers: closers.map(str::to_owned),
        text: turn.text,
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
