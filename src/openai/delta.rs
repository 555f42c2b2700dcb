//! Additions of a chunk to a message.

use super::{Content, FunctionDelta, ToolCallDelta};
use crate::json::{Json, JsonError, Kind, List, Members, Reader, Wire};

/// An addition to the message of a choice.
///
/// Members outside the protocol, such as `reasoning_content`, are in `unknown`, for reading and
/// writing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent)]
#[must_use]
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
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: Some(text.into()),
            ..Self::default()
        }
    }

    /// Creates a piece of a refusal.
    pub fn refusal(text: impl Into<String>) -> Self {
        Self {
            refusal: Some(text.into()),
            ..Self::default()
        }
    }
}

/// Reads the content. Some servers send parts instead of a text; then their texts are used. Parts with reasoning remain
/// in the unknown members.
fn content(reader: &mut Reader<'_>) -> Result<Option<Option<String>>, JsonError> {
    if !reader.is(Kind::Array) {
        return Wire::read_from(reader);
    }
    let parts = reader.value()?;
    if parts.elements().any(|part| is_thinking(&part)) {
        return Ok(None);
    }
    let text = Content::from_raw(&parts).map(|parts| parts.text().into_owned());
    Ok(text.filter(|text| !text.is_empty()).map(Some))
}

fn is_thinking(part: &Json) -> bool {
    part.get("type")
        .and_then(|it| Some(it.string()? == "thinking"))
        == Some(true)
}

impl Delta {
    /// Splits a content of parts, as Mistral's models with reasoning send it, into the text and `reasoning_content`.
    pub(super) fn split_thinking(&mut self) {
        let parts = self
            .unknown
            .get("content")
            .filter(|it| it.kind() == Kind::Array);
        let Some(parts) = parts.cloned() else { return };
        let (mut text, mut reasoning) = (String::new(), String::new());
        for part in parts.elements() {
            match is_thinking(&part) {
                true => {
                    let thinking = part.get("thinking").unwrap_or_default();
                    reasoning += &thinking.string().unwrap_or_default();
                    let parts = thinking.elements().filter_map(|part| part.get("text"));
                    parts.for_each(|part| reasoning += &part.string().unwrap_or_default());
                }
                false => {
                    let part = part.get("text").unwrap_or_default();
                    text += &part.string().unwrap_or_default();
                }
            }
        }
        self.content = Some(text).filter(|text| !text.is_empty());
        self.unknown.retain(|key| key != "content");
        if !reasoning.is_empty() {
            self.unknown.push("reasoning_content", reasoning.to_raw());
        }
    }
}
