//! Parsing of a model's reply: thoughts, and one command.
//!
//! There are two codecs with the same result, a [`Reply`]: JSON text, as in the original, and native tool calls.
//! Parsing a damaged JSON reply returns [`Reading::Damaged`]. The model may repair it once ([`repair_request`]);
//! [`finish`] then always returns a reply.
//!
//! The order to read in: [`read`] below, `hardened` as the default parser, `extract` for the checks of a command,
//! `limit` and `repair`. `original` is only for comparison: the parser of the original program.

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
    /// The stage that produced the reply, which the fixtures compare.
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
    pub fn new(name: &str, args: Value) -> Self {
        Self {
            name: name.to_owned(),
            args,
        }
    }

    /// Returns `true` if the command is an error report: its name starts with `error`. A reply without a command
    /// becomes such a report, as in the original, so that errors and commands are handled by the same code.
    pub fn is_error_report(&self) -> bool {
        let start = self.name.get(..5);
        start.is_some_and(|start| start.eq_ignore_ascii_case("error"))
    }
}

/// The name with which the original marks the user's feedback among results. A model must not propose it.
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
    /// The original's stages have failed.
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
    /// Not parsed, even after a repair, if there was one.
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
pub fn read(text: &str, rules: ReplyRules) -> Reading {
    match rules {
        ReplyRules::Original => original::read(text),
        ReplyRules::Hardened => hardened::read(text),
    }
}

/// Completes a damaged reply with the model's repair, if there is one.
pub fn finish(damaged: &str, answer: Option<&str>, rules: ReplyRules) -> Reply {
    match rules {
        ReplyRules::Original => original::finish(damaged, answer.unwrap_or_default()),
        ReplyRules::Hardened => hardened::finish(damaged, answer),
    }
}
