//! Implementations of `Wire` for the types of members: strings, numbers, options, and raw JSON.

use std::borrow::Cow;

use super::{Wire, object};
use crate::json::error::JsonError;
use crate::json::kind::Kind;
use crate::json::members::Members;
use crate::json::object_writer::ValueWriter;
use crate::json::place::Place;
use crate::json::reader::Reader;
use crate::json::value::Json;

impl Wire for String {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        Ok(reader.string()?.map(Cow::into_owned))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        to.str(self);
    }

    fn each_string(&self, each: &mut dyn FnMut(&str)) {
        each(self);
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl Wire for bool {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        reader.bool()
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        to.bool(*self);
    }

    fn is_absent(&self) -> bool {
        !self
    }
}

impl Wire for u64 {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        reader.u64()
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        to.u64(*self);
    }
}

impl Wire for f64 {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        reader.f64()
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        // A number that is not finite is written as `null`; there are no other errors.
        let _ = to.value(self);
    }
}

impl Wire for Json {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        reader.value().map(Some)
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        to.raw(self);
    }

    fn each_string(&self, each: &mut dyn FnMut(&str)) {
        Self::each_string(self, each);
    }

    fn is_absent(&self) -> bool {
        self.is_null()
    }
}

impl Wire for Members {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        if !reader.is(Kind::Object) {
            return Ok(None);
        }
        let mut members = Self::new();
        reader.object_keeping(&mut members, |_, _| Ok(()))?;
        Ok(Some(members))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        object(to, |object| {
            object.members(self);
        });
    }

    fn each_string(&self, each: &mut dyn FnMut(&str)) {
        for (key, value) in self {
            each(key);
            value.each_string(each);
        }
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Wire> Wire for Option<T> {
    const HAS_SECRET: bool = T::HAS_SECRET;

    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        Ok(T::read_from(reader)?.map(Some))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        // If nothing is written, the value is `null`.
        if let Some(value) = self {
            value.write_to(to);
        }
    }

    fn each_string(&self, each: &mut dyn FnMut(&str)) {
        if let Some(value) = self {
            value.each_string(each);
        }
    }

    fn each_odd(&self, place: &Place<'_>, each: &mut dyn FnMut(&Place<'_>, &Json)) {
        if let Some(value) = self {
            value.each_odd(place, each);
        }
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }

    fn drop_odd(&mut self) {
        if let Some(value) = self {
            value.drop_odd();
        }
    }
}

impl<T: Wire> Wire for Box<T> {
    const HAS_SECRET: bool = T::HAS_SECRET;
    const NAMES: &'static [&'static str] = T::NAMES;
    const REQUIRED: &'static [&'static str] = T::REQUIRED;
    const TAG: &'static str = T::TAG;

    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        Ok(T::read_from(reader)?.map(Self::new))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        T::write_to(self, to);
    }

    fn each_string(&self, each: &mut dyn FnMut(&str)) {
        T::each_string(self, each);
    }

    fn each_odd(&self, place: &Place<'_>, each: &mut dyn FnMut(&Place<'_>, &Json)) {
        T::each_odd(self, place, each);
    }

    fn is_absent(&self) -> bool {
        T::is_absent(self)
    }

    fn unknown(&mut self) -> Option<&mut Members> {
        T::unknown(self)
    }

    fn drop_odd(&mut self) {
        T::drop_odd(self);
    }
}

/// An index in a list. Any other value is an error, because a wrong index would mix two entries.
impl Wire for u32 {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        let index = reader.u64()?.and_then(|index| Self::try_from(index).ok());
        index.map(Some).ok_or_else(|| reader.expected("an index"))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        to.u64(u64::from(*self));
    }
}

impl Wire for u8 {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        Ok(reader.u64()?.and_then(|byte| Self::try_from(byte).ok()))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        to.u64(u64::from(*self));
    }
}
