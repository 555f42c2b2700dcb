//! Text that must not end up in a log.

use std::fmt;

use crate::json::model::Field;
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

impl Field for Secret {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        Ok(String::read_from(reader)?.map(Self))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        to.str(&self.0);
    }
}
