//! Changes of settings.

use crate::json::ValueWriter;

/// A change of one setting: an absent member does not change it, `null` resets it to the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Setting<T> {
    /// The setting is not changed.
    #[default]
    Unchanged,
    /// The setting is reset to the default.
    Reset,
    /// The setting gets this value.
    Set(T),
}

impl<T> Setting<T> {
    /// Writes the member, unless the setting is not changed.
    pub(super) fn write(
        &self,
        object: &mut crate::json::ObjectWriter<'_>,
        key: &str,
        value: impl FnOnce(&T, ValueWriter<'_>),
    ) {
        match self {
            Self::Unchanged => {}
            // A member without a value is written as `null`.
            Self::Reset => drop(object.member(key)),
            Self::Set(set) => value(set, object.member(key)),
        }
    }

    /// Returns `true` if the setting is not changed.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        matches!(self, Self::Unchanged)
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
