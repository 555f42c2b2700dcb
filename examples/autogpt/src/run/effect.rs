use std::fmt;

use serde::{Deserialize, Serialize};

use crate::command::{Outcome, Source};
use crate::json::Value;
use crate::model::{ModelReply, ModelRequest};
use crate::reply::{Command, Thoughts};
use crate::visible::{indented, line};

/// What the outside tells a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Input {
    /// The human's answer to a question.
    Answer(Answer),
    /// What was remembered, best first, and the date as `Wed Apr 12 09:49:23 2023`.
    Memories {
        /// The texts.
        texts: Vec<String>,
        /// The date.
        now: String,
    },
    /// A text was remembered, or could not be.
    Remembered,
    /// The model's answer.
    Reply(ModelReply),
    /// The model did not answer, for this reason.
    ModelFailed(String),
    /// A command ended.
    Ended(Outcome),
    /// A command was started by a process that is gone; whether it had its effect is not known.
    Lost,
    /// A command was not started, and never will be.
    Withdrawn,
}

/// The human's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Answer {
    /// Typed: `y`, `y -N`, `n`, or feedback.
    Text(String),
    /// Typed below a question of a chat, which may not be the newest one: an approval, or an end, of
    /// any other question does nothing.
    Reply {
        /// The id of the question.
        id: String,
        /// The text.
        text: String,
    },
    /// A dialog of the front end was accepted or dismissed.
    Confirmation {
        /// The id of the question, as it was asked.
        id: String,
        /// Whether it was accepted.
        accepted: bool,
    },
}

impl Answer {
    /// What was typed.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Reply { text, .. } => Some(text),
            Self::Confirmation { .. } => None,
        }
    }
}

/// What a run wants from the outside next. Each but the last two is answered by one [`Input`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Effect {
    /// Look up memories; answered by [`Input::Memories`].
    Recall {
        /// What to look for.
        query: String,
        /// How many.
        count: usize,
    },
    /// Ask the model; answered by [`Input::Reply`] or [`Input::ModelFailed`].
    CallModel(ModelRequest),
    /// Run a command; answered by [`Input::Ended`]. It must not be run twice under one id.
    Execute {
        /// The id of this execution.
        id: String,
        /// The command.
        command: Command,
    },
    /// Make sure that a command never starts; answered by [`Input::Withdrawn`], or by
    /// [`Input::Lost`] if it has started.
    Withdraw {
        /// The id of its execution.
        id: String,
    },
    /// Remember a text; answered by [`Input::Remembered`].
    Remember(String),
    /// Ask the human: the turn ends. The next turn brings [`Input::Answer`].
    Ask(Question),
    /// The run is over.
    Finish(End),
}

impl Effect {
    /// Whether an input answers this effect.
    pub(super) fn takes(&self, input: &Input) -> bool {
        matches!(
            (self, input),
            (Self::Recall { .. }, Input::Memories { .. })
                | (Self::CallModel(_), Input::Reply(_) | Input::ModelFailed(_))
                | (Self::Execute { .. }, Input::Ended(_) | Input::Lost)
                | (Self::Withdraw { .. }, Input::Withdrawn | Input::Lost)
                | (Self::Remember(_), Input::Remembered)
                | (Self::Ask(_), Input::Answer(_))
        )
    }
}

/// A question to the human.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Question {
    /// May this command run?
    Command(Proposal),
    /// The run stopped by itself. Shall it go on?
    GoOn {
        /// The id of the question.
        id: String,
        /// Why it stopped.
        reason: Reason,
    },
}

impl Question {
    /// The id that a confirmation must carry.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Command(proposal) => &proposal.id,
            Self::GoOn { id, .. } => id,
        }
    }

    /// A title for a dialog.
    #[must_use]
    pub fn title(&self) -> String {
        match self {
            Self::Command(proposal) => format!("Run {}?", line(&proposal.command.name)),
            Self::GoOn { .. } => "Go on?".to_owned(),
        }
    }

    /// What the dialog is about.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::Command(proposal) => proposal.to_string(),
            Self::GoOn { reason, .. } => reason.to_string(),
        }
    }

    /// How to answer in text.
    #[must_use]
    pub fn answers(&self) -> &'static str {
        match self {
            Self::Command(_) => {
                "Enter `y` to run it, `y -N` to run N commands, `n` to end, or say what to do instead."
            }
            Self::GoOn { .. } => "Enter `y` to go on, `n` to end, or say what to do instead.",
        }
    }

    /// The question as text, with the answers that it takes.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}\n{}", self.message(), self.answers())
    }

    /// The answers that a front end may offer.
    #[must_use]
    pub fn suggestions(&self) -> &'static [&'static str] {
        match self {
            Self::Command(_) => &["y", "y -3", "n"],
            Self::GoOn { .. } => &["y", "n"],
        }
    }
}

/// A command that waits for the human.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Proposal {
    /// Run, step and digest of the command: an approval of anything else does not have it.
    pub id: String,
    /// The name of the sub-agent that proposes it.
    pub agent: Option<String>,
    /// The command.
    pub command: Command,
    /// Why it asks although its policy or a granted count would let it run.
    pub reason: Option<Reason>,
}

/// Readable. Nothing that the model wrote can look like a line of ours, or hide a part of one.
impl fmt::Display for Proposal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NEXT ACTION: ")?;
        if let Some(agent) = &self.agent {
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

/// Why a run stopped by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// Two commands take turns.
    #[error("Two commands are being run in turns.")]
    Alternation,
    /// Something is too large for the context.
    #[error("Something is too large: {}.", line(.0))]
    Context(String),
    /// The caller's budget is used up.
    #[error("The budget of {0} tokens is used up.")]
    Budget(u64),
    /// Replies could not be read.
    #[error("The model's replies cannot be read. The last one was:\n    {}", indented(.0, 4))]
    Damaged(String),
    /// The last turn stopped on its way.
    #[error("The last answer was interrupted.")]
    Interrupted,
    /// The result of a command is lost.
    #[error("The command {} was started, but its result is lost. It may or may not have worked.", line(.0))]
    Lost(String),
    /// The model did not answer.
    #[error("The model did not answer: {}.", line(.0))]
    Model(String),
    /// The limit of model calls is reached.
    #[error("The limit of {0} model calls is reached.")]
    ModelCalls(u64),
    /// The same command again and again.
    #[error("The same command was proposed {0} times in a row.")]
    Repeats(usize),
    /// The turn took too long.
    #[error("The time for this turn is used up.")]
    Time,
    /// Enough commands ran without a question.
    #[error("{0} commands ran without a question.")]
    Unasked(u64),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum End {
    /// The model says that the task is complete, for this reason.
    Complete(String),
    /// The human ended it.
    Stopped,
    /// A limit ended it.
    Limit(Reason),
}

/// Something to show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Event {
    /// The name of the sub-agent that it is about.
    pub agent: Option<String>,
    /// What it is.
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
#[non_exhaustive]
pub enum EventKind {
    /// The model thinks.
    Thoughts(Thoughts),
    /// A reply could not be read; the text says why.
    Damaged(String),
    /// A command starts.
    Started(Command),
    /// A command ended.
    Ended {
        /// Its name.
        name: String,
        /// Whether it succeeded.
        ok: bool,
        /// Its result.
        text: String,
    },
    /// Where the result comes from.
    Sources(Vec<Source>),
    /// Something that the human should know.
    Notice(String),
}
