//! Event names and event ids: text that is safe inside one line of the stream.

use std::borrow::Cow;
use std::fmt;

/// The name (type) of an event: not empty, and without CR or LF.
///
/// HTML standard, server-sent events, "Interpreting an event stream": CR, LF and CR LF end a line, so a name that
/// contains one could forge fields and events. An empty `event` field means `message`, so an empty name would be read
/// as `message`. All other characters are valid.
///
/// [`event_name!`](crate::event_name) creates a name from a literal, checked at compile time.
///
/// ```
/// use copilot_wire::sse::EventName;
///
/// let name = EventName::try_from("tick")?;
/// assert_eq!(name.as_str(), "tick");
///
/// let error = EventName::try_from("tick\ndata: forged").unwrap_err();
/// assert_eq!(error.to_string(), "event name holds a line end at byte 4");
/// # Ok::<(), copilot_wire::sse::InvalidText>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EventName(Cow<'static, str>);

impl EventName {
    /// Creates a name from static text, without copying it.
    ///
    /// # Errors
    ///
    /// [`InvalidText`] if the name is empty or has CR or LF.
    pub const fn from_static(name: &'static str) -> Result<Self, InvalidText> {
        match InvalidText::name(name) {
            Some(error) => Err(error),
            None => Ok(Self(Cow::Borrowed(name))),
        }
    }

    /// Creates a name from a literal; for `event_name!`, which calls it only in a `const` block, where the assertion is
    /// a compile error. (`from_static` is not usable there: moving the name out of its `Result` would drop the other
    /// variant, which a constant must not do.)
    #[doc(hidden)]
    pub const fn from_literal(name: &'static str) -> Self {
        assert!(
            InvalidText::name(name).is_none(),
            "an event name must not be empty and must not hold CR or LF"
        );
        Self(Cow::Borrowed(name))
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Creates an [`EventName`](crate::sse::EventName) from a literal, checked at compile time.
///
/// ```
/// use copilot_wire::event_name;
///
/// let name = event_name!("copilotMessageChunk");
/// assert_eq!(name.as_str(), "copilotMessageChunk");
/// ```
///
/// A name that could forge a line does not compile:
///
/// ```compile_fail
/// let name = copilot_wire::event_name!("a\nb");
/// ```
///
/// An empty name does not compile either:
///
/// ```compile_fail
/// let name = copilot_wire::event_name!("");
/// ```
#[macro_export]
macro_rules! event_name {
    ($name:expr) => {
        const { $crate::sse::EventName::from_literal($name) }
    };
}

/// The id of an event: without CR, LF and U+0000. It may be empty.
///
/// HTML standard, server-sent events, "Interpreting an event stream": line ends end the field, and
/// readers ignore an `id` with U+0000. An empty id resets the reader's last event id.
///
/// ```
/// use copilot_wire::sse::EventId;
///
/// assert_eq!(EventId::try_from("42")?.as_str(), "42");
/// assert!(EventId::try_from("4\02").is_err());
/// # Ok::<(), copilot_wire::sse::InvalidText>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EventId(Cow<'static, str>);

impl EventId {
    /// Creates an id from static text, without copying it.
    ///
    /// # Errors
    ///
    /// [`InvalidText`] if the id has CR, LF or U+0000.
    pub const fn from_static(id: &'static str) -> Result<Self, InvalidText> {
        match InvalidText::id(id) {
            Some(error) => Err(error),
            None => Ok(Self(Cow::Borrowed(id))),
        }
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The error for a text that is not a valid [`EventName`] or [`EventId`]: the reason and the position, not the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("event {what} {fault}")]
pub struct InvalidText {
    what: &'static str,
    fault: Fault,
}

impl InvalidText {
    const fn name(name: &str) -> Option<Self> {
        let fault = match name.is_empty() {
            true => Some(Fault::Empty),
            false => Fault::find(name, false),
        };
        Self::of("name", fault)
    }

    const fn id(id: &str) -> Option<Self> {
        Self::of("id", Fault::find(id, true))
    }

    const fn of(what: &'static str, fault: Option<Fault>) -> Option<Self> {
        match fault {
            Some(fault) => Some(Self { what, fault }),
            None => None,
        }
    }

    /// Returns the byte offset of the error; 0 for an empty name.
    pub const fn offset(&self) -> usize {
        self.fault.offset()
    }
}

/// The reason why a text is not valid in one line of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Fault {
    #[error("is empty")]
    Empty,
    #[error("holds a line end at byte {0}")]
    LineEnd(usize),
    #[error("holds a null at byte {0}")]
    Null(usize),
}

impl Fault {
    const fn find(text: &str, refuse_null: bool) -> Option<Self> {
        let mut rest = text.as_bytes();
        // Patterns are used because iterators do not work in a `const fn`.
        while let [byte, tail @ ..] = rest {
            let offset = text.len() - rest.len();
            match byte {
                b'\r' | b'\n' => return Some(Self::LineEnd(offset)),
                // Readers ignore an id with U+0000 (HTML standard, server-sent events), so it would have no effect and
                // no error.
                b'\0' if refuse_null => return Some(Self::Null(offset)),
                _ => rest = tail,
            }
        }
        None
    }

    const fn offset(self) -> usize {
        match self {
            Self::Empty => 0,
            Self::LineEnd(offset) | Self::Null(offset) => offset,
        }
    }
}

/// Implements the conversions and accessors of `EventName` and `EventId`.
macro_rules! checked_text {
    ($type:ident, $find:ident) => {
        impl TryFrom<String> for $type {
            type Error = InvalidText;

            fn try_from(text: String) -> Result<Self, InvalidText> {
                match InvalidText::$find(&text) {
                    Some(error) => Err(error),
                    None => Ok(Self(Cow::Owned(text))),
                }
            }
        }

        impl TryFrom<&str> for $type {
            type Error = InvalidText;

            fn try_from(text: &str) -> Result<Self, InvalidText> {
                match InvalidText::$find(text) {
                    Some(error) => Err(error),
                    None => Ok(Self(Cow::Owned(text.to_owned()))),
                }
            }
        }

        impl AsRef<str> for $type {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

checked_text!(EventName, name);
checked_text!(EventId, id);
