//! The border of the machine: effects, inputs, questions and events.

use std::fmt;

use copilot_wire::protocol::plain_text;
use serde::{Deserialize, Serialize};

use crate::agent_loop::model::{ModelReply, ModelRequest};
use crate::agent_loop::reply::{Command, Thoughts};
use crate::commands::{Outcome, Source};
use crate::escape::{indented, line};
use crate::json::Value;

/// An input of a run: the result of an effect.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// The human's answer to a question.
    Answer(Answer),
    /// The result of a memory query, best first, and the date as `Wed Apr 12 09:49:23 2023`.
    Memories {
        /// The texts.
        texts: Vec<String>,
        /// The date.
        now: String,
    },
    /// The text was stored in the memory, or could not be.
    Remembered,
    /// The model's reply.
    Reply(ModelReply),
    /// The model failed, for this reason.
    ModelFailed(String),
    /// The command ended.
    Ended(Outcome),
    /// A process that no longer exists has started the command. It is unknown whether the command had an effect.
    Lost,
    /// The command was not started, and can no longer be started.
    Withdrawn,
    /// The question about a command is too long to be shown completely, so the user was not asked.
    TooLong {
        /// The number of characters that the question has.
        shown: usize,
        /// The maximum number of characters of a question.
        most: usize,
    },
}

/// The user's answer to a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// A typed text: `y`, `y -N`, `n`, or feedback.
    Text(String),
    /// A typed text that answers a question of a chat. If this is not the open question, only feedback has an effect.
    Reply {
        /// The id of the question.
        id: String,
        /// The text.
        text: String,
    },
    /// A dialog of the front end was accepted or dismissed.
    Confirmation {
        /// The id of the question.
        id: String,
        /// `true` if it was accepted.
        accepted: bool,
    },
    /// An answer that does not count, such as one with a wrong code. Nothing is done, and an open question
    /// stays open.
    Void,
}

impl Answer {
    /// Returns the typed text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Reply { text, .. } => Some(text),
            Self::Confirmation { .. } | Self::Void => None,
        }
    }
}

/// The next action that a run requests. Each effect is answered by one [`Input`]; after [`Ask`](Self::Ask) it arrives
/// in the next turn, and after [`Finish`](Self::Finish) there is none.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Query the memory; answered by [`Input::Memories`].
    Recall {
        /// The query.
        query: String,
        /// The number of texts.
        count: usize,
    },
    /// Call the model; answered by [`Input::Reply`] or [`Input::ModelFailed`].
    CallModel(ModelRequest),
    /// Run a command; answered by [`Input::Ended`]. It must never run twice with one id.
    Execute {
        /// The id of the execution.
        id: String,
        /// The command.
        command: Command,
    },
    /// Prevent a command from starting, because the user has objected; answered by [`Input::Withdrawn`], or by
    /// [`Input::Lost`] if it has started.
    Withdraw {
        /// The id of the execution.
        id: String,
    },
    /// Store a text in the memory; answered by [`Input::Remembered`].
    Remember(String),
    /// Ask the user: the turn ends. The next turn brings [`Input::Answer`].
    Ask(Question),
    /// End the run.
    Finish(End),
}

impl Effect {
    /// Returns `true` if an input answers this effect.
    pub(super) fn takes(&self, input: &Input) -> bool {
        matches!(
            (self, input),
            (Self::Recall { .. }, Input::Memories { .. })
                | (Self::CallModel(_), Input::Reply(_) | Input::ModelFailed(_))
                | (Self::Execute { .. }, Input::Ended(_) | Input::Lost)
                | (Self::Withdraw { .. }, Input::Withdrawn | Input::Lost)
                | (Self::Remember(_), Input::Remembered)
                | (Self::Ask(_), Input::Answer(_))
                | (Self::Ask(Question::Command(_)), Input::TooLong { .. })
        )
    }
}

/// A question to the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Question {
    /// The approval of a command.
    Command(Proposal),
    /// The continuation of a paused run.
    GoOn {
        /// The id of the question.
        id: String,
        /// The reason for the pause.
        reason: Reason,
    },
}

impl Question {
    /// Returns the id that a confirmation must carry.
    pub fn id(&self) -> &str {
        match self {
            Self::Command(proposal) => &proposal.id,
            Self::GoOn { id, .. } => id,
        }
    }

    /// Returns the title of a dialog.
    pub fn title(&self) -> String {
        match self {
            Self::Command(proposal) => format!("Run {}?", line(&proposal.command.name)),
            Self::GoOn { .. } => "Go on?".to_owned(),
        }
    }

    /// Returns the message of a dialog.
    pub fn message(&self) -> String {
        match self {
            Self::Command(proposal) => proposal.to_string(),
            Self::GoOn { reason, .. } => reason.to_string(),
        }
    }

    /// Returns the number of characters of the question as a line of text ([`plain_text`]).
    pub fn shown_length(&self) -> usize {
        let (title, message) = (self.title(), self.message());
        let line = plain_text(&format!("{title} {message}\n{}", self.further_answers()));
        line.chars().count()
    }

