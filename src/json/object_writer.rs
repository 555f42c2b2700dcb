//! Writing of objects member by member.

use std::mem;

use serde::Serialize;

use super::error::WriteError;
use super::escape::Escape;
use super::members::Members;
use super::rollback::Rollback;
use super::serializer::{write, write_key, write_str};
use super::value::{Json, write_raw};

/// A writer of one object, which appends members in the order of the calls to a vector.
///
/// [`finish`](Self::finish) completes the object. If a writer is dropped without `finish`, for example because a value
/// failed, the vector is truncated to its former length. The `opt_` methods write no member for `None`.
///
/// ```
/// use copilot_wire::json::{Escape, ObjectWriter};
///
/// let mut out = Vec::new();
/// let mut writer = ObjectWriter::new(&mut out, Escape::Json);
/// writer.str("type", "table").opt_str("name", None).bool("hidden", false);
/// writer.object("style", |style| style.value("ratio", &0.5).map(drop))?;
/// writer.array("keys", ["a", "b"], |key, element| Ok(element.str(key)))?;
/// writer.finish();
/// assert_eq!(
///     out,
///     br#"{"type":"table","hidden":false,"style":{"ratio":0.5},"keys":["a","b"]}"#,
/// );
/// # Ok::<(), copilot_wire::json::WriteError>(())
/// ```
#[derive(Debug)]
#[must_use = "the object is written when `finish` is called"]
pub struct ObjectWriter<'a> {
    rollback: Rollback<'a>,
    policy: Escape,
    empty: bool,
}

impl Json {
    /// Creates an object with the members that `write` writes, with the separators U+2028 and U+2029 escaped.
    ///
    /// ```
    /// use copilot_wire::json::Json;
    ///
    /// let json = Json::object(|object| {
    ///     object.str("type", "table").bool("hidden", false);
    /// });
    /// assert_eq!(json.text(), r#"{"type":"table","hidden":false}"#);
    /// ```
    pub fn object(write: impl FnOnce(&mut ObjectWriter<'_>)) -> Self {
        let mut out = Vec::with_capacity(128);
        let mut object = ObjectWriter::new(&mut out, Escape::JsonAndSeparators);
        write(&mut object);
        object.finish();
        // An object that was written member by member is valid.
        Self::trusted(out.into())
    }
}

impl<'a> ObjectWriter<'a> {
    /// Starts an object at the end of `out`.
    pub fn new(out: &'a mut Vec<u8>, policy: Escape) -> Self {
        let rollback = Rollback::new(out);
        rollback.out.push(b'{');
        Self {
            rollback,
            policy,
            empty: true,
        }
    }

    /// Ends the object.
    pub fn finish(self) {
        self.rollback.out.push(b'}');
        self.rollback.keep();
    }

    /// Writes a key and returns a writer for its value.
    pub fn member(&mut self, key: &str) -> ValueWriter<'_> {
        let out = &mut *self.rollback.out;
        // If no value follows the key, the value's writer writes `null` when it is dropped.
        write_key(key, self.empty, self.policy, out);
        self.empty = false;
        ValueWriter::new(out, self.policy)
    }

