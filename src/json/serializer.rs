//! A serializer of any `Serialize` type to compact JSON in a vector.
//!
//! serde_json writes a few bytes at a time to an `io::Write`; this serializer appends to a vector,
//! with either escape policy. It writes the same bytes as serde_json.
//!
//! A `serde_json::ser::Formatter` would be less code, but is not sufficient: it has no calls for newtypes and options,
//! so an endless chain of them would overflow the stack instead of returning an error, and it receives strings already
//! split at their escapes. Tables are written in 0.87 times the time of `serde_json::to_string` (`benches/README.md`).
//! Raw values need serde_json's private name in either case.

use std::fmt::{self, Display};

use serde::ser::{self, Serialize};

use super::error::WriteError;
use super::escape::{Escape, escape, escape_raw};
use super::rollback::Rollback;
use super::short::quote_short;

/// The struct name by which raw values, of serde_json and of this crate, tell a serializer to write them unchanged.
pub(super) const RAW_VALUE: &str = "$serde_json::private::RawValue";
/// The struct name by which numbers of serde_json with `arbitrary_precision` tell a serializer to write their digits.
const NUMBER: &str = "$serde_json::private::Number";

/// The maximum depth of arrays and objects, which is serde_json's limit for reading.
const CONTAINERS: u8 = 128;
/// The maximum number of options, newtypes and variants around a value, counted from the root. An endless chain of them
/// becomes an error instead of a stack overflow.
const WRAPPERS: u16 = 512;

/// Appends a value as compact JSON, all or nothing.
///
/// On an error, and if the value's `Serialize` panics, `out` is unchanged.
///
/// ```
/// use copilot_wire::json::{Escape, write};
///
/// let mut out = b"data: ".to_vec();
/// write(&("a", [1.0, f64::NAN]), Escape::Json, &mut out)?;
/// assert_eq!(out, br#"data: ["a",[1.0,null]]"#);
/// # Ok::<(), copilot_wire::json::WriteError>(())
/// ```
///
/// # Errors
///
/// If a key is not a string, a number, a boolean or a unit variant; if the value has more than 128
/// levels of arrays and objects; or if its own `Serialize` fails.
pub fn write<T: Serialize + ?Sized>(
    value: &T,
    policy: Escape,
    out: &mut Vec<u8>,
) -> Result<(), WriteError> {
    let rollback = Rollback::new(out);
    value.serialize(Serializer {
        out: rollback.out,
        policy,
        containers: CONTAINERS,
        wrappers: WRAPPERS,
        form: Form::Value,
    })?;
    rollback.keep();
    Ok(())
}

/// Appends a string with its quotes.
#[inline]
pub(super) fn write_str(text: &str, policy: Escape, out: &mut Vec<u8>) {
    quote(text, b"\"", policy, out);
}

/// Appends a key with its quotes and its colon, and a comma unless it is the first one.
#[inline]
pub(super) fn write_key(key: &str, first: bool, policy: Escape, out: &mut Vec<u8>) {
    if !first {
        out.push(b',');
    }
    quote(key, b"\":", policy, out);
}

#[inline(always)]
fn quote<const N: usize>(text: &str, after: &[u8; N], policy: Escape, out: &mut Vec<u8>) {
    if !quote_short(text, after, out) {
        out.push(b'"');
        escape(text, policy, out);
        out.extend_from_slice(after);
    }
}

/// The form in which a value is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Value,
    /// A string is JSON text to be written unchanged.
    Raw,
    /// The key of a map: strings, and numbers and booleans in quotes.
    Key,
}

/// The position of one value in the output, with its remaining depth.
struct Serializer<'a> {
    out: &'a mut Vec<u8>,
    policy: Escape,
    containers: u8,
    wrappers: u16,
    form: Form,
}

