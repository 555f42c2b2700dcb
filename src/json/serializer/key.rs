//! Keys of maps: strings, and numbers and booleans in quotes.

use std::fmt::Display;

use serde::ser::{self, Impossible, Serialize};

use super::super::error::WriteError;
use super::{Serializer, write_number};

/// A serializer of one key, with its quotes.
pub(super) struct KeySerializer<'a>(pub(super) Serializer<'a>);

impl KeySerializer<'_> {
    fn quoted<T: Serialize>(self, value: T) -> Result<(), WriteError> {
        self.0.out.push(b'"');
        // RFC 8259, section 4: names are strings, so numbers and booleans are quoted, as in
        // serde_json.
        write_number(value, self.0.out)?;
        self.0.out.push(b'"');
        Ok(())
    }
}

macro_rules! quoted {
    ($($name:ident($type:ty))*) => {$(
        fn $name(self, value: $type) -> Result<(), WriteError> {
            self.quoted(value)
        }
    )*};
}

macro_rules! finite {
    ($($name:ident($type:ty))*) => {$(
        fn $name(self, value: $type) -> Result<(), WriteError> {
            if value.is_finite() {
                self.quoted(value)
            } else {
                Err(WriteError::KEY_NOT_FINITE)
            }
        }
    )*};
}

macro_rules! refused {
    ($($name:ident($($type:ty),*) -> $ok:ty;)*) => {$(
        fn $name(self, $(_: $type),*) -> Result<$ok, WriteError> {
            Err(WriteError::KEY)
        }
    )*};
}

/// The type of the keys that are not supported.
type Never = Impossible<(), WriteError>;

impl ser::Serializer for KeySerializer<'_> {
    type Ok = ();
    type Error = WriteError;
    type SerializeSeq = Never;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Never;
    type SerializeStruct = Never;
    type SerializeStructVariant = Never;

    #[inline]
    fn serialize_str(self, value: &str) -> Result<(), WriteError> {
        self.0.serialize_str(value)
    }

    fn serialize_char(self, value: char) -> Result<(), WriteError> {
        self.0.serialize_char(value)
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), WriteError> {
        self.0.collect_str(value)
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<(), WriteError> {
        self.0.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<(), WriteError> {
        value.serialize(KeySerializer(self.0.unwrap_one()?))
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), WriteError> {
        value.serialize(KeySerializer(self.0.unwrap_one()?))
    }

    quoted! {
        serialize_bool(bool)
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64)
        serialize_i128(i128) serialize_u128(u128)
    }

    finite! {
        serialize_f32(f32) serialize_f64(f64)
    }

    refused! {
        serialize_bytes(&[u8]) -> ();
        serialize_none() -> ();
        serialize_unit() -> ();
        serialize_unit_struct(&'static str) -> ();
        serialize_seq(Option<usize>) -> Never;
        serialize_tuple(usize) -> Never;
        serialize_tuple_struct(&'static str, usize) -> Never;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Never;
        serialize_map(Option<usize>) -> Never;
        serialize_struct(&'static str, usize) -> Never;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Never;
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _value: &T,
    ) -> Result<(), WriteError> {
        Err(WriteError::KEY)
    }
}
