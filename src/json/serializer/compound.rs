//! Arrays and objects, while they are being written.

use serde::ser::{self, Serialize, SerializeSeq};

use super::super::error::WriteError;
use super::key::KeySerializer;
use super::{Serializer, write_key};

/// An array or object that is being written.
pub(super) struct Compound<'a> {
    inner: Serializer<'a>,
    close: &'static [u8],
    first: bool,
    /// The name of the only field, when this is a raw value in disguise.
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
    fn finish(self) -> Result<(), WriteError> {
        self.inner.out.extend_from_slice(self.close);
        Ok(())
    }
}

impl SerializeSeq for Compound<'_> {
    type Ok = ();
    type Error = WriteError;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        self.comma();
        value.serialize(self.inner.again())
    }

    fn end(self) -> Result<(), WriteError> {
        self.finish()
    }
}

impl ser::SerializeTuple for Compound<'_> {
    type Ok = ();
    type Error = WriteError;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        SerializeSeq::serialize_element(self, value)
    }

    fn end(self) -> Result<(), WriteError> {
        self.finish()
    }
}

impl ser::SerializeTupleStruct for Compound<'_> {
    type Ok = ();
    type Error = WriteError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        SerializeSeq::serialize_element(self, value)
    }

    fn end(self) -> Result<(), WriteError> {
        self.finish()
    }
}

impl ser::SerializeTupleVariant for Compound<'_> {
    type Ok = ();
    type Error = WriteError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        SerializeSeq::serialize_element(self, value)
    }

    fn end(self) -> Result<(), WriteError> {
        self.finish()
    }
}

impl ser::SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = WriteError;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), WriteError> {
        self.comma();
        key.serialize(KeySerializer(self.inner.again()))
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        self.inner.out.push(b':');
        value.serialize(self.inner.again())
    }

    fn end(self) -> Result<(), WriteError> {
        self.finish()
    }
}

impl ser::SerializeStruct for Compound<'_> {
    type Ok = ();
    type Error = WriteError;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), WriteError> {
        if let Some(name) = self.raw {
            if key != name || !self.first {
                return Err(WriteError::RAW);
            }
            self.first = false;
            return value.serialize(Serializer {
                raw: true,
                ..self.inner.again()
            });
        }
        write_key(key, self.first, self.inner.policy, self.inner.out);
        self.first = false;
        value.serialize(self.inner.again())
    }

    fn end(self) -> Result<(), WriteError> {
        if self.raw.is_some() && self.first {
            return Err(WriteError::RAW);
        }
        self.finish()
    }
}

impl ser::SerializeStructVariant for Compound<'_> {
    type Ok = ();
    type Error = WriteError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), WriteError> {
        ser::SerializeStruct::serialize_field(self, key, value)
    }

    fn end(self) -> Result<(), WriteError> {
        self.finish()
    }
}
