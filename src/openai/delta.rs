//! Additions of a chunk to a message.

use super::{Content, FunctionDelta, ToolCallDelta};
use crate::json::{JsonError, Kind, List, Members, Reader, Wire};

/// An addition to the message of a choice.
///
/// Members outside the protocol, such as `reasoning_content`, are in `unknown`, for reading and
/// writing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent)]
pub struct Delta {
    /// The role, `assistant`, only in the first chunk of the choice.
    pub role: Option<String>,
    /// A piece of the answer's text.
    #[wire(read = content)]
    pub content: Option<String>,
    /// A piece of a refusal.
    pub refusal: Option<String>,
    /// Fragments of calls. An empty list is never written: some clients then drop the chunk.
    pub tool_calls: List<ToolCallDelta>,
    /// A fragment of a call, in the form that preceded tools.
    pub function_call: Option<FunctionDelta>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl Delta {
    /// Creates a piece of the answer's text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: Some(text.into()),
            ..Self::default()
        }
    }

    /// Creates a piece of a refusal.
    #[must_use]
    pub fn refusal(text: impl Into<String>) -> Self {
        Self {
            refusal: Some(text.into()),
            ..Self::default()
        }
    }
}

/// Reads the content. Some servers send parts instead of a text; then their texts are used.
fn content(reader: &mut Reader<'_>) -> Result<Option<Option<String>>, JsonError> {
    if reader.is(Kind::Array) {
        let text = Content::read_from(reader)?.map(|parts| parts.text().into_owned());
        return Ok(text.filter(|text| !text.is_empty()).map(Some));
    }
    Wire::read_from(reader)
}
