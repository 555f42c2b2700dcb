//! A pull reader: one pass over one body, in the order of the text.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;

use super::error::JsonError;
use super::kind::{Container, Kind};
use super::members::Members;
use super::scan::{skip_colon, skip_space, skip_value};
use super::string::{skip_string, unescape};
use super::value::Json;

/// Reads a body in one pass: known members in place, everything else as slices of the body.
///
/// The typed readers ([`string`](Self::string), [`bool`](Self::bool), [`u64`](Self::u64), ...)
/// give `None` and leave the value unread when it is of another kind, `null` included. A value
/// that is left unread is skipped by [`object`](Self::object) and [`array`](Self::array) and kept
/// by [`object_keeping`](Self::object_keeping); so one odd value never costs the whole body.
///
/// A clone is a bookmark: put it back to read the same value again.
///
/// ```
/// use bytes::Bytes;
/// use copilot_wire::json::{Kind, Reader};
///
/// let body = Bytes::from_static(br#"{"messages": [{"role": "human"}, 7], "model": 3}"#);
/// let mut roles = Vec::new();
/// let mut model = None;
/// let mut reader = Reader::new(&body)?;
/// reader.object(|reader, key| {
///     match &*key {
///         "messages" if reader.is(Kind::Array) => reader.array(|reader, _| {
///             if !reader.is(Kind::Object) {
///                 return Ok(());
///             }
///             reader.object(|reader, key| {
///                 if key == "role" {
///                     roles.extend(reader.string()?);
///                 }
///                 Ok(())
///             })
///         })?,
///         "model" => model = reader.string()?,
///         _ => {}
///     }
///     Ok(())
/// })?;
/// reader.end()?;
/// assert_eq!(roles, ["human"]);
/// assert_eq!(model, None);
/// # Ok::<(), copilot_wire::json::JsonError>(())
/// ```
#[derive(Clone)]
pub struct Reader<'a> {
    body: &'a Bytes,
    /// The same bytes, once they are known to be UTF-8.
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// A reader at the start of a body.
    ///
    /// # Errors
    ///
    /// When the body is not UTF-8.
    pub fn new(body: &'a Bytes) -> Result<Self, JsonError> {
        match std::str::from_utf8(body) {
            Ok(text) => Ok(Self::over(body, text)),
            Err(error) => Err(JsonError::at(body, error.valid_up_to(), "UTF-8")),
        }
    }

    /// A reader over bytes that are known to be this text.
    pub(super) fn over(body: &'a Bytes, text: &'a str) -> Self {
        Self {
            body,
            text,
            at: skip_space(text.as_bytes(), 0),
        }
    }

    /// The kind of the value that comes next.
    ///
    /// # Errors
    ///
    /// When no value starts here.
    pub fn kind(&self) -> Result<Kind, JsonError> {
        self.peek().ok_or_else(|| self.expected("a value"))
    }

    /// True when a value of this kind comes next.
    pub fn is(&self, kind: Kind) -> bool {
        self.peek() == Some(kind)
    }

    fn peek(&self) -> Option<Kind> {
        self.text
            .as_bytes()
            .get(self.at)
            .and_then(|&byte| Kind::starting(byte))
    }

    /// An error at the place where the reader stands: for a model that misses something.
    pub fn expected(&self, what: &'static str) -> JsonError {
        JsonError::at(self.text.as_bytes(), self.at, what)
    }

    /// Reads an object: calls `each` with every key, the reader standing at its value.
    ///
    /// A value that `each` leaves unread is skipped. An error that `each` returns gets the key in
    /// its path.
    ///
    /// # Errors
    ///
    /// When the next value is not an object, when it is malformed, or when `each` fails.
    pub fn object(
        &mut self,
        mut each: impl FnMut(&mut Self, Cow<'a, str>) -> Result<(), JsonError>,
    ) -> Result<(), JsonError> {
        self.entries(|reader, key| each(reader, key), |_, _| {})
    }

    /// Reads an object as [`object`](Self::object) does, and keeps every member that `each` leaves
    /// unread: the unknown ones, and the known ones of the wrong type.
    ///
    /// # Errors
    ///
    /// When the next value is not an object, when it is malformed, or when `each` fails.
    pub fn object_keeping(
        &mut self,
        unread: &mut Members,
        each: impl FnMut(&mut Self, Cow<'a, str>) -> Result<(), JsonError>,
    ) -> Result<(), JsonError> {
        self.entries(each, |key, value| unread.push(key, value))
    }

    fn entries(
        &mut self,
        mut each: impl FnMut(&mut Self, Cow<'a, str>) -> Result<(), JsonError>,
        mut keep: impl FnMut(Cow<'a, str>, Json),
    ) -> Result<(), JsonError> {
        if !self.open(Container::Object) {
            return Err(self.expected("an object"));
        }
        let mut first = true;
        while self.more(Container::Object, first)? {
            first = false;
            let entry = self.at;
            let key = self.key()?;
            let value = self.at;
            let result = each(self, key).and_then(|()| {
                if self.at == value {
                    let unread = self.value()?;
                    keep(self.key_at(entry), unread);
                }
                Ok(())
            });
            result.map_err(|error| error.at_key(&self.key_at(entry)))?;
        }
        Ok(())
    }

    /// Reads an array: calls `each` with every index, the reader standing at the element.
    ///
    /// An element that `each` leaves unread is skipped. An error that `each` returns gets the
    /// index in its path.
    ///
    /// # Errors
    ///
    /// When the next value is not an array, when it is malformed, or when `each` fails.
    pub fn array(
        &mut self,
        mut each: impl FnMut(&mut Self, usize) -> Result<(), JsonError>,
    ) -> Result<(), JsonError> {
        if !self.open(Container::Array) {
            return Err(self.expected("an array"));
        }
        let mut index = 0;
        while self.more(Container::Array, index == 0)? {
            let element = self.at;
            let result = each(self, index).and_then(|()| {
                if self.at == element {
                    self.skip()?;
                }
                Ok(())
            });
            result.map_err(|error| error.at_index(index))?;
            index += 1;
        }
        Ok(())
    }

    /// Reads any value as a slice of the body, checked but not decoded.
    ///
    /// # Errors
    ///
    /// When the value is malformed.
    pub fn value(&mut self) -> Result<Json, JsonError> {
        let start = self.at;
        self.skip()?;
        Ok(Json::trusted(self.body.slice(start..self.at)))
    }

    /// Reads one value with `read`; if that fails, the same value raw.
    ///
    /// For the elements of a list of which a bad one must not cost the others.
    ///
    /// # Errors
    ///
    /// When the value is malformed.
    pub fn value_or_raw<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, JsonError>,
    ) -> Result<Result<T, Json>, JsonError> {
        let bookmark = self.clone();
        if let Ok(value) = read(self) {
            return Ok(Ok(value));
        }
        *self = bookmark;
        self.value().map(Err)
    }

    /// Reads past any value.
    ///
    /// # Errors
    ///
    /// When the value is malformed.
    pub fn skip(&mut self) -> Result<(), JsonError> {
        self.at = skip_value(self.text.as_bytes(), self.at)?;
        Ok(())
    }

    /// Reads a string, borrowed when nothing in it is escaped. Half of a surrogate pair becomes
    /// U+FFFD.
    ///
    /// # Errors
    ///
    /// When the string is malformed.
    pub fn string(&mut self) -> Result<Option<Cow<'a, str>>, JsonError> {
        if !self.is(Kind::String) {
            return Ok(None);
        }
        let end = skip_string(self.text.as_bytes(), self.at + 1)?;
        let inside = self.text.get(self.at + 1..end - 1).unwrap_or_default();
        self.at = end;
        Ok(Some(unescape(inside)))
    }

    /// Reads a boolean.
    ///
    /// # Errors
    ///
    /// When the value is malformed.
    pub fn bool(&mut self) -> Result<Option<bool>, JsonError> {
        self.scalar(Kind::Bool, |text| Some(text == "true"))
    }

    /// Reads a number without fraction and exponent that fits; leaves any other one unread.
    ///
    /// # Errors
    ///
    /// When the number is malformed.
    pub fn u64(&mut self) -> Result<Option<u64>, JsonError> {
        self.scalar(Kind::Number, |text| text.parse().ok())
    }

    /// Reads a number without fraction and exponent that fits; leaves any other one unread.
    ///
    /// # Errors
    ///
    /// When the number is malformed.
    pub fn i64(&mut self) -> Result<Option<i64>, JsonError> {
        self.scalar(Kind::Number, |text| text.parse().ok())
    }

    /// Reads a number as the nearest float; leaves one unread that is too large.
    ///
    /// # Errors
    ///
    /// When the number is malformed.
    pub fn f64(&mut self) -> Result<Option<f64>, JsonError> {
        self.scalar(Kind::Number, |text| {
            text.parse().ok().filter(|value: &f64| value.is_finite())
        })
    }

    /// Reads `null`; false, and nothing read, when something else comes next.
    ///
    /// # Errors
    ///
    /// When the value is malformed.
    pub fn null(&mut self) -> Result<bool, JsonError> {
        Ok(self.scalar(Kind::Null, |_| Some(()))?.is_some())
    }

    fn scalar<T>(
        &mut self,
        kind: Kind,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, JsonError> {
        if !self.is(kind) {
            return Ok(None);
        }
        let end = skip_value(self.text.as_bytes(), self.at)?;
        let value = parse(self.text.get(self.at..end).unwrap_or_default());
        if value.is_some() {
            self.at = end;
        }
        Ok(value)
    }

    /// Ends the reading: only white space may follow.
    ///
    /// # Errors
    ///
    /// When something else follows.
    pub fn end(self) -> Result<(), JsonError> {
        let at = skip_space(self.text.as_bytes(), self.at);
        if at < self.text.len() {
            return Err(JsonError::at(
                self.text.as_bytes(),
                at,
                "the end of the text",
            ));
        }
        Ok(())
    }

    /// Enters a container; false, and nothing read, when the next value is not one.
    pub(super) fn open(&mut self, end: Container) -> bool {
        let open = match end {
            Container::Array => self.is(Kind::Array),
            Container::Object => self.is(Kind::Object),
        };
        if open {
            self.at = skip_space(self.text.as_bytes(), self.at + 1);
        }
        open
    }

    /// Goes to the next item of a container, or leaves it; false when it has ended.
    pub(super) fn more(&mut self, end: Container, first: bool) -> Result<bool, JsonError> {
        let text = self.text.as_bytes();
        let (close, expected) = match end {
            Container::Array => (b']', "`,` or `]`"),
            Container::Object => (b'}', "`,` or `}`"),
        };
        if !first {
            self.at = skip_space(text, self.at);
        }
        match text.get(self.at) {
            Some(&byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            Some(_) if first => Ok(true),
            Some(b',') => {
                self.at = skip_space(text, self.at + 1);
                // A comma promises an item, which the next reading demands.
                Ok(true)
            }
            _ => Err(self.expected(expected)),
        }
    }

    /// Reads a key and its colon.
    pub(super) fn key(&mut self) -> Result<Cow<'a, str>, JsonError> {
        if !self.is(Kind::String) {
            return Err(self.expected("a key"));
        }
        let start = self.at;
        let end = skip_string(self.text.as_bytes(), start + 1)?;
        self.at = skip_colon(self.text.as_bytes(), end)?;
        Ok(unescape(
            self.text.get(start + 1..end - 1).unwrap_or_default(),
        ))
    }

    /// The key at an offset where one has been read.
    fn key_at(&self, at: usize) -> Cow<'a, str> {
        let mut again = Self { at, ..self.clone() };
        again.key().unwrap_or_default()
    }
}

impl fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reader(at byte {} of {})", self.at, self.text.len())
    }
}
