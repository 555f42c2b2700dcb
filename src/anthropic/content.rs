//! The content of a message: a text, or a list of blocks.

use std::borrow::Cow;
use std::fmt;

use super::{ContentBlock, TextBlock};
use crate::json::model::{Field, json_api};
use crate::json::{Json, JsonError, Kind, List, Reader, ValueWriter};
use crate::protocol::shown::Size;

/// The content of a message or of the system prompt.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// One text.
    Text(String),
    /// Blocks in order.
    Blocks(List<ContentBlock>),
    /// A value of another type.
    Other(Json),
    /// No content.
    #[default]
    Null,
}

impl Content {
    /// Returns the text. Text blocks are joined with line breaks; other blocks are skipped.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Blocks(blocks) => join(blocks.iter().filter_map(|block| match block {
                ContentBlock::Text(block) => Some(Cow::Borrowed(block.text.as_str())),
                _ => None,
            })),
            Self::Other(_) | Self::Null => Cow::Borrowed(""),
        }
    }

    /// Returns the blocks; none if the content is one text.
    #[must_use]
    pub fn blocks(&self) -> &[ContentBlock] {
        match self {
            Self::Blocks(blocks) => blocks,
            _ => &[],
        }
    }
}

/// Joins texts with line breaks.
pub(super) fn join<'a>(mut texts: impl Iterator<Item = Cow<'a, str>>) -> Cow<'a, str> {
    let mut all = texts.next().unwrap_or_default();
    for text in texts {
        let all = all.to_mut();
        all.push('\n');
        all.push_str(&text);
    }
    all
}

json_api!(Content);

impl Field for Content {
    const EXPECTED: &'static str = "content";

    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        if let Some(text) = reader.string()? {
            return Ok(Some(Self::Text(text.into_owned())));
        }
        if reader.is(Kind::Array) {
            return Ok(List::read_from(reader)?.map(Self::Blocks));
        }
        Ok(Some(match reader.value()? {
            value if value.is_null() => Self::Null,
            value => Self::Other(value),
        }))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        match self {
            Self::Text(text) => to.str(text),
            Self::Blocks(blocks) => blocks.write_to(to),
            Self::Other(json) => to.raw(json),
            // A value that is not written becomes `null`.
            Self::Null => {}
        }
    }

    fn is_absent(&self) -> bool {
        matches!(self, Self::Null)
    }
}

/// Prints only the length of a text.
impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.debug_tuple("Text").field(&Size::of(text)).finish(),
            Self::Blocks(blocks) => f.debug_tuple("Blocks").field(blocks).finish(),
            Self::Other(json) => f.debug_tuple("Other").field(json).finish(),
            Self::Null => f.write_str("Null"),
        }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<ContentBlock>> for Content {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self::Blocks(blocks.into())
    }
}

impl From<TextBlock> for Content {
    fn from(block: TextBlock) -> Self {
        Self::from(vec![ContentBlock::Text(block)])
    }
}
