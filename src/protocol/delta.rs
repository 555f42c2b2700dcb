//! The deltas of an answer, which the events of its stream contain.

use std::borrow::Cow;

use super::{Failure, Part};
use crate::json::Members;

/// A piece of an answer, as [`Protocol::deltas`](super::Protocol::deltas) reads it from an event: the inverse of the
/// parts that a [`Session`](super::Session) writes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Delta<'a> {
    /// A piece of the answer's text, or of a refusal. It may be empty.
    Text(&'a str),
    /// The complete text of an item of the answer, at its end. Some servers send it only there.
    ItemText(&'a str),
    /// The complete text of the answer, at its end. Some servers send it only there.
    WholeText(&'a str),
    /// A part of the shared vocabulary. Reasoning is a piece, and usage is the total of the stream so far.
    Part(Part<'a>),
    /// A fragment of a call, or a complete call.
    Call(CallDelta<'a>),
    /// The name of the model that answers.
    Model(&'a str),
    /// A piece of another choice than the first, which is the answer.
    OtherChoice {
        /// The index of the choice.
        index: u32,
        /// `true` if the choice is complete.
        is_finished: bool,
    },
    /// The answer failed.
    Failed(Failure<'a>),
    /// The answer has a finish reason.
    Finished {
        /// `true` if the answer is complete only with the [end](Self::End) of the stream.
        needs_end: bool,
    },
    /// The last event of the stream. Everything after it is ignored.
    End,
}

/// A fragment of a call, or a complete call.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CallDelta<'a> {
    /// The number that all fragments of the call share.
    pub key: u64,
    /// The id of the call; empty if this fragment does not have it.
    pub id: &'a str,
    /// The name of the tool; empty if this fragment does not have it.
    pub name: &'a str,
    /// A piece of the arguments, as the model wrote them.
    pub arguments: &'a str,
    /// The members that only this protocol has.
    pub members: Cow<'a, Members>,
    /// The relation of this fragment to the others of the call.
    pub form: CallForm,
}

/// The relation of a [`CallDelta`] to the other fragments of the call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallForm {
    /// A fragment. The call is complete when the answer is.
    #[default]
    Fragment,
    /// A fragment that is ignored if the call has not begun.
    Continued,
    /// A fragment of a call that is complete only with [`Whole`](Self::Whole).
    Open,
    /// The complete call, which replaces its fragments.
    Whole,
}

impl<'a> CallDelta<'a> {
    /// Creates a fragment.
    #[must_use]
    pub fn new(key: u64, id: &'a str, name: &'a str, arguments: &'a str) -> Self {
        Self {
            key,
            id,
            name,
            arguments,
            ..Self::default()
        }
    }

    /// Sets the form.
    #[must_use]
    pub fn form(self, form: CallForm) -> Self {
        Self { form, ..self }
    }

    /// Sets the members that only this protocol has.
    #[must_use]
    pub fn members(self, members: Cow<'a, Members>) -> Self {
        Self { members, ..self }
    }
}
