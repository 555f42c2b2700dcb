//! Keys of the server.

use http::HeaderValue;

use super::InstanceError;

/// A key of the server. `Debug` does not print it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(Box<str>);

impl ApiKey {
    /// Creates a key from a text, after checking it.
    ///
    /// # Errors
    ///
    /// [`InstanceError::Key`] if the text is empty, or has characters that are not valid in a header.
    pub fn new(key: impl Into<Box<str>>) -> Result<Self, InstanceError> {
        let key = key.into();
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(InstanceError::Key);
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

opaque_debug!(ApiKey);
