//! The agent for all chat front ends of copilot-wire.
//!
//! One implementation of [`Agent`] serves all of them. `request` converts a request into a
//! [`Turn`](crate::agent_loop::runner::Turn) of a conversation, and `event_writer` the events of the turn into parts of
//! the reply. The question at the end is a dialog if the front end has dialogs. Otherwise it is a line of text, and a
//! yes must repeat the code at its end. An answer that does not count runs nothing: the question is asked again,
//! without other text, with the reason.
//!
//! | event | the OpenBB Workspace | GitHub Copilot, Meilisearch and OpenAI clients |
//! |---|---|---|
//! | thought, with reasoning, plan and criticism | a step with details | only without `speak`, as a quote, or behind `Thoughts:` |
//! | `speak` | text | text |
//! | a command starts | a step with its arguments | a line of text |
//! | a command ends | a step with its result | |
//! | a command fails | a step with a warning | an error, or text |
//! | a reply without a command | a step with a warning | |
//! | the sources of results | citations, one for each URL, at the end of the turn | the same, or a list of plain text above a question |
//! | a question | text, with a no to click on | a dialog, or text |
//!
//! If the question is text, all text above it is plain text without markup (see
//! [`plain_text`](copilot_wire::protocol::plain_text)), because a yes counts only below plain text. Otherwise, and in
//! the report at the end, the texts are Markdown without images.
//!
//! Events of sub-agents start with their name; their words are a step, not text.

mod event_writer;
mod markdown;
mod request;
mod routes;
mod style;

use std::sync::Arc;

use copilot_wire::protocol::{AgentError, Confirmation, Protocol, SendError, Verdict};
use copilot_wire::{Agent, Reply, Request, async_trait};

use self::event_writer::EventWriter;
use self::request::Void;
use self::style::Style;
use crate::agent_loop::run::{End, Question};
use crate::agent_loop::runner::{AutoGpt, TurnEnd, TurnError};
use crate::escape;

pub use routes::routes;

/// The agent, ready to be mounted. Clones share it.
///
/// Conversations and questions belong to the [`User`](copilot_wire::protocol::User) of a request, which [`routes`] sets
/// from a key. All callers without one are one user.
#[derive(Clone, Debug)]
pub struct FrontEnd {
    agent: Arc<AutoGpt>,
}

impl FrontEnd {
    /// Creates the agent for all front ends. If its profile has no goals, they come from the user. A command that
    /// takes more than 8,000 characters to show is not asked about and not run.
    pub fn new(agent: AutoGpt) -> Self {
        let longest = agent.longest_question.unwrap_or(usize::MAX);
        let agent = Arc::new(AutoGpt {
            longest_question: Some(longest.min(LONGEST_QUESTION)),
            ..agent
        });
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
        let (turn, void) = request::turn(&request, conversation, open.as_ref());
        if void == Some(Void::Verdict(Verdict::Used)) {
            // A copy of this request at another server may have used the answer.
            self.agent.await_copy(&turn).await.map_err(user_error)?;
        }
        let mut writer = EventWriter::new(&reply);
        let end = match self.agent.turn(turn, &mut writer).await {
            // The client has disconnected, so no error can be sent.
            Err(TurnError::Closed) => return Ok(()),
            end => end.map_err(user_error)?,
        };
        if let TurnEnd::Finish(end) = &end {
            writer.paragraph(&end_text(end)).await?;
        }
        if end == TurnEnd::NoRun {
            let reason = void.map(Void::reason).unwrap_or_default();
            let text = format!("{reason} {NO_RUN}");
            writer.paragraph(text.trim_start()).await?;
        }
        if let (TurnEnd::AskAgain(_), Some(Void::Typed)) = (&end, void) {
            writer.paragraph(Void::Typed.reason()).await?;
        }
        if let TurnEnd::Ask(question) | TurnEnd::AskAgain(question) = &end {
            writer.instructions(question).await?;
        }
        // Sources come last, as front ends show them below the text.
        let asks = matches!(end, TurnEnd::Ask(_) | TurnEnd::AskAgain(_));
        writer.cite(asks).await?;
        let asked = match (end, void) {
            (TurnEnd::AskAgain(question), Some(Void::Verdict(verdict))) => {
                reply.ask_again(verdict, confirmation::<P>(&question)).await
            }
            (TurnEnd::Ask(question) | TurnEnd::AskAgain(question), _) => {
                reply.confirm(confirmation::<P>(&question))
            }
            _ => Ok(()),
        };
        asked.map_err(unasked_error)
    }
}

const NO_RUN: &str = "There is no question to answer. Tell me a goal, and I start.";

/// The number of characters that a question in text may have.
const LONGEST_QUESTION: usize = 8_000;

/// Returns the question as a confirmation of the vocabulary.
///
/// In text the library shows all of it on one line. A dialog may render Markdown: there the model's text is in a
/// code block, where it can neither imitate the question nor be a link or an image.
fn confirmation<P: Protocol>(question: &Question) -> Confirmation {
    let (title, text) = (question.title(), question.message());
    let message = match Style::of::<P>() {
        Style::Markdown => markdown::code_block(&text),
        Style::Plain => {
            let text = match question {
                // An excerpt fits into a question, even if each character is shown as its code point.
                Question::GoOn { .. } if question.shown_length() > LONGEST_QUESTION => {
                    escape::shortened_to(&text, escape::EXCERPT)
                }
                // A command is never cut: one that is too long is not asked about.
                _ => text,
            };
            format!("{text}\n{}", question.further_answers())
        }
    };
    Confirmation::new(question.id(), title, message).answers(["no"])
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

/// Returns the error of a question that could not be asked, with the message for the user.
fn unasked_error(error: SendError) -> AgentError {
    match error {
        SendError::Invalid(_) => AgentError::from(error).user_message(
            "The question cannot be shown to you as a whole, so nothing was run. Say what to do instead.",
        ),
        error => error.into(),
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
