//! A change to one setting.

use crate::json::ValueWriter;

/// A change to one setting: what is absent stays, `null` goes back to the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Setting<T> {
    /// It stays as it is.
    #[default]
    Keep,
    /// It goes back to the default.
    Reset,
    /// It becomes this.
    Set(T),
}

impl<T> Setting<T> {
    /// Writes the member, unless it is to stay.
    pub(super) fn write(
        &self,
        object: &mut crate::json::ObjectWriter<'_>,
        key: &str,
        value: impl FnOnce(&T, ValueWriter<'_>),
    ) {
        match self {
            Self::Keep => {}
            // A place that is left empty is `null`.
            Self::Reset => drop(object.member(key)),
            Self::Set(set) => value(set, object.member(key)),
        }
    }

    /// Whether it stays as it is.
    #[must_use]
    pub fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }
}

impl<T> From<T> for Setting<T> {
    fn from(value: T) -> Self {
        Self::Set(value)
    }
}

impl From<&str> for Setting<String> {
    fn from(value: &str) -> Self {
        Self::Set(value.to_owned())
    }
}
