//! Keys of the server.

use std::fmt;

use http::HeaderValue;

/// A key of the server. `Debug` does not print it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(Box<str>);

/// The error for a text that is not a key: it is empty, or has characters that are not valid in a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key must be one line of visible ASCII characters")]
#[non_exhaustive]
pub struct InvalidKey;

impl ApiKey {
    /// Creates a key from a text, after checking it.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`].
    pub fn new(key: impl Into<Box<str>>) -> Result<Self, InvalidKey> {
        let key = key.into();
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(InvalidKey);
        }
        Ok(Self(key))
    }

    /// Returns the value of the `authorization` header, marked as sensitive.
    pub(super) fn bearer(&self) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(..)")
    }
}