impl<'a> Serializer<'a> {
    /// Returns a serializer at the same position, for an inner value.
    fn again(&mut self, form: Form) -> Serializer<'_> {
        Serializer {
            out: self.out,
            form,
            ..*self
        }
    }

    /// Returns a serializer at the same position, with one more wrapper.
    fn unwrap_one(self) -> Result<Self, WriteError> {
        // The count is copied along the path and not shared, so wrappers of siblings are not added up.
        let wrappers = self.wrappers.checked_sub(1).ok_or(WriteError::DEPTH)?;
        Ok(Self { wrappers, ..self })
    }

    /// Appends a boolean, or a number with serde_json's digits. A float that is not finite becomes `null`.
    #[inline]
    fn scalar<T: Serialize>(self, value: T) -> Result<(), WriteError> {
        // RFC 8259, section 4: names are strings, so numbers and booleans are quoted, as in
        // serde_json.
        let is_key = self.form == Form::Key;
        if is_key {
            self.out.push(b'"');
        }
        serde_json::to_writer(&mut *self.out, &value).map_err(ser::Error::custom)?;
        if is_key {
            self.out.push(b'"');
        }
        Ok(())
    }

    /// Returns an error if this is a key.
    #[inline]
    fn not_key(&self) -> Result<(), WriteError> {
        match self.form {
            Form::Key => Err(WriteError::KEY),
            Form::Value | Form::Raw => Ok(()),
        }
    }

    /// Opens a container.
    fn open(self, open: u8, close: &'static [u8]) -> Result<Compound<'a>, WriteError> {
        self.not_key()?;
        let containers = self.containers.checked_sub(1).ok_or(WriteError::DEPTH)?;
        self.out.push(open);
        let inner = Self { containers, ..self };
        Ok(Compound::new(inner, close))
    }

    /// Opens the object of a variant, `{"name":`.
    fn variant(self, name: &str) -> Result<Self, WriteError> {
        let object = self.open(b'{', b"}")?.inner;
        write_key(name, true, object.policy, object.out);
        Ok(object)
    }
}

macro_rules! scalars {
    ($($name:ident($type:ty))*) => {$(
        #[inline]
        fn $name(self, value: $type) -> Result<(), WriteError> {
            self.scalar(value)
        }
    )*};
}

macro_rules! floats {
    ($($name:ident($type:ty))*) => {$(
        #[inline]
        fn $name(self, value: $type) -> Result<(), WriteError> {
            match self.form == Form::Key && !value.is_finite() {
                true => Err(WriteError::KEY_NOT_FINITE),
                false => self.scalar(value),
            }
        }
    )*};
}

impl<'a> ser::Serializer for Serializer<'a> {
    type Ok = ();
    type Error = WriteError;
    type SerializeSeq = Compound<'a>;
    type SerializeTuple = Compound<'a>;
    type SerializeTupleStruct = Compound<'a>;
    type SerializeTupleVariant = Compound<'a>;
    type SerializeMap = Compound<'a>;
    type SerializeStruct = Compound<'a>;
    type SerializeStructVariant = Compound<'a>;

    scalars! {
        serialize_bool(bool)
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64)
        serialize_i128(i128) serialize_u128(u128)
    }

    floats! {
        serialize_f32(f32) serialize_f64(f64)
    }

    fn serialize_char(self, value: char) -> Result<(), WriteError> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<(), WriteError> {
        match self.form {
            Form::Raw => escape_raw(value.as_bytes(), self.policy, self.out),
            Form::Value | Form::Key => write_str(value, self.policy, self.out),
        }
        Ok(())
    }

    // JSON has no type for bytes; serde_json writes an array of numbers.
    fn serialize_bytes(self, value: &[u8]) -> Result<(), WriteError> {
        self.collect_seq(value)
    }

    #[inline]
    fn serialize_unit(self) -> Result<(), WriteError> {
        self.not_key()?;
        self.out.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), WriteError> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<(), WriteError> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<(), WriteError> {
        value.serialize(self.unwrap_one()?)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), WriteError> {
        let mut inner = self.variant(variant)?;
        value.serialize(inner.again(Form::Value))?;
        inner.out.push(b'}');
        Ok(())
    }

    #[inline]
    fn serialize_none(self) -> Result<(), WriteError> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), WriteError> {
        value.serialize(self.unwrap_one()?)
    }

    #[inline]
    fn serialize_seq(self, _length: Option<usize>) -> Result<Compound<'a>, WriteError> {
        self.open(b'[', b"]")
    }

    fn serialize_tuple(self, _length: usize) -> Result<Compound<'a>, WriteError> {
        self.open(b'[', b"]")
    }

    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        _length: usize,
    ) -> Result<Compound<'a>, WriteError> {
        self.open(b'[', b"]")
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _length: usize,
    ) -> Result<Compound<'a>, WriteError> {
        // The end closes two brackets: the object of the variant ends with its content.
        self.variant(variant)?.open(b'[', b"]}")
    }

    #[inline]
    fn serialize_map(self, _length: Option<usize>) -> Result<Compound<'a>, WriteError> {
        self.open(b'{', b"}")
    }

    #[inline]
    fn serialize_struct(
        self,
        name: &'static str,
        _length: usize,
    ) -> Result<Compound<'a>, WriteError> {
        if name == RAW_VALUE || name == NUMBER {
            self.not_key()?;
            return Ok(Compound::raw(self, name));
        }
        self.open(b'{', b"}")
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _length: usize,
    ) -> Result<Compound<'a>, WriteError> {
        self.variant(variant)?.open(b'{', b"}}")
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), WriteError> {
        self.out.push(b'"');
        let mut inside = Inside {
            out: self.out,
            policy: self.policy,
        };
        // A `Display` that fails halfway leaves an open string, which `write` removes.
        fmt::write(&mut inside, format_args!("{value}"))
            .map_err(|_| ser::Error::custom("a Display implementation failed"))?;
        self.out.push(b'"');
        Ok(())
    }
}

