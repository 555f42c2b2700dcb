//! Texts as JSON.

use crate::json::Json;

/// Serializes a text as a JSON string.
pub(super) fn string(text: &str) -> Json {
    // Serializing a string cannot fail.
    crate::json::wire::encode(text).unwrap_or_default()
}
