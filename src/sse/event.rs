//! One event, for both directions.

use std::borrow::Cow;

use super::{EventId, EventName};

/// One event: what [`encode`](super::encode) takes and what the [`Decoder`](super::Decoder) hands out.
///
/// Name and id can come from validated types or from a decoder only, so every `Event` can be
/// written: encoding does not fail.
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
    /// The name of an event that has no `event` field, or an empty one (HTML standard, server-sent
    /// events, "Interpreting an event stream", dispatch: the type is `message` when the type buffer is empty).
    pub(super) const DEFAULT_NAME: &'static str = "message";

    /// An event with this data, the name `message` and no id.
    pub fn new(data: impl Into<Cow<'a, str>>) -> Self {
        Self {
            name: Cow::Borrowed(Self::DEFAULT_NAME),
            data: data.into(),
            id: Cow::Borrowed(""),
        }
    }

    /// The same event under another name.
    pub fn named(self, name: &'a EventName) -> Self {
        Self {
            name: Cow::Borrowed(name.as_str()),
            ..self
        }
    }

    /// The same event with an id.
    pub fn identified(self, id: &'a EventId) -> Self {
        Self {
            id: Cow::Borrowed(id.as_str()),
            ..self
        }
    }

    /// For the decoder, whose lines cannot hold what the validated types refuse.
    #[inline]
    pub(super) const fn from_parts(
        name: Cow<'a, str>,
        data: Cow<'a, str>,
        id: Cow<'a, str>,
    ) -> Self {
        Self { name, data, id }
    }

    /// The name: `message` for an event without one.
    #[must_use]
    #[inline]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The data: the lines joined by LF.
    #[must_use]
    #[inline]
    pub fn data(&self) -> &str {
        &self.data
    }

    /// The last event id. A decoded event carries the id of an earlier event until the stream
    /// changes it; empty is the same as none.
    #[must_use]
    #[inline]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The data alone, still borrowed from the chunk if the event was.
    #[must_use]
    #[inline]
    pub fn into_data(self) -> Cow<'a, str> {
        self.data
    }

    /// The same event, independent of the decoder and the chunk.
    pub fn into_owned(self) -> Event<'static> {
        Event {
            name: Cow::Owned(self.name.into_owned()),
            data: Cow::Owned(self.data.into_owned()),
            id: Cow::Owned(self.id.into_owned()),
        }
    }
}
