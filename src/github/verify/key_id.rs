use std::{fmt, str::FromStr};

use sha2::{Digest, Sha256};

/// Which key signed a request: the value of the identifier header and of `key_identifier`.
///
/// GitHub writes 64 lower-case hex digits; other platforms that speak this protocol may not, so any
/// 1 to 256 visible ASCII characters will do. Identifiers are equal when their bytes are. `Debug`
/// hides the text.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct KeyId(Box<str>);

impl KeyId {
    /// Checks and wraps an identifier.
    ///
    /// # Errors
    ///
    /// [`InvalidKeyId`] when the text is empty, longer than 256 bytes, or has anything but visible
    /// ASCII.
    pub fn new(text: &str) -> Result<Self, InvalidKeyId> {
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        if visible && (1..=256).contains(&text.len()) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidKeyId)
        }
    }

    /// The identifier that GitHub gives to a key: the lower-case hex SHA-256 of its PEM text, final
    /// newline included.
    ///
    /// Documented nowhere, but true for every published key. Keys are looked up by what the key
    /// document says; this is for whoever writes such a document.
    pub fn of_pem(pem: &str) -> Self {
        let digits = Sha256::digest(pem.as_bytes());
        let hex = |nibble: u8| char::from_digit(nibble.into(), 16);
        Self(
            digits
                .iter()
                .flat_map(|byte| [hex(byte >> 4), hex(byte & 15)])
                .flatten()
                .collect(),
        )
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyId(..)")
    }
}

impl FromStr for KeyId {
    type Err = InvalidKeyId;

    fn from_str(text: &str) -> Result<Self, InvalidKeyId> {
        Self::new(text)
    }
}

/// A text that cannot be a [`KeyId`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("key identifier is not 1 to 256 visible ASCII characters")]
#[non_exhaustive]
pub struct InvalidKeyId;
