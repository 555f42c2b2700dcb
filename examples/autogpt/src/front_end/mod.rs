//! The agent behind every chat front end that copilot-wire speaks to.
//!
//! One implementation of [`Agent`] serves them all. A request becomes a [`Turn`](crate::runner::Turn)
//! of a conversation, the events of the turn become words of the shared vocabulary, and the question
//! that ends it becomes the front end's own: a dialog where there are dialogs, text elsewhere.
//!
//! | event | the OpenBB Workspace | GitHub Copilot, Meilisearch and OpenAI clients |
//! |---|---|---|
//! | thought, with reasoning, plan and criticism | a step with details | only without `speak`, as a quote |
//! | `speak` | text | text |
//! | a command starts | a step with its arguments | a line of text |
//! | a command ends | a step with its result | |
//! | a command fails | a step with a warning | an error, or text |
//! | a reply that is no command | a step with a warning | |
//! | the sources of results | citations, once a link, when the turn ends | the same |
//! | a question | text, with answers to click on | a dialog, or text |
//!
//! What a sub-agent does has its name in front; what it says is a step and no text.

mod reading;
mod routes;
mod voice;
mod wording;

use std::sync::Arc;

use copilot_wire::protocol::{AgentError, Confirmation, Protocol};
use copilot_wire::{Agent, Reply, Request, async_trait};

use self::voice::Voice;
use crate::run::{End, Question};
use crate::runner::{AutoGpt, TurnEnd, TurnError};

pub use reading::User;
pub use routes::routes;

/// The agent as copilot-wire mounts it. Clones share it.
#[derive(Clone, Debug)]
pub struct FrontEnd {
    agent: Arc<AutoGpt>,
}

impl FrontEnd {
    /// The agent for all front ends. Its profile has no goals: they are what the user says.
    #[must_use]
    pub fn new(agent: AutoGpt) -> Self {
        let agent = Arc::new(agent);
        Self { agent }
    }
}

#[async_trait]
impl<P: Protocol> Agent<P> for FrontEnd {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let conversation = reading::conversation(&request);
        let open = self.agent.question(&conversation).await.map_err(told)?;
        let turn = reading::turn(&request, conversation, open.as_ref());
        let mut voice = Voice::new(&reply);
        let end = match self.agent.turn(turn, &mut voice).await {
            // Nobody is left to be told.
            Err(TurnError::Closed) => return Ok(()),
            end => end.map_err(told)?,
        };
        if let TurnEnd::Finish(end) = &end {
            voice.say(&last_words(end)).await?;
        }
        if end == TurnEnd::NoRun {
            voice.say(NO_RUN).await?;
        }
        if let TurnEnd::Ask(question) = &end {
            voice.before(question).await?;
        }
        voice.cite().await?;
        match end {
            TurnEnd::Ask(question) => Ok(reply.confirm(confirmation::<P>(&question))?),
            _ => Ok(()),
        }
    }
}

const NO_RUN: &str = "There is no question to answer. Tell me a goal, and I start.";

/// The question of the vocabulary. What the model wrote is in a block of code: it can neither look
/// like the question, nor be a link or an image.
fn confirmation<P: Protocol>(question: &Question) -> Confirmation {
    let mut message = wording::code_block(&question.message());
    if !voice::has_dialogs::<P>() {
        message.push_str("\n\n");
        message.push_str(question.answers());
    }
    Confirmation::new(question.id(), question.title(), message)
        .answers(question.suggestions().iter().copied())
}

fn last_words(end: &End) -> String {
    match end {
        End::Complete(reason) => {
            format!("**Task complete.** {}", wording::without_images(reason))
        }
        End::Stopped => "The run has ended.".to_owned(),
        End::Limit(reason) => format!("The run has ended. {reason}"),
    }
}

/// What the user reads when a turn cannot be answered.
fn told(error: TurnError) -> AgentError {
    let message = match &error {
        TurnError::Elsewhere => "This conversation is being answered elsewhere.",
        TurnError::Unreadable => "The run of this conversation cannot be read. Start a new chat.",
        _ => "The run of this conversation cannot be reached. Please try again.",
    };
    AgentError::from(error).user_message(message)
}
