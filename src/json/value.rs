//! One JSON value as the text that it came in.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::error::{JsonError, WriteError};
use super::escape::Escape;
use super::reader::{End, Reader};
use super::serializer::{RAW_VALUE, write};
use super::string::{replace_lone_surrogates, unescape};

/// What sort of value a JSON text is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(clippy::exhaustive_enums, reason = "JSON has six kinds of value")]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
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
    /// The kind of a value by its first byte.
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

/// A JSON value as raw text: a slice of the bytes it came from, checked but not decoded.
///
/// A clone costs a reference count. Two values are equal when their texts are, so `1.0` is not
/// `1`. Numbers keep all their digits and objects their order. `Debug` shows the kind and the
/// length only, because bodies carry keys and tokens; [`text`](Self::text) is there for those who
/// mean to show it.
///
/// It serialises as the value that it is, and deserialises from any value, with serde_json and
/// with [`write`](super::write()).
///
/// ```
/// use copilot_wire::json::{Json, Kind};
///
/// let json = Json::parse(r#" {"rows": [1, 2.50], "name": "caf\u00e9"} "#)?;
/// assert_eq!(json.kind(), Kind::Object);
/// assert_eq!(json.get("rows").unwrap().text(), "[1, 2.50]");
/// assert_eq!(json.get("name").unwrap().string().unwrap(), "café");
/// assert_eq!(format!("{json:?}"), "Json(Object, 40 bytes)");
/// # Ok::<(), copilot_wire::json::JsonError>(())
/// ```
// The bytes are one valid value in UTF-8 without white space around it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(Bytes);

impl Json {
    /// Checks that the bytes are one JSON value and keeps them, without the white space around it.
    ///
    /// # Errors
    ///
    /// When the bytes are not UTF-8, or not exactly one JSON value.
    pub fn parse(bytes: impl Into<Bytes>) -> Result<Self, JsonError> {
        let bytes = bytes.into();
        let mut reader = Reader::new(&bytes)?;
        let json = reader.value()?;
        reader.end()?;
        Ok(json)
    }

    /// Writes a value as compact JSON and keeps the text.
    ///
    /// # Errors
    ///
    /// When the value cannot be JSON: see [`WriteError`].
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, WriteError> {
        let mut out = Vec::new();
        write(value, Escape::Json, &mut out)?;
        Ok(Self(out.into()))
    }

    /// A slice that the scanner has accepted.
    pub(super) fn trusted(bytes: Bytes) -> Self {
        Self(bytes)
    }

    /// The text. Checks again that it is UTF-8, some 30 bytes in a nanosecond.
    pub fn text(&self) -> &str {
        // Never the default: every constructor has seen that the bytes are UTF-8.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The bytes of the text.
    pub fn as_bytes(&self) -> &Bytes {
        &self.0
    }

    /// What sort of value it is.
    pub fn kind(&self) -> Kind {
        self.0
            .first()
            .and_then(|&byte| Kind::starting(byte))
            .unwrap_or(Kind::Null)
    }

    /// A reader at the start of the value.
    pub fn reader(&self) -> Reader<'_> {
        Reader::over(&self.0, self.text())
    }

