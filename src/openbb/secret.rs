//! Text that must not be logged.

use crate::json::{JsonError, Reader, ValueWriter, Wire};

/// A key or a token. `Debug` does not print it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Secret(String);

impl Secret {
    /// Creates a secret.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    /// Returns the secret text.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

opaque_debug!(Secret);

impl Wire for Secret {
    const HAS_SECRET: bool = true;

    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        Ok(String::read_from(reader)?.map(Self))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        to.str(&self.0);
    }
}
