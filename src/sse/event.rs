//! Events, for writing and reading.

use std::borrow::Cow;

use super::{EventId, EventName};

/// An event: the input of [`encode`](super::encode) and the output of the
/// [`Decoder`](super::Decoder).
///
/// The name and the id come from validated types or from a decoder, so encoding an `Event` cannot fail.
///
/// ```
/// use copilot_wire::event_name;
/// use copilot_wire::sse::Event;
///
/// let name = event_name!("tick");
/// let event = Event::new("one\ntwo").named(&name);
/// assert_eq!(event.name(), "tick");
/// assert_eq!(event.data(), "one\ntwo");
/// assert_eq!(event.id(), "");
/// assert_eq!(Event::new("x").name(), "message");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Event<'a> {
    name: Cow<'a, str>,
    data: Cow<'a, str>,
    id: Cow<'a, str>,
}

impl<'a> Event<'a> {
    /// The name of an event whose `event` field is absent or empty (HTML standard, server-sent events, "Interpreting an
    /// event stream", dispatch: the type is `message` if the type buffer is empty).
    pub(super) const DEFAULT_NAME: &'static str = "message";

    /// Creates an event with data, the name `message` and no id.
    pub fn new(data: impl Into<Cow<'a, str>>) -> Self {
        Self {
            name: Cow::Borrowed(Self::DEFAULT_NAME),
            data: data.into(),
            id: Cow::Borrowed(""),
        }
    }

    /// Sets the name.
    pub fn named(self, name: &'a EventName) -> Self {
        Self {
            name: Cow::Borrowed(name.as_str()),
            ..self
        }
    }

    /// Sets the id.
    pub fn identified(self, id: &'a EventId) -> Self {
        Self {
            id: Cow::Borrowed(id.as_str()),
            ..self
        }
    }

    /// Creates an event from decoded parts, which cannot contain the characters that [`EventName`] and [`EventId`]
    /// refuse.
    #[inline]
    pub(super) const fn from_parts(
        name: Cow<'a, str>,
        data: Cow<'a, str>,
        id: Cow<'a, str>,
    ) -> Self {
        Self { name, data, id }
    }

    /// Replaces the data.
    pub(crate) fn with_data(self, data: String) -> Self {
        Self {
            data: Cow::Owned(data),
            ..self
        }
    }

    /// Returns the name; `message` if the event was sent without a name.
    #[inline]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the data: the lines joined by LF.
    #[inline]
    pub fn data(&self) -> &str {
        &self.data
    }

    /// Returns the last event id; empty if there is none. Decoded events repeat the id of an earlier event until the
    /// stream changes it.
    #[inline]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the data, borrowed from the chunk if the event was.
    #[must_use]
    #[inline]
    pub fn into_data(self) -> Cow<'a, str> {
        self.data
    }

    /// Converts the event to one that borrows neither from the decoder nor from the chunk.
    pub fn into_owned(self) -> Event<'static> {
        Event {
            name: Cow::Owned(self.name.into_owned()),
            data: Cow::Owned(self.data.into_owned()),
            id: Cow::Owned(self.id.into_owned()),
        }
    }
}
