//! What is shown of a request: one tree, for people and for programs.

use copilot_wire::json::Json;
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use crate::screen::{Screen, Style, short};
use crate::verdict::Failure;

/// A value that is shown.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// Nothing: left out for people, `null` for programs.
    None,
    /// Yes or no.
    Bool(bool),
    /// Any text.
    Text(String),
    /// Raw JSON.
    Json(Json),
    /// Several values.
    List(Vec<Self>),
    /// Named values, in order.
    Object(Vec<(&'static str, Self)>),
}

impl Node {
    /// An object.
    pub(crate) fn object<const N: usize>(members: [(&'static str, Self); N]) -> Self {
        Self::Object(members.into())
    }

    /// A list.
    pub(crate) fn list<T: Into<Self>>(items: impl IntoIterator<Item = T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }

    /// Whether people are better off without it.
    fn is_nothing(&self) -> bool {
        match self {
            Self::None | Self::Bool(false) => true,
            Self::Text(text) => text.is_empty(),
            Self::List(items) => items.is_empty(),
            Self::Object(members) => members.iter().all(|(_, value)| value.is_nothing()),
            Self::Bool(true) | Self::Json(_) => false,
        }
    }

    /// Shows the members of an object, aligned; what is empty is left out.
    pub(crate) fn show(&self, screen: &mut Screen, indent: usize) -> Result<(), Failure> {
        let Self::Object(members) = self else {
            return screen.line(format_args!("{:indent$}{}", "", self.inline()));
        };
        let shown = || members.iter().filter(|(_, value)| !value.is_nothing());
        let width = shown().map(|(name, _)| name.len()).max().unwrap_or(0);
        for (name, value) in shown() {
            let label = screen.paint(Style::Bold, format_args!("{name:width$}"));
            match value {
                Self::List(items) => {
                    screen.line(format_args!("{:indent$}{label}  {}", "", items.len()))?;
                    for item in items {
                        screen.line(format_args!("{:indent$}  {}", "", item.inline()))?;
                    }
                }
                Self::Object(_) => {
                    screen.line(format_args!("{:indent$}{}", "", label.trim_end()))?;
                    value.show(screen, indent + 2)?;
                }
                value => screen.line(format_args!("{:indent$}{label}  {}", "", value.inline()))?,
            }
        }
        Ok(())
    }

    /// The value on one line.
    fn inline(&self) -> String {
        match self {
            Self::None => String::new(),
            Self::Bool(value) => if *value { "yes" } else { "no" }.to_owned(),
            Self::Text(text) => short(text).into_owned(),
            Self::Json(json) => short(&compact(json)).into_owned(),
            Self::List(items) => {
                let items: Vec<_> = items.iter().map(Self::inline).collect();
                items.join(", ")
            }
            // The first members name the thing and need no label.
            Self::Object(members) => {
                let mut parts = Vec::new();
                for (at, (name, value)) in members.iter().enumerate() {
                    match value {
                        value if value.is_nothing() => {}
                        Self::Bool(_) => parts.push((*name).to_owned()),
                        value if at < 2 => parts.push(value.inline()),
                        value => parts.push(format!("{name}: {}", value.inline())),
                    }
                }
                parts.join("  ")
            }
        }
    }
}

/// The text without white space between its tokens.
pub(crate) fn compact(json: &Json) -> String {
    let mut out = String::with_capacity(json.text().len());
    let (mut string, mut escaped) = (false, false);
    for letter in json.text().chars() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => string = !string,
            letter if !string && letter.is_ascii_whitespace() => continue,
            _ => {}
        }
        out.push(letter);
    }
    out
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Json(json) => json.serialize(serializer),
            Self::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                items
                    .iter()
                    .try_for_each(|item| list.serialize_element(item))?;
                list.end()
            }
            Self::Object(members) => {
                let mut object = serializer.serialize_map(Some(members.len()))?;
                members
                    .iter()
                    .try_for_each(|(name, value)| object.serialize_entry(name, value))?;
                object.end()
            }
        }
    }
}

impl From<bool> for Node {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u16> for Node {
    fn from(number: u16) -> Self {
        // A number always is JSON.
        Self::Json(Json::encode(&number).unwrap_or_default())
    }
}

impl From<String> for Node {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Node {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Json> for Node {
    fn from(json: Json) -> Self {
        Self::Json(json)
    }
}

impl<T: Into<Self>> From<Option<T>> for Node {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}
