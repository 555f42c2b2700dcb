//! Raw JSON values.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::error::WriteError;
use super::escape::{Escape, escape_raw};
use super::kind::Kind;
use super::serializer::{RAW_VALUE, write};
use super::string::{replace_lone_surrogates, unescape};

/// A JSON value as raw text: a slice of the original bytes, validated but not decoded.
///
/// Cloning increments a reference count. Values are equal if their texts are, so `1.0` is not `1`.
/// Numbers retain all their digits, and objects the order of their members. `Debug` prints only the kind and the
/// length, because bodies contain keys and tokens; [`text`](Self::text) returns the text.
///
/// A `Json` serializes as its value, and deserializes from any value, with serde_json and with
/// [`write`](super::write()).
///
/// ```
/// use copilot_wire::json::{Json, Kind};
///
/// let json = Json::parse(r#" {"rows": [1, 2.50], "name": "caf\u00e9"} "#)?;
/// assert_eq!(json.kind(), Kind::Object);
/// assert_eq!(json.get("rows").unwrap_or_default().text(), "[1, 2.50]");
/// assert_eq!(json.get("name").unwrap_or_default().string().as_deref(), Some("café"));
/// assert_eq!(format!("{json:?}"), "Json(Object, 40 bytes)");
/// # Ok::<(), copilot_wire::json::JsonError>(())
/// ```
// Invariant: the bytes are one valid value in UTF-8 without white space around it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(Bytes);

impl Json {
    /// Serializes a value as compact JSON and stores the text.
    ///
    /// # Errors
    ///
    /// If the value cannot be serialized, see [`WriteError`].
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, WriteError> {
        let mut out = Vec::new();
        write(value, Escape::Json, &mut out)?;
        Ok(Self(out.into()))
    }

    /// Creates a value from a slice that the scanner has accepted.
    pub(super) fn trusted(bytes: Bytes) -> Self {
        Self(bytes)
    }

    /// Returns the value with every escape of an unpaired surrogate replaced by `\ufffd`. An unpaired surrogate is not
    /// a character: some readers refuse it, and others cannot write it again.
    pub(crate) fn with_whole_characters(self) -> Self {
        match replace_lone_surrogates(self.text()) {
            Some(text) => Self(text.into()),
            None => self,
        }
    }

    /// Returns the text. Each call checks again that the text is UTF-8, at about 50 bytes per nanosecond.
    pub fn text(&self) -> &str {
        // The default is never used: every constructor has checked that the bytes are UTF-8.
        simdutf8::basic::from_utf8(&self.0).unwrap_or_default()
    }

    /// Returns the bytes of the text.
    pub fn as_bytes(&self) -> &Bytes {
        &self.0
    }

    /// Returns the kind of the value.
    pub fn kind(&self) -> Kind {
        self.0
            .first()
            .and_then(|&byte| Kind::starting(byte))
            .unwrap_or(Kind::Null)
    }

    /// Returns the text of a string, borrowed if it has no escapes; `None` if the value is not a
    /// string. An unpaired surrogate becomes U+FFFD.
    pub fn string(&self) -> Option<Cow<'_, str>> {
        let inside = self.text().strip_prefix('"')?.strip_suffix('"')?;
        Some(unescape(inside))
    }

    /// Returns the value of a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match self.0.as_ref() {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    /// Returns the value of a number without fraction and exponent, if it is a `u64`.
    pub fn as_u64(&self) -> Option<u64> {
        self.number()?.parse().ok()
    }

    /// Returns the value of a number without fraction and exponent, if it is an `i64`.
    pub fn as_i64(&self) -> Option<i64> {
        self.number()?.parse().ok()
    }

    /// Returns the nearest float to a number; `None` if that float is infinite.
    pub fn as_f64(&self) -> Option<f64> {
        self.number()?
            .parse()
            .ok()
            .filter(|value: &f64| value.is_finite())
    }

    /// Returns `true` if the value is `null`.
    pub fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    fn number(&self) -> Option<&str> {
        (self.kind() == Kind::Number).then(|| self.text())
    }
}

/// Appends a raw JSON value.
///
/// Line breaks between tokens become spaces, so that the result stays on one line. With
/// [`Escape::JsonAndSeparators`] U+2028 and U+2029, which only strings can contain, are escaped.
/// All other bytes are copied unchanged.
pub fn write_raw(json: &Json, policy: Escape, out: &mut Vec<u8>) {
    escape_raw(json.as_bytes(), policy, out);
}

impl Default for Json {
    /// Returns `null`.
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
    /// Serializes as a raw value of serde_json, whose text is written unchanged.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut raw = serializer.serialize_struct(RAW_VALUE, 1)?;
        // A serializer that supports raw values rejects a field with another name, without writing. Others accept the
        // field, and would write a struct with this name.
        if raw.serialize_field("", &()).is_ok() {
            return Err(serde::ser::Error::custom(
                "raw JSON needs a JSON serializer",
            ));
        }
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
