//! Keys of the server and of the model's provider.

use std::fmt;

use http::HeaderValue;

/// A key of the server or of the model's provider. `Debug` does not print it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(Box<str>);

/// The reason why a text is not a valid key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidKey {
    /// The text is empty, or has characters that are not valid in a header.
    #[error("a key must be one line of visible ASCII characters")]
    Characters,
    /// The text is a redacted key, as the server displays it. Sending it back would overwrite the
    /// key.
    #[error("the key is redacted")]
    Redacted,
}

impl ApiKey {
    /// Creates a key from a text, after checking it.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`].
    pub fn new(key: impl Into<Box<str>>) -> Result<Self, InvalidKey> {
        let key = key.into();
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(InvalidKey::Characters);
        }
        if is_redacted(&key) {
            return Err(InvalidKey::Redacted);
        }
        Ok(Self(key))
    }

    /// Returns the key as text.
    #[must_use]
    pub fn secret(&self) -> &str {
        &self.0
    }

    /// Returns the redacted key, as the server displays it.
    ///
    /// The rule of Meilisearch 1.50, `settings.rs`: below 10 characters `XXX...`, below 20 the
    /// first two and `XXXX...`, below 30 the first three and `XXXXX...`, else the first five and
    /// `XXXXXX...`.
    #[must_use]
    pub fn redacted(&self) -> String {
        let (visible, mask) = match self.0.len() {
            0..10 => (0, "XXX..."),
            10..20 => (2, "XXXX..."),
            20..30 => (3, "XXXXX..."),
            _ => (5, "XXXXXX..."),
        };
        let start = self.0.get(..visible).unwrap_or_default();
        format!("{start}{mask}")
    }

    /// Returns the value of the `authorization` header, marked as sensitive.
    pub(super) fn bearer(&self) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

/// Returns `true` if a text is a redacted key.
fn is_redacted(text: &str) -> bool {
    let Some(start) = text.strip_suffix("...") else {
        return false;
    };
    [(0, 3), (2, 4), (3, 5), (5, 6)]
        .into_iter()
        .any(|(visible, mask)| {
            start.len() == visible + mask && start.bytes().skip(visible).all(|byte| byte == b'X')
        })
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(..)")
    }
}
