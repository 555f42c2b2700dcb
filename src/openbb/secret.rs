//! Text that must not be logged.

use std::fmt;

use crate::json::{JsonError, Reader, ValueWriter, Wire};

/// A key or a token. `Debug` does not print it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Secret(String);

impl Secret {
    /// Creates a secret.
    #[must_use]
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    /// Returns the secret text.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Wire for Secret {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        Ok(String::read_from(reader)?.map(Self))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        to.str(&self.0);
    }
}
