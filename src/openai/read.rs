//! Reading members that front ends fill in loosely: `null` is the same as absent.

use std::borrow::Cow;

use crate::json::{JsonError, Kind, Reader};

/// A string; a value of another kind is left unread.
pub(super) fn string(reader: &mut Reader<'_>) -> Result<Option<String>, JsonError> {
    if reader.null()? {
        return Ok(None);
    }
    Ok(reader.string()?.map(Cow::into_owned))
}

/// A number; a value of another kind is left unread.
pub(super) fn u64(reader: &mut Reader<'_>) -> Result<Option<u64>, JsonError> {
    if reader.null()? {
        return Ok(None);
    }
    reader.u64()
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

/// A list of which odd elements are left out; anything but a list is left unread.
pub(super) fn list<'a, T>(
    reader: &mut Reader<'a>,
    mut read: impl FnMut(&mut Reader<'a>) -> Result<T, JsonError>,
) -> Result<Vec<T>, JsonError> {
    let mut list = Vec::new();
    if reader.null()? || !reader.is(Kind::Array) {
        return Ok(list);
    }
    reader.array(|reader, _| {
        if let Ok(element) = reader.value_or_raw(&mut read)? {
            list.push(element);
        }
        Ok(())
    })?;
    Ok(list)
}

/// An object; a value of another kind is left unread.
pub(super) fn object<'a, T>(
    reader: &mut Reader<'a>,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T, JsonError>,
) -> Result<Option<T>, JsonError> {
    if reader.null()? || !reader.is(Kind::Object) {
        return Ok(None);
    }
    read(reader).map(Some)
}
