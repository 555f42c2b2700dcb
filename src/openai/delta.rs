//! What a chunk adds to a choice.

use super::{Content, FunctionDelta, ToolCallDelta};
use crate::json::model::{Field, model};
use crate::json::{JsonError, Kind, List, Members, Reader};

/// What a chunk adds to the message of a choice.
///
/// Members that are not of the protocol, such as `reasoning_content`, are in `unknown`, and what is
/// put there is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Delta {
    /// `assistant`, in the first chunk of the choice only.
    pub role: Option<String>,
    /// A piece of the answer.
    pub content: Option<String>,
    /// A piece of what is said instead of an answer.
    pub refusal: Option<String>,
    /// Fragments of calls. Never written when empty: some clients then drop the chunk.
    pub tool_calls: List<ToolCallDelta>,
    /// A fragment of a call, in the form before tools.
    pub function_call: Option<FunctionDelta>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

model!(Delta, null: absent {
    role: "role",
    content: "content" => content,
    refusal: "refusal",
    tool_calls: "tool_calls",
    function_call: "function_call",
});

impl Delta {
    /// A piece of the answer.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: Some(text.into()),
            ..Self::default()
        }
    }

    /// A piece of what is said instead of an answer.
    #[must_use]
    pub fn refusal(text: impl Into<String>) -> Self {
        Self {
            refusal: Some(text.into()),
            ..Self::default()
        }
    }
}

/// Reads the content. It is a text; some servers send parts, of which the text counts.
fn content(reader: &mut Reader<'_>) -> Result<Option<Option<String>>, JsonError> {
    if reader.is(Kind::Array) {
        let text = Content::read_from(reader)?.map(|parts| parts.text().into_owned());
        return Ok(text.filter(|text| !text.is_empty()).map(Some));
    }
    Field::read_from(reader)
}
