//! A key: of the server, or of the model's provider.

use std::fmt;

use http::HeaderValue;

/// A key: of the server, or of the model's provider. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(Box<str>);

/// Why a text is not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidKey {
    /// It is empty, or holds what no header can carry.
    #[error("a key is one line of visible characters")]
    Characters,
    /// It is what the server shows in the place of a key; sending it back would overwrite the key.
    #[error("this is a redacted key, not a key")]
    Redacted,
}

impl ApiKey {
    /// Checks that the text can be a key.
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

    /// The key itself.
    #[must_use]
    pub fn secret(&self) -> &str {
        &self.0
    }

    /// What the server shows in the place of the key.
    ///
    /// Meilisearch 1.50, `settings.rs`: below 10 characters `XXX...`, below 20 the first two and
    /// `XXXX...`, below 30 the first three and `XXXXX...`, else the first five and `XXXXXX...`.
    #[must_use]
    pub fn redacted(&self) -> String {
        let (shown, mask) = match self.0.len() {
            0..10 => (0, "XXX..."),
            10..20 => (2, "XXXX..."),
            20..30 => (3, "XXXXX..."),
            _ => (5, "XXXXXX..."),
        };
        let start = self.0.get(..shown).unwrap_or_default();
        format!("{start}{mask}")
    }

    /// The value of the `authorization` header, marked as a secret.
    pub(super) fn bearer(&self) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

/// Whether a text is what the server shows in the place of a key.
fn is_redacted(text: &str) -> bool {
    let Some(start) = text.strip_suffix("...") else {
        return false;
    };
    [(0, 3), (2, 4), (3, 5), (5, 6)]
        .into_iter()
        .any(|(shown, mask)| {
            start.len() == shown + mask && start.bytes().skip(shown).all(|byte| byte == b'X')
        })
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(..)")
    }
}
