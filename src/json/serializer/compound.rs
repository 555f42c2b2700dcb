//! Serializers of arrays and objects.

use serde::ser::{self, Serialize};

use super::super::error::WriteError;
use super::{Form, Serializer, write_key};

/// An array or object that is being written. It chooses the [`Form`] of each value in it.
pub(super) struct Compound<'a> {
    pub(super) inner: Serializer<'a>,
    close: &'static [u8],
    first: bool,
    /// The name of the only field, if this is a raw value, which serde_json represents as a struct.
    raw: Option<&'static str>,
}

impl<'a> Compound<'a> {
    pub(super) fn new(inner: Serializer<'a>, close: &'static [u8]) -> Self {
        Self {
            inner,
            close,
            first: true,
            raw: None,
        }
    }

    pub(super) fn raw(inner: Serializer<'a>, name: &'static str) -> Self {
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
