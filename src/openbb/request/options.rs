//! The switches of the agent that the user set.

use std::borrow::Cow;

use crate::json::model::Field;
use crate::json::{Json, JsonError, Kind, List, Members, Reader, ValueWriter};

/// The switches of the agent that the user set, in either form of the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Options {
    /// Ids, and `id=text` for texts and choices (2026, until May).
    List(List<String>),
    /// Ids with `true` or a text.
    Map(Members),
}

/// How one switch is set.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionValue<'a> {
    /// Off: not among the options, `false`, or an empty text.
    Off,
    /// On.
    On,
    /// A text or a choice.
    Text(Cow<'a, str>),
}

impl OptionValue<'_> {
    /// Whether it is set, to anything.
    #[must_use]
    pub fn is_on(&self) -> bool {
        !matches!(self, Self::Off)
    }

    /// The text or the choice.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Off | Self::On => None,
        }
    }
}

impl Options {
    /// How a switch is set. What is absent is off: the Workspace never writes `false`.
    #[must_use]
    pub fn get(&self, id: &str) -> OptionValue<'_> {
        let found = self.iter().filter(|(name, _)| *name == id).last();
        found.map_or(OptionValue::Off, |(_, value)| value)
    }

    /// All switches in order, those written as off included.
    pub fn iter(&self) -> impl Iterator<Item = (&str, OptionValue<'_>)> + Send {
        let (list, map) = match self {
            Self::List(list) => (Some(list), None),
            Self::Map(map) => (None, Some(map)),
        };
        let listed = list.into_iter().flatten().map(|entry| {
            // Split at the first `=`: a choice may hold more of them.
            match entry.split_once('=') {
                Some((id, text)) => (id, text_value(Cow::Borrowed(text))),
                None => (entry.as_str(), OptionValue::On),
            }
        });
        let mapped: Vec<_> = map
            .into_iter()
            .flat_map(Members::iter)
            .map(|(id, value)| (id, json_value(value)))
            .collect();
        listed.chain(mapped)
    }
}

fn text_value(text: Cow<'_, str>) -> OptionValue<'_> {
    if text.is_empty() {
        OptionValue::Off
    } else {
        OptionValue::Text(text)
    }
}

fn json_value(value: &Json) -> OptionValue<'_> {
    match value.kind() {
        Kind::String => text_value(value.string().unwrap_or_default()),
        Kind::Bool if value.as_bool() == Some(true) => OptionValue::On,
        Kind::Bool | Kind::Null => OptionValue::Off,
        _ => OptionValue::Text(Cow::Borrowed(value.text())),
    }
}

impl Field for Options {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        if reader.is(Kind::Array) {
            return Ok(List::read_from(reader)?.map(Self::List));
        }
        Ok(Members::read_from(reader)?.map(Self::Map))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        match self {
            Self::List(list) => list.write_to(to),
            Self::Map(map) => map.write_to(to),
        }
    }
}
