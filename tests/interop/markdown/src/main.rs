//! Asks a question after each text that is given on a line of standard input, on every front end that
//! shows questions as text, and prints the reply.

use std::io::{self, BufRead as _, Write as _};

use copilot_wire::ag_ui::testing::App;
use copilot_wire::anthropic::testing::AnthropicClient;
use copilot_wire::meilisearch::testing::SearchChat;
use copilot_wire::openai::testing::OpenAiClient;
use copilot_wire::openbb::testing::Workspace;
use copilot_wire::protocol::{AgentError, Confirmation, Conversation, Protocol};
use copilot_wire::responses::testing::ResponsesClient;
use copilot_wire::testing::{FrontEnd, Harness};
use copilot_wire::ui_stream::testing::ChatPage;
use copilot_wire::{Agent, Reply, Request, async_trait};
use serde::{Deserialize, Serialize};

type Failure = Box<dyn std::error::Error>;

/// The text and the question of a turn.
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
fn reply<F: FrontEnd>(front: F, turn: &Turn) -> Result<Option<String>, Failure> {
    let mut harness = Harness::new(front, Asker);
    let prompt = serde_json::to_string(turn)?;
    let transcript = futures::executor::block_on(harness.prompt(&prompt))?;
    Ok(transcript.faults().is_empty().then(|| transcript.text()))
}

/// Returns what every front end shows, which is the same text: so one is enough for the renderers.
fn replies(turn: &Turn) -> Result<Option<String>, Failure> {
    let first = reply(OpenAiClient::new("any"), turn)?;
    let others = [
        ("ag_ui", reply(App::new(), turn)?),
        ("anthropic", reply(AnthropicClient::new("any"), turn)?),
        ("meilisearch", reply(SearchChat::new("any"), turn)?),
        ("openbb", reply(Workspace::new(), turn)?),
        ("responses", reply(ResponsesClient::new("any"), turn)?),
        ("ui_stream", reply(ChatPage::new(), turn)?),
    ];
    // A question that begins its own block needs no blank line before it.
    let shown = |reply: &Option<String>| match (reply, turn.text.is_empty()) {
        (Some(reply), true) => Some(reply.trim_start_matches('\n').to_owned()),
        (reply, _) => reply.clone(),
    };
    for (name, other) in others {
        if shown(&other) != shown(&first) {
            let text = &turn.text;
            return Err(format!("{name} after {text:?}: {other:?} instead of {first:?}").into());
        }
    }
    Ok(first)
}

fn ask(line: &str) -> Result<Said, Failure> {
    let turn: Turn = serde_json::from_str(line)?;
    let bare = Turn {
        text: String::new(),
        ..turn.clone()
    };
    let question = replies(&bare)?.ok_or("the question alone was refused")?;
    let whole = replies(&turn)?;
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

fn main() -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        serde_json::to_writer(&mut out, &ask(&line?)?)?;
        writeln!(out)?;
    }
    Ok(())
}
