//! What a model's reply says: thoughts, and one command.
//!
//! Two codecs give the same [`Reply`]: JSON text, as the original asked for, and native tool calls.
//! A JSON reply that cannot be read comes back as [`Reading::Damaged`]; the model may repair it once
//! ([`repair_request`]), after which [`finish`] always gives a reply.

mod hardened;
mod original;
mod repair;
mod shape;
mod thoughts;
mod tools;

use serde::{Deserialize, Serialize};

use crate::json::Value;

pub use repair::repair_request;
pub use thoughts::Thoughts;
pub use tools::read_tool_call;

/// Which faults of a JSON reply are cured, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplyRules {
    /// Everything that needs no guess: see [`crate::json::find_object`].
    #[default]
    Hardened,
    /// Exactly the stages of the original program.
    Original,
}

/// A reply that was understood as far as it can be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reply {
    /// What the model thinks; only shown.
    pub thoughts: Thoughts,
    /// The command it proposes, or why there is none.
    pub command: Result<Command, ReplyError>,
    /// How the reply was read.
    pub stage: Stage,
}

/// A command that a model proposes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Command {
    /// Its name.
    pub name: String,
    /// Its arguments: an object, if the model kept to the format.
    pub args: Value,
}

impl Command {
    /// A command.
    #[must_use]
    pub fn new(name: &str, args: Value) -> Self {
        Self {
            name: name.to_owned(),
            args,
        }
    }

    /// Whether the dispatcher treats it as an error report: any name that starts with `error`.
    #[must_use]
    pub fn is_error_report(&self) -> bool {
        let start = self.name.get(..5);
        start.is_some_and(|start| start.eq_ignore_ascii_case("error"))
    }
}

/// The name that stands for feedback of the human in a result. A model must not propose it.
pub(crate) const HUMAN_FEEDBACK: &str = "human_feedback";

/// Why a reply holds no command. Displays the text that the model reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{message}")]
#[non_exhaustive]
pub struct ReplyError {
    /// The stable kind.
    pub kind: ReplyErrorKind,
    /// The text that the model reads.
    pub message: String,
}

/// The kinds of [`ReplyError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReplyErrorKind {
    /// The value, or its command, is of the wrong type.
    BadShape,
    /// The original's final failure.
    InvalidJson,
    /// There is no `command`.
    MissingCommand,
    /// The command has no `name`.
    MissingName,
    /// The name belongs to the program.
    ReservedName,
    /// The reply is prose, or damaged beyond repair.
    UnparseableReply,
}

/// How a JSON reply was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// As it was.
    Direct,
    /// After a cure.
    Corrected,
    /// After text around the object was cut off.
    Extracted,
    /// Out of the answer of the model that was asked to repair it.
    RepairedByModel,
    /// Not at all.
    Unrepaired,
    /// Not at all, and nothing more is tried.
    HardFail,
    /// It was a native tool call.
    Tool,
}

/// The first reading of a JSON reply.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reading {
    /// It could be read, or is a final failure.
    Done(Box<Reply>),
    /// It could not; this is the text that a model may repair.
    Damaged(String),
}

/// Reads a JSON reply.
#[must_use]
pub fn read(text: &str, rules: ReplyRules) -> Reading {
    match rules {
        ReplyRules::Original => original::read(text),
        ReplyRules::Hardened => hardened::read(text),
    }
}

/// Ends the reading of a damaged reply with the answer of the model that was asked to repair it, or
/// without one.
#[must_use]
pub fn finish(damaged: &str, answer: Option<&str>, rules: ReplyRules) -> Reply {
    match rules {
        ReplyRules::Original => original::finish(damaged, answer.unwrap_or_default()),
        ReplyRules::Hardened => hardened::finish(damaged, answer),
    }
}
