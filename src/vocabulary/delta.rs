//! The deltas of an answer, which the events of its stream contain.

use std::borrow::Cow;
use std::fmt;

use super::{Failure, Part};
use crate::json::{Json, Members};

/// A piece of an answer, as [`Protocol::deltas`](crate::protocol::Protocol::deltas) reads it from an event: the inverse of the
/// parts that a [`Session`](crate::protocol::Session) writes.
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
    /// The number of the item of the answer, such as a block, to which the pieces after it belong.
    Item(u64),
    /// Members that only this protocol has.
    Native(Native<'a>),
    /// A piece of another choice than the first, which is the answer.
    Choice(u32, &'a Self),
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

/// Members of an answer, or of an [item](Delta::Item) of it, that only one protocol has. They are created only if they
/// are needed.
#[derive(Clone, Copy)]
#[must_use]
pub struct Native<'a> {
    pub(crate) item: Option<u64>,
    pub(crate) form: NativeForm,
    pub(crate) members: &'a dyn Fn() -> Json,
}

/// The relation of [`Native`] members to earlier ones of the same item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NativeForm {
    /// Pieces: texts and lists are continued, objects member by member.
    Piece,
    /// The latest values, which replace the earlier ones; objects member by member.
    Latest,
    /// All members, which replace the earlier ones.
    Whole,
}

impl<'a> Native<'a> {
    /// Creates members of the answer.
    pub fn of_answer(form: NativeForm, members: &'a dyn Fn() -> Json) -> Self {
        Self {
            item: None,
            form,
            members,
        }
    }

    /// Creates members of an item, to which the pieces after it belong too.
    pub fn of_item(item: u64, form: NativeForm, members: &'a dyn Fn() -> Json) -> Self {
        Self {
            item: Some(item),
            ..Self::of_answer(form, members)
        }
    }
}

impl fmt::Debug for Native<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Native")
            .field("item", &self.item)
            .field("form", &self.form)
            .finish_non_exhaustive()
    }
}

/// A fragment of a call, or a complete call.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
#[must_use]
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
    pub fn form(self, form: CallForm) -> Self {
        Self { form, ..self }
    }

    /// Sets the members that only this protocol has.
    pub fn members(self, members: Cow<'a, Members>) -> Self {
        Self { members, ..self }
    }
}