    /// Writes a key that needs no escapes, given with the comma before it, its quotes and its colon, and returns a
    /// writer for its value.
    pub(super) fn prepared(&mut self, key: &'static str) -> ValueWriter<'_> {
        let out = &mut *self.rollback.out;
        let skipped = usize::from(mem::take(&mut self.empty));
        out.extend_from_slice(key.as_bytes().get(skipped..).unwrap_or_default());
        ValueWriter::new(out, self.policy)
    }

    /// Writes a string.
    pub fn str(&mut self, key: &'static str, value: &str) -> &mut Self {
        self.member(key).str(value);
        self
    }

    /// Writes a string, if there is one.
    pub fn opt_str(&mut self, key: &'static str, value: Option<&str>) -> &mut Self {
        match value {
            Some(value) => self.str(key, value),
            None => self,
        }
    }

    /// Writes a raw value.
    pub fn raw(&mut self, key: &'static str, value: &Json) -> &mut Self {
        self.member(key).raw(value);
        self
    }

    /// Writes a raw value, if there is one.
    pub fn opt_raw(&mut self, key: &'static str, value: Option<&Json>) -> &mut Self {
        match value {
            Some(value) => self.raw(key, value),
            None => self,
        }
    }

    /// Writes a boolean.
    pub fn bool(&mut self, key: &'static str, value: bool) -> &mut Self {
        self.member(key).bool(value);
        self
    }

    /// Writes a number.
    pub fn u64(&mut self, key: &'static str, value: u64) -> &mut Self {
        self.member(key).u64(value);
        self
    }

    /// Writes any value.
    ///
    /// # Errors
    ///
    /// If the value cannot be serialized; the member is then `null`.
    pub fn value<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<&mut Self, WriteError> {
        self.member(key).value(value)?;
        Ok(self)
    }

    /// Writes an object.
    ///
    /// # Errors
    ///
    /// If `write` fails; the member is then `null`.
    pub fn object(
        &mut self,
        key: &'static str,
        write: impl FnOnce(&mut ObjectWriter<'_>) -> Result<(), WriteError>,
    ) -> Result<&mut Self, WriteError> {
        self.member(key).object(write)?;
        Ok(self)
    }

    /// Writes an array: `write` is called with every item and a writer for its element.
    ///
    /// # Errors
    ///
    /// If `write` fails; the member is then `null`.
    pub fn array<I: IntoIterator>(
        &mut self,
        key: &'static str,
        items: I,
        write: impl FnMut(I::Item, ValueWriter<'_>) -> Result<(), WriteError>,
    ) -> Result<&mut Self, WriteError> {
        self.member(key).array(items, write)?;
        Ok(self)
    }

    /// Writes the unknown members of a model.
    pub fn members(&mut self, members: &Members) -> &mut Self {
        for (key, value) in members {
            self.member(key).raw(value);
        }
        self
    }
}

/// A writer of one value. If it is not used, the value is `null`.
#[derive(Debug)]
pub struct ValueWriter<'a> {
    out: &'a mut Vec<u8>,
    policy: Escape,
    start: usize,
}

impl<'a> ValueWriter<'a> {
    /// Creates a writer at the end of `out`.
    pub fn new(out: &'a mut Vec<u8>, policy: Escape) -> Self {
        let start = out.len();
        Self { out, policy, start }
    }

    /// Writes a string.
    pub fn str(self, value: &str) {
        write_str(value, self.policy, self.out);
    }

    /// Writes a raw value.
    pub fn raw(self, value: &Json) {
        write_raw(value, self.policy, self.out);
    }

    /// Writes a boolean.
    pub fn bool(self, value: bool) {
        self.out
            .extend_from_slice(if value { b"true" } else { b"false" });
    }

    /// Writes a number.
    pub fn u64(self, value: u64) {
        // Serializing a number cannot fail.
        let _ = self.value(&value);
    }

    /// Writes any value.
    ///
    /// # Errors
    ///
    /// If the value cannot be serialized.
    pub fn value<T: Serialize + ?Sized>(self, value: &T) -> Result<(), WriteError> {
        write(value, self.policy, self.out)
    }

    /// Writes an object.
    ///
    /// # Errors
    ///
    /// If `write` fails.
    pub fn object(
        self,
        write: impl FnOnce(&mut ObjectWriter<'_>) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        let mut writer = ObjectWriter::new(self.out, self.policy);
        write(&mut writer)?;
        writer.finish();
        Ok(())
    }

    /// Writes an array: `write` is called with every item and a writer for its element.
    ///
    /// # Errors
    ///
    /// If `write` fails.
    pub fn array<I: IntoIterator>(
        self,
        items: I,
        mut write: impl FnMut(I::Item, ValueWriter<'_>) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        let rollback = Rollback::new(self.out);
        rollback.out.push(b'[');
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                rollback.out.push(b',');
            }
            write(item, ValueWriter::new(rollback.out, self.policy))?;
        }
        rollback.out.push(b']');
        rollback.keep();
        Ok(())
    }
}

impl Drop for ValueWriter<'_> {
    fn drop(&mut self) {
        // A key without a value would not be JSON.
        if self.out.len() == self.start {
            self.out.extend_from_slice(b"null");
        }
    }
}
