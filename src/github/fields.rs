//! Reading and writing members so that none is lost.
//!
//! Real senders write `null` where an array is expected, empty strings and empty arrays for nothing,
//! and leave members out (recorded, VS Code, `gh debug-cli`). A field takes a value that says
//! something; what says nothing stays unread, so it is kept among the unknown members and written
//! back as it came.

use std::borrow::Cow;

use crate::json::{JsonError, Kind, Members, ObjectWriter, Reader};

/// A string that is not empty.
pub(super) fn text(reader: &mut Reader<'_>) -> Result<Option<String>, JsonError> {
    let bookmark = reader.clone();
    let text = reader.string()?.filter(|text| !text.is_empty());
    if text.is_none() {
        *reader = bookmark;
    }
    Ok(text.map(Cow::into_owned))
}

/// A string, also an empty one.
pub(super) fn string(reader: &mut Reader<'_>) -> Result<Option<String>, JsonError> {
    Ok(reader.string()?.map(Cow::into_owned))
}

/// The elements of an array that is not empty.
pub(super) fn list<T>(
    reader: &mut Reader<'_>,
    mut read: impl FnMut(&mut Reader<'_>) -> Result<T, JsonError>,
) -> Result<Vec<T>, JsonError> {
    let mut list = Vec::new();
    if !reader.is(Kind::Array) {
        return Ok(list);
    }
    let bookmark = reader.clone();
    reader.array(|reader, _| {
        list.push(read(reader)?);
        Ok(())
    })?;
    if list.is_empty() {
        *reader = bookmark;
    }
    Ok(list)
}

/// An integer, also one that was written with a fraction of zero: senders write `0` and `0.0`.
pub(super) fn integer(reader: &mut Reader<'_>) -> Result<Option<u64>, JsonError> {
    if let Some(value) = reader.u64()? {
        return Ok(Some(value));
    }
    Ok(reader.f64()?.and_then(whole))
}

/// A float as the integer that it is, up to where floats hold every integer.
pub(super) fn whole(value: f64) -> Option<u64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let fits = value.fract() == 0.0 && (0.0..=EXACT).contains(&value);
    // The range is checked, and there is no other conversion.
    fits.then_some(value as u64)
}

/// An id: a string, or the digits of a number. Repository ids come as both.
pub(super) fn id<'a>(reader: &mut Reader<'a>) -> Result<Option<Cow<'a, str>>, JsonError> {
    if reader.is(Kind::Number) {
        return Ok(Some(Cow::Owned(reader.value()?.text().to_owned())));
    }
    Ok(reader.string()?.filter(|id| !id.is_empty()))
}

/// Writes the unknown members, without those whose field has been written by now.
pub(super) fn rest(
    object: &mut ObjectWriter<'_>,
    unknown: &Members,
    written: impl Fn(&str) -> bool,
) {
    for (key, value) in unknown.iter().filter(|(key, _)| !written(key)) {
        object.member(key).raw(value);
    }
}
