//! The agent for all chat front ends of copilot-wire.
//!
//! One implementation of [`Agent`] serves them all. A request is converted into a
//! [`Turn`](crate::runner::Turn) of a conversation, and its events into parts of the reply. The question
//! at its end is a dialog where the front end has dialogs, and text elsewhere.
//!
//! | event | the OpenBB Workspace | GitHub Copilot, Meilisearch and OpenAI clients |
//! |---|---|---|
//! | thought, with reasoning, plan and criticism | a step with details | only without `speak`, as a quote |
//! | `speak` | text | text |
//! | a command starts | a step with its arguments | a line of text |
//! | a command ends | a step with its result | |
//! | a command fails | a step with a warning | an error, or text |
//! | a reply without a command | a step with a warning | |
//! | the sources of results | citations, one for each URL, at the end of the turn | the same |
//! | a question | text, with answers to click on | a dialog, or text |
//!
//! Events of sub-agents start with their name; what they say is a step, not text.

mod event_writer;
mod markdown;
mod request;
mod routes;

use std::sync::Arc;

use copilot_wire::protocol::{AgentError, Confirmation, Protocol};
use copilot_wire::{Agent, Reply, Request, async_trait};

use self::event_writer::EventWriter;
use crate::run::{End, Question};
use crate::runner::{AutoGpt, TurnEnd, TurnError};

pub use request::User;
pub use routes::routes;

/// The agent, ready to be mounted. Clones share it.
#[derive(Clone, Debug)]
pub struct FrontEnd {
    agent: Arc<AutoGpt>,
}

impl FrontEnd {
    /// Creates the agent for all front ends. If its profile has no goals, they come from the user.
    #[must_use]
    pub fn new(agent: AutoGpt) -> Self {
        let agent = Arc::new(agent);
        Self { agent }
    }
}

#[async_trait]
impl<P: Protocol> Agent<P> for FrontEnd {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let conversation = request::conversation(&request);
        let open = self
            .agent
            .question(&conversation)
            .await
            .map_err(user_error)?;
        let turn = request::turn(&request, conversation, open.as_ref());
        let mut writer = EventWriter::new(&reply);
        let end = match self.agent.turn(turn, &mut writer).await {
            // The client is gone, so there is nobody to report to.
            Err(TurnError::Closed) => return Ok(()),
            end => end.map_err(user_error)?,
        };
        if let TurnEnd::Finish(end) = &end {
            writer.paragraph(&end_text(end)).await?;
        }
        if end == TurnEnd::NoRun {
            writer.paragraph(NO_RUN).await?;
        }
        if let TurnEnd::Ask(question) = &end {
            writer.instructions(question).await?;
        }
        // Sources come last, as front ends show them below the text.
        writer.cite().await?;
        match end {
            TurnEnd::Ask(question) => Ok(reply.confirm(confirmation::<P>(&question))?),
            _ => Ok(()),
        }
    }
}

const NO_RUN: &str = "There is no question to answer. Tell me a goal, and I start.";

/// Returns the question as a confirmation of the vocabulary. The model's text is in a code block,
/// where it can neither imitate the question nor be a link or an image.
fn confirmation<P: Protocol>(question: &Question) -> Confirmation {
    let mut message = markdown::code_block(&question.message());
    if !event_writer::has_dialogs::<P>() {
        message.push_str("\n\n");
        message.push_str(question.answers());
    }
    Confirmation::new(question.id(), question.title(), message)
        .answers(question.suggestions().iter().copied())
}

fn end_text(end: &End) -> String {
    match end {
        End::Complete(reason) => {
            format!("**Task complete.** {}", markdown::without_images(reason))
        }
        End::Stopped => "The run has ended.".to_owned(),
        End::Limit(reason) => format!("The run has ended. {reason}"),
    }
}

/// Returns the error with the message for the user.
fn user_error(error: TurnError) -> AgentError {
    let message = match &error {
        TurnError::Elsewhere => "This conversation is being answered elsewhere.",
        TurnError::Unreadable => "The run of this conversation cannot be read. Start a new chat.",
        _ => "The run of this conversation cannot be reached. Please try again.",
    };
    AgentError::from(error).user_message(message)
}
