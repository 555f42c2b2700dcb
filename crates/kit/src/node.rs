//! A request as a tree, for people and for programs.

use serde::{Serialize, Serializer};

use copilot_wire::json::{Json, Members};

/// A tree of the values of a request, for people and, serialized, for programs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Node {
    /// No value: left out for people, `null` for programs.
    None,
    /// `true` or `false`.
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
    /// Creates an object.
    pub fn object<const N: usize>(members: [(&'static str, Self); N]) -> Self {
        Self::Object(members.into())
    }

    /// Creates a list.
    pub fn list<T: Into<Self>>(items: impl IntoIterator<Item = T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }

    /// Creates a list of the names of `members`, without their values: unknown members
    /// may be secret.
    pub fn names(members: &Members) -> Self {
        Self::list(members.iter().map(|(name, _)| name))
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Json(json) => json.serialize(serializer),
            Self::List(items) => serializer.collect_seq(items),
            Self::Object(members) => {
                serializer.collect_map(members.iter().map(|(name, value)| (name, value)))
            }
        }
    }
}

impl From<bool> for Node {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u64> for Node {
    fn from(number: u64) -> Self {
        // A number is always valid JSON.
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
