use std::str::FromStr;

use sha2::{Digest, Sha256};

use super::{KeyError, KeyErrorKind};

/// The identifier of a key: the value of the identifier header and of `key_identifier`.
///
/// GitHub's identifiers are 64 lower-case hex digits. Other platforms with this protocol may
/// differ, so 1 to 256 visible ASCII characters are accepted. Identifiers are compared byte by
/// byte. `Debug` does not print the text.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct KeyId(Box<str>);

impl KeyId {
    /// Creates an identifier.
    ///
    /// # Errors
    ///
    /// [`KeyErrorKind::Identifier`] if the text is empty, longer than 256 bytes, or has characters other than
    /// visible ASCII.
    pub fn new(text: &str) -> Result<Self, KeyError> {
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        if visible && (1..=256).contains(&text.len()) {
            Ok(Self(text.into()))
        } else {
            Err(KeyError::new(KeyErrorKind::Identifier))
        }
    }

    /// Returns the identifier that GitHub gives to a key: the lower-case hex SHA-256 of its PEM
    /// text, final newline included.
    ///
    /// This is not documented, but true for every published key. It is only needed to write a key
    /// document: verification uses the identifiers in the document.
    pub fn from_pem(pem: &str) -> Self {
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

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

opaque_debug!(KeyId);

impl FromStr for KeyId {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        Self::new(text)
    }
}
