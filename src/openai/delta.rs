//! What a chunk adds to a choice.

use serde::Serialize;

use super::{Content, FunctionDelta, ToolCallDelta, read};
use crate::json::{JsonError, Kind, Members, Reader};

/// What a chunk adds to the message of a choice.
///
/// Members that are not of the protocol, such as `reasoning_content`, are in `unknown`, and what is
/// put there is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Delta {
    /// `assistant`, in the first chunk of the choice only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// A piece of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// A piece of what is said instead of an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// Fragments of calls. Never written when empty: some clients then drop the chunk.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCallDelta>,
    /// A fragment of a call, in the form before tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function_call: Option<FunctionDelta>,
    /// Members that this crate does not know.
    #[serde(flatten)]
    pub unknown: Members,
}

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

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let mut delta = Self::default();
        reader.object_keeping(&mut delta.unknown, |reader, key| {
            match &*key {
                "role" => delta.role = read::string(reader)?,
                "content" => delta.content = content(reader)?,
                "refusal" => delta.refusal = read::string(reader)?,
                "tool_calls" => {
                    let calls = read::list(reader, ToolCallDelta::read)?;
                    delta.tool_calls = calls.unwrap_or_default();
                }
                "function_call" => {
                    delta.function_call = read::object(reader, FunctionDelta::read)?;
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(delta)
    }
}

/// Content is a text; some servers send parts, of which the text counts.
fn content(reader: &mut Reader<'_>) -> Result<Option<String>, JsonError> {
    if reader.is(Kind::Array) {
        return Ok(Some(Content::read(reader)?.text().into_owned()));
    }
    read::string(reader)
}
