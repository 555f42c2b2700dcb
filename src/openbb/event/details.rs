//! Filters for the details of steps and citations.

use serde::Serialize;

use crate::json::{Json, Kind, Members, Wire, WriteError};

/// Keys that are removed from the details of citations, in any case: they are internal to the
/// Workspace, and the user should not read them.
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

/// The keys to remove from details.
#[derive(Clone, Copy)]
pub(super) enum Filter {
    Status,
    Citation,
}

impl Filter {
    fn removes(self, key: &str) -> bool {
        let key = key.to_lowercase();
        // As in openbb-ai, whose list for citations has no `url`.
        CITATION.contains(&key.as_str()) || matches!(self, Self::Status) && key == "url"
    }
}

/// Serializes a detail. From an object the filtered members are removed, at the top level only; the
/// caller's value is unchanged. Returns `None` if no member remains, because the Workspace would
/// display an empty row.
pub(super) fn detail<T: Serialize + ?Sized>(
    value: &T,
    filter: Filter,
) -> Result<Option<Json>, WriteError> {
    let json = crate::json::wire::encode(value)?;
    if json.kind() != Kind::Object {
        return Ok(Some(json));
    }
    let rest: Members = json
        .members()
        .filter(|(key, _)| !filter.removes(key))
        .map(|(key, value)| (key.into_owned(), value))
        .collect();
    Ok((!rest.is_empty()).then(|| rest.to_raw()))
}
