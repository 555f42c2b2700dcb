//! The kinds of JSON values.

/// The kind of a JSON value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(clippy::exhaustive_enums, reason = "JSON has six kinds of value")]
pub enum Kind {
    /// The value `null`.
    Null,
    /// The value `true` or `false`.
    Bool,
    /// A number of any size.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// Returns the name of the kind for an error message, such as `a string`.
    pub fn with_article(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }

    /// Returns the kind of a value by its first byte.
    pub(super) fn starting(byte: u8) -> Option<Self> {
        Some(match byte {
            b'n' => Self::Null,
            b't' | b'f' => Self::Bool,
            b'-' | b'0'..=b'9' => Self::Number,
            b'"' => Self::String,
            b'[' => Self::Array,
            b'{' => Self::Object,
            _ => return None,
        })
    }
}

/// The kinds of values that contain others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Container {
    Array,
    Object,
}
