//! URLs that can contain secrets.

use std::fmt;
use std::ops::Deref;

use crate::json::{JsonError, Reader, ValueWriter, Wire};
use crate::protocol::RedactedUrl;

/// A URL as text, unchecked. `Debug` prints neither user, password nor query, which can be secrets;
/// `Display` prints all of it.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Url(String);

impl Url {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Url {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Deref for Url {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

from! {
    &str => Url: |url| Self(url.to_owned()),
    String => Url: Self,
    Url => String: |url| url.0,
}

impl PartialEq<str> for Url {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for Url {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        RedactedUrl(&self.0).fmt(f)
    }
}

impl Wire for Url {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        Ok(String::read_from(reader)?.map(Self))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        to.str(&self.0);
    }

    fn is_absent(&self) -> bool {
        self.0.is_empty()
    }
}
