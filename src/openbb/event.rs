//! The events of a reply.

use serde::Serialize;

use crate::json::{Escape, Json, ObjectWriter, WriteError};

/// What may be said in the course of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Say {
    /// A piece of the answer's text.
    MessageChunk(String),
}

/// Asks the Workspace to do something; ends the turn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionCall {
    /// The function.
    pub function: String,
    /// Its arguments: an object.
    pub input_arguments: Json,
}

impl FunctionCall {
    /// A call of any function.
    ///
    /// # Errors
    ///
    /// When the arguments cannot be JSON.
    pub fn new<T: Serialize + ?Sized>(
        function: impl Into<String>,
        input_arguments: &T,
    ) -> Result<Self, WriteError> {
        Ok(Self {
            function: function.into(),
            input_arguments: Json::encode(input_arguments)?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"event: copilotFunctionCall\ndata: ");
        let mut call = ObjectWriter::new(out, Escape::JsonAndSeparators);
        call.str("function", &self.function)
            .raw("input_arguments", &self.input_arguments);
        call.finish();
        out.extend_from_slice(b"\n\n");
    }
}

/// An event in either direction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Something said in the course of the turn.
    Say(Say),
    /// A function call, which ends the turn.
    FunctionCall(FunctionCall),
}

impl From<Say> for Event {
    fn from(say: Say) -> Self {
        Self::Say(say)
    }
}

impl From<FunctionCall> for Event {
    fn from(call: FunctionCall) -> Self {
        Self::FunctionCall(call)
    }
}
