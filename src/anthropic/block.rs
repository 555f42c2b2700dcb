//! Content blocks, in requests and in replies.

use serde::Serialize;

use crate::json::{Json, List, Members, Wire, WriteError};
use crate::protocol::ToolCall;

/// A block of content.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(tag = "type", expected = "a content block")]
pub enum ContentBlock {
    /// `text`: a text.
    Text(TextBlock),
    /// `thinking`: the reasoning before an answer.
    Thinking(ThinkingBlock),
    /// `tool_use`: a call of a tool.
    ToolUse(ToolUseBlock),
    /// `tool_result`: the result of a call.
    ToolResult(ToolResultBlock),
    /// A block of any other type, such as `image` or `document`.
    #[wire(other)]
    Other(Json),
}

impl ContentBlock {
    /// Creates a text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextBlock::new(text))
    }
}

/// A text block.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(fixed(type = "text"), null_is_absent, new = "Creates a text block.")]
pub struct TextBlock {
    /// The text.
    #[wire(always, content, new)]
    pub text: String,
    /// The sources of the text, each an object with a `type`.
    pub citations: List<Json>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// A thinking block.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(
    fixed(type = "thinking"),
    null_is_absent,
    new = "Creates a thinking block."
)]
pub struct ThinkingBlock {
    /// The reasoning.
    #[wire(always, content, new)]
    pub thinking: String,
    /// The opaque text by which the server recognizes the block.
    #[wire(always, content, new)]
    pub signature: String,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// A call of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(fixed(type = "tool_use"))]
pub struct ToolUseBlock {
    /// The id, which the result repeats.
    #[wire(always)]
    pub id: String,
    /// The name of the tool.
    #[wire(always)]
    pub name: String,
    /// The arguments: an object.
    #[wire(always)]
    pub input: Json,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl ToolUseBlock {
    /// Creates a call; `input` serializes to an object.
    ///
    /// # Errors
    ///
    /// [`WriteError`] if the arguments cannot be serialized.
    pub fn new<T: Serialize + ?Sized>(
        id: impl Into<String>,
        name: impl Into<String>,
        input: &T,
    ) -> Result<Self, WriteError> {
        Ok(Self {
            id: id.into(),
            name: name.into(),
            input: crate::json::wire::encode(input)?,
            unknown: Members::new(),
        })
    }
}

impl From<&ToolUseBlock> for ToolCall {
    /// Converts the call to that of the shared vocabulary, for a reply of any protocol.
    fn from(call: &ToolUseBlock) -> Self {
        Self {
            name: call.name.clone(),
            arguments: call.input.clone(),
            id: Some(call.id.clone()).filter(|id| !id.is_empty()),
            by_model: None,
        }
    }
}

/// The result of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(fixed(type = "tool_result"), null_is_absent)]
#[must_use]
pub struct ToolResultBlock {
    /// The id of the call.
    #[wire(always)]
    pub tool_use_id: String,
    /// A text, a list of blocks, or absent.
    pub content: Option<Json>,
    /// Set if the call failed.
    pub is_error: bool,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl ToolResultBlock {
    /// Creates a result with a text.
    pub fn new(tool_use_id: impl Into<String>, text: &str) -> Self {
        Self {
            tool_use_id: tool_use_id.into(),
            // Serializing a string cannot fail.
            content: crate::json::wire::encode(text).ok(),
            ..Self::default()
        }
    }

    /// Marks the call as failed.
    pub fn failed(mut self) -> Self {
        self.is_error = true;
        self
    }
}
