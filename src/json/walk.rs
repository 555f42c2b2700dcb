//! Access to the content of JSON values.

use std::borrow::Cow;
use std::iter::{self, FusedIterator};
use std::mem;

use bytes::Bytes;
use serde::de::DeserializeOwned;

use super::error::JsonError;
use super::kind::Container;
use super::kind::Kind;
use super::reader::Reader;
use super::scan::{skip_number, skip_value};
use super::string::{replace_lone_surrogates, skip_string, unescape_if};
use super::value::Json;

impl Json {
    /// Parses bytes as one JSON value, without the white space around it.
    ///
    /// # Errors
    ///
    /// If the bytes are not UTF-8, or not exactly one JSON value.
    pub fn parse(bytes: impl Into<Bytes>) -> Result<Self, JsonError> {
        let bytes = bytes.into();
        let mut reader = Reader::new(&bytes)?;
        let json = reader.value()?;
        reader.end()?;
        Ok(json)
    }

    /// Parses the text of a JSON object. Empty text is read as an object without members: some models send it for a
    /// call without arguments.
    pub(crate) fn parse_object(text: &str) -> Result<Self, JsonError> {
        let text = match text.trim() {
            "" => "{}",
            text => text,
        };
        let json = Self::parse(Bytes::copy_from_slice(text.as_bytes()))?;
        match json.kind() {
            Kind::Object => Ok(json),
            _ => Err(json.reader().expected("an object")),
        }
    }

    /// Creates a pull parser of this value, which reads it without building a tree.
    pub fn reader(&self) -> Reader<'_> {
        Reader::over(self.as_bytes(), self.text())
    }

    /// Deserializes the value with serde_json.
    ///
    /// An unpaired surrogate, which serde_json refuses, becomes U+FFFD.
    ///
    /// # Errors
    ///
    /// If the value does not match the type.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, JsonError> {
        let text = self.text();
        let error = match serde_json::from_str(text) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        // Only after a failure: unpaired surrogates are rare, and the search for them reads the complete text.
        if let Some(replaced) = replace_lone_surrogates(text) {
            if let Ok(value) = serde_json::from_str(&replaced) {
                return Ok(value);
            }
        }
        // The message of serde_json contains the value, so only the position is used.
        let line_start = match error.line() {
            0 | 1 => 0,
            line => text
                .match_indices('\n')
                .nth(line - 2)
                .map_or(0, |(at, _)| at + 1),
        };
        let offset = (line_start + error.column().saturating_sub(1)).min(text.len());
        Err(JsonError::at(
            self.as_bytes(),
            offset,
            "a value that matches the type",
        ))
    }

    /// Returns an iterator over the members of an object in order, duplicates included; empty if the value is not an
    /// object.
    pub fn members(&self) -> impl FusedIterator<Item = (Cow<'_, str>, Self)> {
        self.items(Container::Object, |reader| {
            Ok((reader.key()?, reader.value()?))
        })
    }

    /// Returns an iterator over the elements of an array in order; empty if the value is not an array.
    pub fn elements(&self) -> impl FusedIterator<Item = Self> {
        self.items(Container::Array, Reader::value)
    }

    /// Returns an iterator over the results of `read` for the items of a container. An error, which a valid text cannot
    /// cause, only ends the iteration.
    fn items<'a, T>(
        &'a self,
        container: Container,
        mut read: impl FnMut(&mut Reader<'a>) -> Result<T, JsonError>,
    ) -> impl FusedIterator<Item = T> {
        let mut reader = self.reader();
        let mut first = true;
        let open = reader.open(container);
        let items = iter::from_fn(move || {
            let first = mem::replace(&mut first, false);
            let more = open && reader.more(container, first).unwrap_or(false);
            more.then(|| read(&mut reader).ok())?
        });
        items.fuse()
    }

    /// Returns the member with this key; the last one if there are several, as in JavaScript.
    ///
    /// Each call scans the complete object: to read many members use [`members`](Self::members) or a [`Reader`].
    pub fn get(&self, key: &str) -> Option<Self> {
        // A valid text has no error.
        self.reader()
            .member(key, |reader| reader.value().map(Some))
            .ok()?
    }

    /// Calls `each` with every string and every number of the value, in order, and with the keys of all objects.
    /// Strings are unescaped.
    pub fn each_string(&self, each: &mut dyn FnMut(&str)) {
        each_string(self.text(), each);
    }
}

/// Calls `each` with every string and every number in a JSON text, if the text is a valid array or object. Otherwise
/// returns `false`.
pub(crate) fn each_string_inside(text: &str, each: &mut dyn FnMut(&str)) -> bool {
    let text = text.trim_ascii();
    let is_container = text.starts_with(['{', '[']);
    if !is_container || skip_value(text.as_bytes(), 0).ok() != Some(text.len()) {
        return false;
    }
    each_string(text, each);
    true
}

/// Calls `each` with every string and every number of a valid JSON text. Not recursive: nesting does not matter here.
fn each_string(text: &str, each: &mut dyn FnMut(&str)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let end = match byte {
            b'"' => skip_string(bytes, at + 1).map(|(end, has_escape)| {
                let inside = text.get(at + 1..end - 1).unwrap_or_default();
                each(&unescape_if(has_escape, inside));
                end
            }),
            b'-' | b'0'..=b'9' => skip_number(bytes, at).inspect(|end| {
                each(text.get(at..*end).unwrap_or_default());
            }),
            _ => Ok(at + 1),
        };
        // A valid text has no error.
        at = end.unwrap_or(bytes.len());
    }
}
