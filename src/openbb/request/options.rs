//! The agent's options, as set by the user.

use std::borrow::Cow;

use crate::json::{Json, Kind, List, Members, Wire};
use crate::openbb::text::string;

/// The agent's options as set by the user, in either form of the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Options {
    /// A list of ids, and of `id=text` for texts and choices (2026, until May).
    List(List<String>),
    /// A map from ids to `true` or a text.
    Map(Members),
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionValue<'a> {
    /// Off: absent, `false`, or an empty text.
    Off,
    /// On.
    On,
    /// A text or a choice.
    Text(Cow<'a, str>),
}

impl OptionValue<'_> {
    /// Returns `true` if the option is on or has a text.
    pub fn is_on(&self) -> bool {
        !matches!(self, Self::Off)
    }
}

impl From<bool> for OptionValue<'_> {
    fn from(is_on: bool) -> Self {
        if is_on { Self::On } else { Self::Off }
    }
}

impl<'a> From<&'a str> for OptionValue<'a> {
    fn from(text: &'a str) -> Self {
        text_value(Cow::Borrowed(text))
    }
}

impl From<String> for OptionValue<'_> {
    fn from(text: String) -> Self {
        text_value(Cow::Owned(text))
    }
}

impl Options {
    /// Sets an option in the form of the others. One that is off is left out, as by the Workspace.
    pub fn set(&mut self, id: &str, value: &OptionValue<'_>) {
        match self {
            Self::List(list) => {
                let other =
                    |entry: &String| entry.split_once('=').map_or(&**entry, |at| at.0) != id;
                *list = std::mem::take(list).into_iter().filter(other).collect();
                match value {
                    OptionValue::Off => {}
                    OptionValue::On => list.push(id.to_owned()),
                    OptionValue::Text(text) => list.push(format!("{id}={text}")),
                }
            }
            Self::Map(map) => {
                map.retain(|name| name != id);
                match value {
                    OptionValue::Off => {}
                    OptionValue::On => map.push(id, true.to_raw()),
                    OptionValue::Text(text) => map.push(id, string(text)),
                }
            }
        }
    }

    /// Returns the value of an option. An absent one is off: the Workspace never sends `false`.
    pub fn get(&self, id: &str) -> OptionValue<'_> {
        // As of repeated members in an object, the last one counts.
        let found = self.iter().filter(|(name, _)| *name == id).last();
        found.map_or(OptionValue::Off, |(_, value)| value)
    }

    /// Returns an iterator over all options in order, including those that are off.
    pub fn iter(&self) -> impl Iterator<Item = (&str, OptionValue<'_>)> + Send {
        let (list, map) = match self {
            Self::List(list) => (Some(list), None),
            Self::Map(map) => (None, Some(map)),
        };
        let listed = list.into_iter().flatten().map(|entry| {
            // Only the first `=` is the separator: a choice may contain `=`.
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
        // No published front end sends a number or a list; as JSON the agent can at least read it.
        _ => OptionValue::Text(Cow::Borrowed(value.text())),
    }
}

two_forms!(Options: List, Map(Members));