/// The content of a string that is written in pieces.
struct Inside<'a> {
    out: &'a mut Vec<u8>,
    policy: Escape,
}

impl fmt::Write for Inside<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        escape(text, self.policy, self.out);
        Ok(())
    }
}

/// An array or object that is being written. It chooses the [`Form`] of each value in it.
struct Compound<'a> {
    inner: Serializer<'a>,
    close: &'static [u8],
    first: bool,
    /// The name of the only field, if this is a raw value, which serde_json represents as a struct.
    raw: Option<&'static str>,
}

impl<'a> Compound<'a> {
    fn new(inner: Serializer<'a>, close: &'static [u8]) -> Self {
        Self {
            inner,
            close,
            first: true,
            raw: None,
        }
    }

    fn raw(inner: Serializer<'a>, name: &'static str) -> Self {
        Self {
            inner,
            close: b"",
            first: true,
            raw: Some(name),
        }
    }

    #[inline]
    fn comma(&mut self) {
        if !self.first {
            self.inner.out.push(b',');
        }
        self.first = false;
    }

    #[inline]
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        self.comma();
        value.serialize(self.inner.again(Form::Value))
    }

    #[inline]
    fn field<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), WriteError> {
        let Some(name) = self.raw else {
            write_key(key, self.first, self.inner.policy, self.inner.out);
            self.first = false;
            return value.serialize(self.inner.again(Form::Value));
        };
        // A raw value has one field with this name, as serde_json writes it.
        if key != name || !self.first {
            return Err(WriteError::RAW);
        }
        self.first = false;
        // The text of the value is already JSON; escaping it as a string would quote it once more.
        value.serialize(self.inner.again(Form::Raw))
    }

    fn finish(self) -> Result<(), WriteError> {
        // A raw value without its field would write nothing where JSON requires a value.
        if self.raw.is_some() && self.first {
            return Err(WriteError::RAW);
        }
        self.inner.out.extend_from_slice(self.close);
        Ok(())
    }
}

/// Implements serde's traits for arrays and for the fields of objects.
macro_rules! pieces {
    ($($of:ident: $name:ident($($key:ident)?) = $write:ident),* $(,)?) => {$(
        impl ser::$of for Compound<'_> {
            type Ok = ();
            type Error = WriteError;

            #[inline]
            fn $name<T: Serialize + ?Sized>(
                &mut self,
                $($key: &'static str,)?
                value: &T,
            ) -> Result<(), WriteError> {
                self.$write($($key,)? value)
            }

            fn end(self) -> Result<(), WriteError> {
                self.finish()
            }
        }
    )*};
}

pieces! {
    SerializeSeq: serialize_element() = element,
    SerializeTuple: serialize_element() = element,
    SerializeTupleStruct: serialize_field() = element,
    SerializeTupleVariant: serialize_field() = element,
    SerializeStruct: serialize_field(key) = field,
    SerializeStructVariant: serialize_field(key) = field,
}

impl ser::SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = WriteError;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), WriteError> {
        self.comma();
        key.serialize(self.inner.again(Form::Key))
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        self.inner.out.push(b':');
        value.serialize(self.inner.again(Form::Value))
    }

    fn end(self) -> Result<(), WriteError> {
        self.finish()
    }
}