    /// Decodes the value into a type of its own, with serde_json.
    ///
    /// Where serde_json refuses half of a surrogate pair, the half becomes U+FFFD.
    ///
    /// # Errors
    ///
    /// When the value does not have the shape of the type.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, JsonError> {
        let text = self.text();
        let error = match serde_json::from_str(text) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        if let Some(replaced) = replace_lone_surrogates(text) {
            if let Ok(value) = serde_json::from_str(&replaced) {
                return Ok(value);
            }
        }
        // What serde_json says repeats the value; only the place is passed on.
        let line_start = match error.line() {
            0 | 1 => 0,
            line => text
                .match_indices('\n')
                .nth(line - 2)
                .map_or(0, |(at, _)| at + 1),
        };
        let offset = (line_start + error.column().saturating_sub(1)).min(text.len());
        Err(JsonError::at(
            self.0.as_ref(),
            offset,
            "a value that fits the type",
        ))
    }

    /// The text of a string, borrowed when nothing in it is escaped. Half of a surrogate pair
    /// becomes U+FFFD. `None` when the value is not a string.
    pub fn string(&self) -> Option<Cow<'_, str>> {
        let inside = self.text().strip_prefix('"')?.strip_suffix('"')?;
        Some(unescape(inside))
    }

    /// The value of a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match self.0.as_ref() {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    /// The value of a number without fraction and exponent that fits.
    pub fn as_u64(&self) -> Option<u64> {
        self.number()?.parse().ok()
    }

    /// The value of a number without fraction and exponent that fits.
    pub fn as_i64(&self) -> Option<i64> {
        self.number()?.parse().ok()
    }

    /// The nearest float to a number, unless that is infinite.
    pub fn as_f64(&self) -> Option<f64> {
        self.number()?
            .parse()
            .ok()
            .filter(|value: &f64| value.is_finite())
    }

    /// True for `null`.
    pub fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    fn number(&self) -> Option<&str> {
        (self.kind() == Kind::Number).then(|| self.text())
    }

    /// The members of an object in order, duplicates included; none when it is not an object.
    pub fn members(&self) -> Entries<'_> {
        let mut reader = self.reader();
        let open = reader.open(End::Object);
        Entries(Walk {
            reader,
            first: true,
            done: !open,
        })
    }

    /// The elements of an array in order; none when it is not an array.
    pub fn elements(&self) -> Elements<'_> {
        let mut reader = self.reader();
        let open = reader.open(End::Array);
        Elements(Walk {
            reader,
            first: true,
            done: !open,
        })
    }

    /// The member with this key; the last one where there are several, as in JavaScript.
    ///
    /// Walks the whole object: read many members through [`members`](Self::members) or a
    /// [`Reader`].
    pub fn get(&self, key: &str) -> Option<Self> {
        self.members()
            .filter(|(name, _)| name == key)
            .last()
            .map(|(_, value)| value)
    }
}

/// The state of an iterator over a container.
#[derive(Clone, Debug)]
struct Walk<'a> {
    reader: Reader<'a>,
    first: bool,
    done: bool,
}

impl<'a> Walk<'a> {
    /// The next item as `read` gives it. The text is valid, so an error only ends the walk.
    fn next<T>(
        &mut self,
        end: End,
        read: impl FnOnce(&mut Reader<'a>) -> Result<T, JsonError>,
    ) -> Option<T> {
        if self.done {
            return None;
        }
        let first = std::mem::replace(&mut self.first, false);
        let item = match self.reader.more(end, first) {
            Ok(true) => read(&mut self.reader).ok(),
            Ok(false) | Err(_) => None,
        };
        self.done = item.is_none();
        item
    }
}

/// The members of an object: see [`Json::members`].
#[derive(Clone, Debug)]
pub struct Entries<'a>(Walk<'a>);

impl<'a> Iterator for Entries<'a> {
    type Item = (Cow<'a, str>, Json);

    fn next(&mut self) -> Option<Self::Item> {
        self.0
            .next(End::Object, |reader| Ok((reader.key()?, reader.value()?)))
    }
}

/// The elements of an array: see [`Json::elements`].
#[derive(Clone, Debug)]
pub struct Elements<'a>(Walk<'a>);

impl Iterator for Elements<'_> {
    type Item = Json;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next(End::Array, Reader::value)
    }
}

impl Default for Json {
    /// `null`
    fn default() -> Self {
        Self(Bytes::from_static(b"null"))
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Json({:?}, {} bytes)", self.kind(), self.0.len())
    }
}

impl Serialize for Json {
    /// In the form that serde_json gives its own raw value, so that it is written as it is.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut raw = serializer.serialize_struct(RAW_VALUE, 1)?;
        raw.serialize_field(RAW_VALUE, self.text())?;
        raw.end()
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw: Box<RawValue> = Deserialize::deserialize(deserializer)?;
        Ok(Self(Bytes::from(String::from(Box::<str>::from(raw)))))
    }
}
