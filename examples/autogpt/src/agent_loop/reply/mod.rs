//! Parsing of a model's reply: thoughts, and one command.
//!
//! Two codecs give the same [`Reply`]: JSON text, as in the original, and native tool calls. A JSON
//! reply that cannot be parsed gives [`Reading::Damaged`]. The model may repair it once
//! ([`repair_request`]); then [`finish`] always gives a reply.

mod extract;
mod hardened;
mod limit;
mod original;
mod repair;
mod thoughts;
mod tools;

use serde::{Deserialize, Serialize};

use crate::json::Value;

pub(crate) use limit::LONGEST;
pub use repair::repair_request;
pub use thoughts::Thoughts;
pub use tools::read_tool_call;

/// The rules for parsing JSON replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplyRules {
    /// All faults that need no guess are corrected: see [`crate::json::find_object`].
    #[default]
    Hardened,
    /// The stages of the original program, without changes.
    Original,
}

/// A parsed reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The thoughts, which are only shown.
    pub thoughts: Thoughts,
    /// The proposed command, or the reason why there is none.
    pub command: Result<Command, ReplyError>,
    /// The stage that produced the reply.
    pub stage: Stage,
}

/// A command proposed by a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Its name.
    pub name: String,
    /// The arguments: an object, if the model followed the format.
    pub args: Value,
}

impl Command {
    /// Creates a command.
    #[must_use]
    pub fn new(name: &str, args: Value) -> Self {
        Self {
            name: name.to_owned(),
            args,
        }
    }

    /// Returns `true` if the command is an error report: its name starts with `error`.
    #[must_use]
    pub fn is_error_report(&self) -> bool {
        let start = self.name.get(..5);
        start.is_some_and(|start| start.eq_ignore_ascii_case("error"))
    }
}

/// The name of the user's feedback among results. A model must not propose it.
pub(crate) const HUMAN_FEEDBACK: &str = "human_feedback";

/// An error of a reply without a command. Displays the text for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{message}")]
pub struct ReplyError {
    /// The kind, which is stable.
    pub kind: ReplyErrorKind,
    /// The text for the model.
    pub message: String,
}

/// The kinds of [`ReplyError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyErrorKind {
    /// The value, or its command, has the wrong type.
    BadShape,
    /// The last failure of the original's stages.
    InvalidJson,
    /// There is no `command`.
    MissingCommand,
    /// The command has no `name`.
    MissingName,
    /// The name is reserved for the program.
    ReservedName,
    /// The reply is prose, or damaged beyond repair.
    UnparseableReply,
}

/// The stage at which a reply was parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Parsed without changes.
    Direct,
    /// Parsed after a correction.
    Corrected,
    /// Parsed after text around the object was removed.
    Extracted,
    /// Parsed from the repair by the model.
    RepairedByModel,
    /// Not parsed, also not after the repair.
    Unrepaired,
    /// Not parsed, and not repairable.
    HardFail,
    /// A native tool call.
    Tool,
}

/// The result of parsing a JSON reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// A reply, or a final failure.
    Done(Box<Reply>),
    /// The text to repair.
    Damaged(String),
}

/// Parses a JSON reply.
#[must_use]
pub fn read(text: &str, rules: ReplyRules) -> Reading {
    match rules {
        ReplyRules::Original => original::read(text),
        ReplyRules::Hardened => hardened::read(text),
    }
}

/// Completes a damaged reply with the model's repair, if there is one.
#[must_use]
pub fn finish(damaged: &str, answer: Option<&str>, rules: ReplyRules) -> Reply {
    match rules {
        ReplyRules::Original => original::finish(damaged, answer.unwrap_or_default()),
        ReplyRules::Hardened => hardened::finish(damaged, answer),
    }
}
