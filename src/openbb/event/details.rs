//! Which details the Workspace must not see.

use serde::Serialize;

use crate::json::model::Field;
use crate::json::{Json, Kind, Members, WriteError};

/// Keys that are removed from the details of a citation, whatever their case: internals of the
/// Workspace that the user should not read.
const CITATION: [&str; 11] = [
    "lastupdated",
    "source",
    "id",
    "uuid",
    "storedfileuuid",
    "datakey",
    "originalfilename",
    "extension",
    "category",
    "subcategory",
    "transcript_url",
];

/// What is removed from details.
#[derive(Clone, Copy)]
pub(super) enum Filter {
    Status,
    Citation,
}

impl Filter {
    fn removes(self, key: &str) -> bool {
        let key = key.to_lowercase();
        CITATION.contains(&key.as_str()) || matches!(self, Self::Status) && key == "url"
    }
}

/// Serialises one detail. Of an object the filtered members are left out, at the top level only.
/// The caller's own data stays as it is. `None` if nothing is left, which would be shown as an empty
/// row.
pub(super) fn detail<T: Serialize + ?Sized>(
    value: &T,
    filter: Filter,
) -> Result<Option<Json>, WriteError> {
    let json = crate::json::model::encode(value)?;
    if json.kind() != Kind::Object {
        return Ok(Some(json));
    }
    let kept: Members = json
        .members()
        .filter(|(key, _)| !filter.removes(key))
        .map(|(key, value)| (key.into_owned(), value))
        .collect();
    Ok((!kept.is_empty()).then(|| kept.to_raw()))
}