    /// Returns the instructions for answering in a terminal.
    pub fn answers(&self) -> &'static str {
        match self {
            Self::Command(_) => {
                "Enter `y` to run it, `y -N` to run N commands, `n` to end, or say what to do instead."
            }
            Self::GoOn { .. } => "Enter `y` to go on, `n` to end, or say what to do instead.",
        }
    }

    /// Returns the instructions for answers in a chat other than yes and no, which the library adds to the question.
    pub fn further_answers(&self) -> &'static str {
        match self {
            Self::Command(_) => {
                "To run N commands, reply: yes CODE -N. A no ends the run. Or say what to do instead."
            }
            Self::GoOn { .. } => "A no ends the run. Or say what to do instead.",
        }
    }

    /// Returns the instructions for answering in a dialog.
    pub fn dialog_answers(&self) -> &'static str {
        match self {
            Self::Command(_) => {
                "Accept to run it, dismiss to go on without it, reply `n` to end, or say what to do instead."
            }
            Self::GoOn { .. } => {
                "Accept to go on, dismiss to wait, reply `n` to end, or say what to do instead."
            }
        }
    }

    /// Returns the question as text for a terminal, with the instructions for answering.
    pub fn text(&self) -> String {
        format!("{}\n{}", self.message(), self.answers())
    }
}

/// A command that waits for the user's approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// The id: the run, the sub-agent, the step and a digest of the command. Any other proposal has another id.
    pub id: String,
    /// The name of the sub-agent that proposes the command; `None` for the main agent.
    pub agent: Option<String>,
    /// The command.
    pub command: Command,
    /// The reason why the command asks although its policy or a grant would allow it to run.
    pub reason: Option<Reason>,
}

/// Displays the command so that text of the model cannot imitate or hide a line of the question.
impl fmt::Display for Proposal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NEXT ACTION: ")?;
        if let Some(agent) = &self.agent {
            // The model chooses the name too: with a quote it could end the name and imitate the remaining line.
            let agent = line(agent).replace('"', "\\\"");
            write!(f, "agent \"{agent}\", ")?;
        }
        write!(f, "COMMAND = {}", line(&self.command.name))?;
        match &self.command.args {
            Value::Object(args) => {
                for (name, value) in args.iter() {
                    let value = value
                        .as_text()
                        .map_or_else(|| value.to_string(), str::to_owned);
                    write!(f, "\n    {}: {}", line(name), indented(&value, 8))?;
                }
            }
            other => write!(f, "\n    {}", indented(&other.to_string(), 8))?,
        }
        match &self.reason {
            Some(reason) => write!(f, "\n{reason}"),
            None => Ok(()),
        }
    }
}

/// The reason why a run pauses, or asks about a command that needs no approval otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Reason {
    /// Two commands alternate.
    #[error("Two commands are being run in turns.")]
    Alternation,
    /// A part of the request is too large for the context.
    #[error("Something is too large: {}.", line(.0))]
    Context(String),
    /// The token budget is used up.
    #[error("The budget of {0} tokens is used up.")]
    Budget(u64),
    /// Replies could not be parsed.
    #[error("The model's replies cannot be read. The last one was:\n    {}", indented(.0, 4))]
    Damaged(String),
    /// The last turn was interrupted.
    #[error("The last answer was interrupted.")]
    Interrupted,
    /// The result of a command is lost.
    #[error("The command {} was started, but its result is lost. It may or may not have worked.", line(.0))]
    Lost(String),
    /// The model failed.
    #[error("The model did not answer. {}", line(.0))]
    Model(String),
    /// The limit of model calls was reached.
    #[error("The limit of {0} model calls is reached.")]
    ModelCalls(u64),
    /// The same command was proposed repeatedly.
    #[error("The same command was proposed {0} times in a row.")]
    Repeats(usize),
    /// The time of the turn is over.
    #[error("The time for this turn is used up.")]
    Time,
    /// The limit of commands without a question was reached.
    #[error("{0} commands ran without a question.")]
    Unasked(u64),
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// The model reports that the task is complete, for this reason.
    Complete(String),
    /// The user ended it.
    Stopped,
    /// A limit ended it.
    Limit(Reason),
}

/// An event to show to the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The name of the sub-agent whose event it is; `None` for the main agent.
    pub agent: Option<String>,
    /// The kind, with the content.
    pub kind: EventKind,
}

impl Event {
    pub(crate) fn notice(text: &str) -> Self {
        Self {
            agent: None,
            kind: EventKind::Notice(text.to_owned()),
        }
    }
}

/// The kinds of [`Event`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EventKind {
    /// Thoughts of the model.
    Thoughts(Thoughts),
    /// A reply that could not be parsed, with the reason.
    Damaged(String),
    /// A command starts.
    Started(Command),
    /// A command ended.
    Ended {
        /// Its name.
        name: String,
        /// `true` for a success.
        ok: bool,
        /// Its result.
        text: String,
    },
    /// The sources of the result.
    Sources(Vec<Source>),
    /// A message of the program to the user.
    Notice(String),
}
