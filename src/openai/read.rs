//! Reading the members that models name.
//!
//! A value of another kind, `null` included, is the same as none: it is skipped, because a member
//! that were also kept as an unknown one would be written twice.

use std::borrow::Cow;

use crate::json::{JsonError, Kind, Reader};

/// What `read` finds; what it leaves unread is skipped.
fn or_skip<'a, T>(
    reader: &mut Reader<'a>,
    read: impl FnOnce(&mut Reader<'a>) -> Result<Option<T>, JsonError>,
) -> Result<Option<T>, JsonError> {
    let value = read(reader)?;
    if value.is_none() {
        reader.skip()?;
    }
    Ok(value)
}

/// A string.
pub(super) fn string(reader: &mut Reader<'_>) -> Result<Option<String>, JsonError> {
    or_skip(reader, |reader| Ok(reader.string()?.map(Cow::into_owned)))
}

/// A boolean.
pub(super) fn bool(reader: &mut Reader<'_>) -> Result<Option<bool>, JsonError> {
    or_skip(reader, |reader| reader.bool())
}

/// A whole number.
pub(super) fn u64(reader: &mut Reader<'_>) -> Result<Option<u64>, JsonError> {
    or_skip(reader, |reader| reader.u64())
}

/// A number.
pub(super) fn f64(reader: &mut Reader<'_>) -> Result<Option<f64>, JsonError> {
    or_skip(reader, |reader| reader.f64())
}

/// The position in a list; absent is the first. One that cannot be is an error, because taking it
/// for another would mix two entries up.
pub(super) fn index(reader: &mut Reader<'_>) -> Result<u32, JsonError> {
    if reader.null()? {
        return Ok(0);
    }
    let index = reader.u64()?.and_then(|index| u32::try_from(index).ok());
    index.ok_or_else(|| reader.expected("an index"))
}

/// A list, of which odd elements are left out.
pub(super) fn list<'a, T>(
    reader: &mut Reader<'a>,
    mut read: impl FnMut(&mut Reader<'a>) -> Result<T, JsonError>,
) -> Result<Option<Vec<T>>, JsonError> {
    if !reader.is(Kind::Array) {
        return reader.skip().map(|()| None);
    }
    let mut list = Vec::new();
    reader.array(|reader, _| {
        let bookmark = reader.clone();
        match read(reader) {
            Ok(element) => {
                // Nearly every chunk has one choice: no room for three more.
                if list.is_empty() {
                    list.reserve_exact(1);
                }
                list.push(element);
            }
            Err(error) => {
                *reader = bookmark;
                // Where the element is no JSON at all, the first error has the better place.
                reader.skip().map_err(|_| error)?;
            }
        }
        Ok(())
    })?;
    Ok(Some(list))
}

/// An object.
pub(super) fn object<'a, T>(
    reader: &mut Reader<'a>,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T, JsonError>,
) -> Result<Option<T>, JsonError> {
    if !reader.is(Kind::Object) {
        return reader.skip().map(|()| None);
    }
    read(reader).map(Some)
}
