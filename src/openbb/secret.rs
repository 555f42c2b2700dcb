//! Text that must not end up in a log.

use std::fmt;

use super::wire::Wire;
use crate::json::{JsonError, Reader, ValueWriter};

/// A key or a token: `Debug` never shows it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret.
    #[must_use]
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    /// The secret itself, for the one place that needs it.
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
    fn read(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        Ok(String::read(reader)?.map(Self))
    }

    fn write(&self, to: ValueWriter<'_>) {
        to.str(&self.0);
    }
}
