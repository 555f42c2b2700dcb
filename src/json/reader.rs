//! A pull reader, which reads a body in one pass in the order of the text.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use bytes::Bytes;

use super::error::JsonError;
use super::kind::{Container, Kind};
use super::members::Members;
use super::scan::{skip_colon, skip_space, skip_value};
use super::string::{skip_string, unescape_if};
use super::value::Json;

/// A reader of a body in one pass, which returns known members, and all other members as slices of the body.
///
/// The typed readers ([`string`](Self::string), [`bool`](Self::bool), [`u64`](Self::u64), ...) return `None` and leave
/// the value unread if it is of another kind, such as `null`. An unread value is skipped by [`object`](Self::object)
/// and [`array`](Self::array) and retained by [`object_keeping`](Self::object_keeping), so an invalid value never makes
/// the complete body unreadable.
///
/// To read a value again, clone the reader before it and assign the clone back.
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
///     match key {
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
    /// The body as text, after the check that it is UTF-8.
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// Creates a reader at the start of a body.
    ///
    /// # Errors
    ///
    /// If the body is not UTF-8.
    pub fn new(body: &'a Bytes) -> Result<Self, JsonError> {
        match simdutf8::compat::from_utf8(body) {
            Ok(text) => Ok(Self::over(body, text)),
            Err(error) => Err(JsonError::at(body, error.valid_up_to(), "UTF-8")),
        }
    }

    /// Creates a reader of a body whose text is known to be `text`.
    pub(super) fn over(body: &'a Bytes, text: &'a str) -> Self {
        Self {
            body,
            text,
            at: skip_space(text.as_bytes(), 0),
        }
    }

    /// Returns the kind of the next value.
    ///
    /// # Errors
    ///
    /// If no value starts at the position of the reader.
    pub fn kind(&self) -> Result<Kind, JsonError> {
        self.peek().ok_or_else(|| self.expected("a value"))
    }

    /// Returns `true` if the next value has this kind.
    pub fn is(&self, kind: Kind) -> bool {
        self.peek() == Some(kind)
    }

    fn peek(&self) -> Option<Kind> {
        self.text
            .as_bytes()
            .get(self.at)
            .and_then(|&byte| Kind::starting(byte))
    }

    /// Creates an error at the position of the reader, for a model with a missing member.
    pub fn expected(&self, what: &'static str) -> JsonError {
        JsonError::at(self.text.as_bytes(), self.at, what)
    }

    /// Reads an object: calls `each` with every key, with the reader at its value.
    ///
    /// A value that `each` leaves unread is skipped. The key is added to the path of an error that
    /// `each` returns.
    ///
    /// # Errors
    ///
    /// If the next value is not an object, if it is malformed, or if `each` fails.
    pub fn object(
        &mut self,
        each: impl FnMut(&mut Self, &str) -> Result<(), JsonError>,
    ) -> Result<(), JsonError> {
        self.entries(each, |reader, _| reader.skip())
    }

    /// Reads an object as [`object`](Self::object) does, and retains every member that `each` leaves unread: unknown
    /// members, and known members of a wrong type.
    ///
    /// # Errors
    ///
    /// If the next value is not an object, if it is malformed, or if `each` fails.
    pub fn object_keeping(
        &mut self,
        unread: &mut Members,
        each: impl FnMut(&mut Self, &str) -> Result<(), JsonError>,
    ) -> Result<(), JsonError> {
        self.entries(each, |reader, key| {
            reader.value().map(|it| unread.push(key, it))
        })
    }

    fn entries(
        &mut self,
        mut each: impl FnMut(&mut Self, &str) -> Result<(), JsonError>,
        mut keep: impl FnMut(&mut Self, &str) -> Result<(), JsonError>,
    ) -> Result<(), JsonError> {
        if !self.open(Container::Object) {
            return Err(self.expected("an object"));
        }
        let mut first = true;
        while self.more(Container::Object, first)? {
            first = false;
            let key = self.key()?;
            let value = self.at;
            let read = each(self, &key).and_then(|()| match self.at == value {
                // Every value has at least one byte, so a reader that has not moved has read
                // nothing.
                true => keep(self, &key),
                false => Ok(()),
            });
            read.map_err(|error| error.at_key(&key))?;
        }
        Ok(())
    }

    /// Reads an array: calls `each` with every index, with the reader at the element.
    ///
    /// An element that `each` leaves unread is skipped. The index is added to the path of an error
    /// that `each` returns.
    ///
    /// # Errors
    ///
    /// If the next value is not an array, if it is malformed, or if `each` fails.
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

    /// Reads a value of any type. If it is an object, returns what `read` returns for its last member with this name.
    ///
    /// # Errors
    ///
    /// [`JsonError`] when the text is not valid JSON.
    #[doc(hidden)]
    pub fn member<T>(
        &mut self,
        name: &str,
        read: impl Fn(&mut Self) -> Result<Option<T>, JsonError>,
    ) -> Result<Option<T>, JsonError> {
        let mut found = None;
        if !self.is(Kind::Object) {
            return self.skip().map(|()| None);
        }
        self.object(|reader, key| {
            if key == name {
                found = read(reader)?;
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Reads a value. Returns the place in the text of the value at a path of keys; arrays in it have one element.
    pub(crate) fn place(&mut self, path: &[&str]) -> Result<Option<Range<usize>>, JsonError> {
        let (start, mut place) = (self.at, None);
        match path.split_first() {
            None => place = self.skip().map(|()| Some(start..self.at))?,
            // Not the path again: lists in lists, as deep as a sender likes, would take the stack.
            Some((name, rest)) if self.is(Kind::Array) => self.array(|reader, index| {
                let inside = reader.member(name, |reader| reader.place(rest))?;
                place = inside.filter(|_| index == 0);
                Ok(())
            })?,
            Some((name, rest)) => place = self.member(name, |reader| reader.place(rest))?,
        }
        Ok(place)
    }

    /// Returns the number of elements of an array that are of the kind of that at the position of the reader, from this
    /// one on, as far as the array is valid. 0 if the models of those before, which take `size` bytes, take less than a
    /// sixteenth of the text so far: then counting is dear, and a list that is doubled is small beside the text.
    pub(super) fn count_rest(&self, size: usize) -> usize {
        if size < self.at / 16 {
            return 0;
        }
        let mut ahead = self.clone();
        let kind = self.peek();
        let mut count = 1;
        while ahead.skip().is_ok() && matches!(ahead.more(Container::Array, false), Ok(true)) {
            count += usize::from(ahead.peek() == kind);
        }
        count
    }

    /// Returns `true` if the next value is an object without members.
    pub(super) fn is_empty_object(&self) -> bool {
        let text = self.text.as_bytes();
        self.is(Kind::Object) && text.get(skip_space(text, self.at + 1)) == Some(&b'}')
    }

    /// Reads any value as a slice of the body, validated but not decoded.
    ///
    /// # Errors
    ///
    /// If the value is malformed.
    pub fn value(&mut self) -> Result<Json, JsonError> {
        let start = self.at;
        self.skip()?;
        // `skip` has validated the value, so it is not parsed again. The slice keeps the body in memory, which the values
        // that bodies have most need not.
        const COMMON: [&str; 6] = ["null", "true", "false", "{}", "[]", "\"\""];
        let text = self.text.get(start..self.at).unwrap_or_default();
        let common = COMMON.iter().find(|common| **common == text);
        Ok(Json::trusted(match common {
            Some(common) => Bytes::from_static(common.as_bytes()),
            None => self.body.slice(start..self.at),
        }))
    }

    /// Skips any value.
    ///
    /// # Errors
    ///
    /// If the value is malformed.
    pub fn skip(&mut self) -> Result<(), JsonError> {
        self.at = skip_value(self.text.as_bytes(), self.at)?;
        Ok(())
    }

    /// Reads a string, borrowed if it has no escapes. An unpaired surrogate becomes U+FFFD.
    ///
    /// # Errors
    ///
    /// If the string is malformed.
    pub fn string(&mut self) -> Result<Option<Cow<'a, str>>, JsonError> {
        if !self.is(Kind::String) {
            return Ok(None);
        }
        let (end, has_escape) = skip_string(self.text.as_bytes(), self.at + 1)?;
        let inside = self.text.get(self.at + 1..end - 1).unwrap_or_default();
        self.at = end;
        Ok(Some(unescape_if(has_escape, inside)))
    }

    /// Reads a boolean.
    ///
    /// # Errors
    ///
    /// If the value is malformed.
    pub fn bool(&mut self) -> Result<Option<bool>, JsonError> {
        self.scalar(Kind::Bool, |text| Some(text == "true"))
    }

    /// Reads a `u64` without fraction and exponent; leaves any other number unread.
    ///
    /// # Errors
    ///
    /// If the number is malformed.
    pub fn u64(&mut self) -> Result<Option<u64>, JsonError> {
        self.scalar(Kind::Number, |text| text.parse().ok())
    }

    /// Reads an `i64` without fraction and exponent; leaves any other number unread.
    ///
    /// # Errors
    ///
    /// If the number is malformed.
    pub fn i64(&mut self) -> Result<Option<i64>, JsonError> {
        self.scalar(Kind::Number, |text| text.parse().ok())
    }

    /// Reads a number as the nearest float; leaves a number that is too large unread.
    ///
    /// # Errors
    ///
    /// If the number is malformed.
    pub fn f64(&mut self) -> Result<Option<f64>, JsonError> {
        self.scalar(Kind::Number, |text| {
            // `1e999` is valid JSON, but Rust parses it as infinity, which could not be written as JSON: the number
            // stays unread.
            text.parse().ok().filter(|value: &f64| value.is_finite())
        })
    }

    /// Reads `null`. Returns `false` without reading if the next value is not `null`.
    ///
    /// # Errors
    ///
    /// If the value is malformed.
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
        // A value of another type stays unread, so that the caller can retain it.
        if value.is_some() {
            self.at = end;
        }
        Ok(value)
    }

    /// Checks that only white space follows.
    ///
    /// # Errors
    ///
    /// If anything else follows.
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

    /// Enters a container. Returns `false` without reading if the next value is not such a container.
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

    /// Moves to the next item of a container. At the end of the container, leaves it and returns `false`.
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
            // Only the first item has no comma before it.
            Some(_) if first => Ok(true),
            Some(b',') => {
                self.at = skip_space(text, self.at + 1);
                // After a comma there must be an item, which the next read checks.
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
        let (end, has_escape) = skip_string(self.text.as_bytes(), start + 1)?;
        self.at = skip_colon(self.text.as_bytes(), end)?;
        let inside = self.text.get(start + 1..end - 1).unwrap_or_default();
        Ok(unescape_if(has_escape, inside))
    }
}

impl fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reader(at byte {} of {})", self.at, self.text.len())
    }
}
