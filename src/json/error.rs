//! Errors of reading and writing JSON.

use std::fmt::{self, Display, Write as _};

/// The maximum number of characters of a key in a path; longer keys are truncated.
const KEY_SHOWN: usize = 32;
/// The maximum length of a path in bytes; the inner end of a longer path is omitted.
const PATH_SHOWN: usize = 256;

/// The error for a text that is not the expected JSON.
///
/// The error contains the position and the expected value, never the actual value: bodies contain keys and tokens.
///
/// ```
/// use bytes::Bytes;
/// use copilot_wire::json::Reader;
///
/// let body = Bytes::from_static(br#"{"messages": [{"role": }]}"#);
/// let mut reader = Reader::new(&body)?;
/// let error = reader
///     .object(|reader, _| {
///         reader.array(|reader, _| reader.object(|reader, _| reader.value().map(drop)))
///     })
///     .unwrap_err();
/// assert_eq!(error.path(), "messages[0].role");
/// assert_eq!(error.to_string(), "expected a value at messages[0].role (byte 23)");
/// # Ok::<(), copilot_wire::json::JsonError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct JsonError(Box<Place>);

#[derive(Clone, PartialEq, Eq)]
struct Place {
    expected: &'static str,
    offset: usize,
    truncated: bool,
    path: String,
}

impl JsonError {
    /// Creates an error at a byte offset of `text`.
    #[cold]
    pub(super) fn at(text: &[u8], offset: usize, expected: &'static str) -> Self {
        Self(Box::new(Place {
            expected,
            offset,
            truncated: offset >= text.len(),
            path: String::new(),
        }))
    }

    /// Returns the expected value, such as `a value`.
    pub fn expected(&self) -> &'static str {
        self.0.expected
    }

    /// Returns the byte offset in the text.
    pub fn offset(&self) -> usize {
        self.0.offset
    }

    /// Returns the path of the value, such as `messages[3].role`; empty for the root.
    ///
    /// Long keys are truncated. A key with characters other than letters, digits, `_` and `-` is written in brackets
    /// and quotes.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// Returns `true` if the text ended too early.
    pub fn is_truncated(&self) -> bool {
        self.0.truncated
    }

    /// Prepends the key of an object to the path, for code that returns an error of an inner
    /// reader.
    #[cold]
    #[must_use]
    pub fn at_key(self, key: &str) -> Self {
        let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let mut shown: String = key.chars().take(KEY_SHOWN).collect();
        let simple = !shown.is_empty() && shown.chars().all(plain);
        if shown.len() < key.len() {
            shown.push('…');
        }
        if simple {
            self.inside(shown)
        } else {
            self.inside(format!("[{shown:?}]"))
        }
    }

    /// Prepends an index of an array to the path, for code that returns an error of an inner
    /// reader.
    #[cold]
    #[must_use]
    pub fn at_index(self, index: usize) -> Self {
        self.inside(format!("[{index}]"))
    }

    fn inside(mut self, mut outer: String) -> Self {
        if !(self.0.path.is_empty() || self.0.path.starts_with('[')) {
            outer.push('.');
        }
        outer.push_str(&self.0.path);
        if outer.len() > PATH_SHOWN {
            let fits = |&(at, _): &(usize, char)| at <= PATH_SHOWN;
            // Between characters: paths contain keys of the request, in any language.
            let cut = outer.char_indices().take_while(fits).last();
            outer.truncate(cut.map_or(0, |(at, _)| at));
            outer.push('…');
        }
        self.0.path = outer;
        self
    }
}

impl Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = &*self.0;
        write!(f, "expected {}", place.expected)?;
        if place.truncated {
            f.write_str(" before the end of the text")?;
        }
        if place.path.is_empty() {
            write!(f, " at byte {}", place.offset)
        } else {
            write!(f, " at {} (byte {})", place.path, place.offset)
        }
    }
}

impl fmt::Debug for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JsonError({self})")
    }
}

impl std::error::Error for JsonError {}

/// The error for a value that cannot be written as JSON.
///
/// `Display` and `Debug` never print the value. [`message`](Self::message) returns the message of the value's own
/// `Serialize`, for callers that know that the message contains no secret.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct WriteError {
    reason: &'static str,
    message: Option<Box<str>>,
}

impl WriteError {
    pub(super) const DEPTH: Self = Self::of("the value is nested too deeply");
    pub(super) const KEY: Self = Self::of("a key must be a string");
    pub(super) const KEY_NOT_FINITE: Self = Self::of("a number as a key must be finite");
    pub(super) const RAW: Self = Self::of("a raw value must be JSON text");

    const fn of(reason: &'static str) -> Self {
        Self {
            reason,
            message: None,
        }
    }

    /// Returns the message of the value's own `Serialize` implementation, if that implementation failed.
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }
}

impl fmt::Debug for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WriteError({self})")
    }
}

impl serde::ser::Error for WriteError {
    fn custom<T: Display>(message: T) -> Self {
        let mut text = String::new();
        // If a `Display` fails, the text written before is used.
        let _ = write!(text, "{message}");
        Self {
            message: Some(text.into()),
            ..Self::of("the value could not be serialized")
        }
    }
}
