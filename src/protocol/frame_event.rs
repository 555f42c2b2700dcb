//! Declaration of a protocol's events as an enum: each variant is one frame.

use std::marker::PhantomData;

use super::{Decode, EventError, Events, TextMember};
use crate::json::wire::read;
use crate::json::{Escape, Members, Reader, ValueWriter, Wire};
use crate::sse;

/// An event of a protocol whose frames are JSON objects, one event each, with a member that names the type.
///
/// `#[derive(FrameEvent)]` implements this trait for an enum, and `From` for each variant that is a whole object. The
/// decoder of such a protocol is a [`FrameDecoder`]. If no member names the type, implement the trait by hand:
/// [`read`](Self::read), [`write_data`](Self::write_data) and [`is_last`](Self::is_last).
///
/// ```
/// use copilot_wire::json::{Json, Members, Wire};
/// use copilot_wire::protocol::FrameEvent;
///
/// /// A piece of the answer.
/// #[derive(Clone, Debug, Default, PartialEq, Wire)]
/// #[wire(fixed(type = "piece"))]
/// struct Piece {
///     #[wire(always)]
///     text: String,
///     unknown: Members,
/// }
///
/// /// An event of a stream.
/// #[derive(Clone, Debug, PartialEq, FrameEvent)]
/// #[event(truncated = "the stream ended without end")]
/// enum Event {
///     #[event(text = "text")]
///     Piece(Piece),
///     Step { index: u32, title: String },
///     #[event(member = "tokens")]
///     Usage(u64),
///     #[event(last)]
///     End,
///     #[event(other)]
///     Other(Json),
/// }
///
/// let mut out = Vec::new();
/// Event::Step { index: 1, title: "Searching".into() }.write(&mut out);
/// Event::Usage(7).write(&mut out);
/// assert_eq!(
///     String::from_utf8(out)?,
///     "data: {\"type\":\"step\",\"index\":1,\"title\":\"Searching\"}\n\n\
///      data: {\"type\":\"usage\",\"tokens\":7}\n\n",
/// );
/// assert_eq!(Event::read(r#"{"type":"end"}"#)?, Some(Event::End));
/// assert!(Event::read(r#"{"type":"step"}"#).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A variant without a value is an object with only its type. A variant with one value is that object: a struct that
/// derives [`Wire`] with `fixed`, which sets the name of the event. The fields of any other variant are members of the
/// object.
///
/// | option of the enum | meaning |
/// |---|---|
/// | `truncated = "…"` | the error for a stream without its last event; required |
/// | `tag = "type"` | the member with the type of the event; by default `type` |
/// | `named` | the name of the event is also the name of the frame. Events of the variant `other` are not written then. |
/// | `whole` | an event without a type, or without a member that its struct always writes, is an error |
/// | `ignored = "[DONE]"` | data that is not an event and is ignored |
/// | `limit = 10_000_000` | the [limit](Decode::LIMIT) of the decoder, in bytes |
/// | `rename_all = "camelCase"` | the case of the names of variants and fields, also `"kebab-case"`; by default snake case |
/// | `output = "An event of an agent."` | declares an enum `Output` of the variants that are marked `output`, with this documentation |
///
/// | option of a variant | meaning |
/// |---|---|
/// | `other` | all objects that match no other variant, as a [`Json`](crate::json::Json) |
/// | `name = "done"` | the name of the event; by default the name of the variant |
/// | `member = "error"` | the value is this member of the object; by default the whole object |
/// | `prefix = "data-"` | all objects whose name has this prefix; not with `named` |
/// | `data = "[DONE]"` | data that is not JSON |
/// | `first` | the event begins a new answer, in a stream that can contain several |
/// | `last` | the event completes the answer, or reports its failure |
/// | `text = "delta.text"` | the keys that lead to the [text](Self::text), named like the fields |
/// | `text_in = Delta::Text` | the last key but one leads to an enum, whose variant `Text` has the text |
/// | `output` | agents can send this event, see above |
pub trait FrameEvent: Sized + Send + 'static {
    /// The error message for a stream without its last event.
    const TRUNCATED: &'static str;

    /// The limit that [`EventDecoder::new`](super::EventDecoder::new) uses, in bytes: 1 MiB by default.
    const LIMIT: usize = 1024 * 1024;

    /// Parses the data of a frame. `None` if the frame has no meaning.
    ///
    /// # Errors
    ///
    /// [`EventError`] if the data is not JSON, or if an event lacks a member.
    fn read(data: &str) -> Result<Option<Self>, EventError>;

    /// Appends the data of the event without the line end: for a protocol of [lines](super::Framing::Lines), which
    /// appends LF itself. Appends nothing for an event that is never written.
    fn write_data(&self, out: &mut Vec<u8>);

    /// Returns the name of the frame; empty for a frame without a name, which is the default.
    fn name(&self) -> &str {
        ""
    }

    /// Appends the event as a server-sent event, without the checks of a reply. Appends nothing for an event that is
    /// never written.
    fn write(&self, out: &mut Vec<u8>) {
        let before = out.len();
        if !self.name().is_empty() {
            out.extend_from_slice(b"event: ");
            out.extend_from_slice(self.name().as_bytes());
            out.push(b'\n');
        }
        out.extend_from_slice(b"data: ");
        let start = out.len();
        self.write_data(out);
        match out.len() > start {
            true => out.extend_from_slice(b"\n\n"),
            false => out.truncate(before),
        }
    }

    /// Returns `true` if the event begins a new answer. `false` by default.
    fn is_first(&self) -> bool {
        false
    }

    /// Returns `true` if the event completes the answer, or reports its failure.
    fn is_last(&self) -> bool;

    /// Returns the text of the event if nothing else in its frame varies; see [`Decode::text`]. `None` by default.
    fn text(&mut self) -> Option<TextMember<'_>> {
        None
    }

    /// Returns the event without the members that this crate does not know, for clients that fail at unknown members.
    /// By default returns the event unchanged.
    #[must_use]
    fn strict(self) -> Self {
        self
    }

    /// Returns the names of the members that an event of type `kind` must have, and of all members that it may have.
    /// `None` if this crate does not know the type, which is the default.
    fn members(kind: &str) -> Option<(&'static [&'static str], &'static [&'static str])> {
        let _ = kind;
        None
    }
}

/// The decoder of a protocol whose frames contain one event each.
///
/// An answer is complete with its [last](FrameEvent::is_last) event. Clients of some protocols accept a truncated
/// stream; this decoder does not.
pub struct FrameDecoder<E> {
    done: bool,
    event: PhantomData<fn() -> E>,
}

impl<E: FrameEvent> Decode for FrameDecoder<E> {
    type Event = E;

    const LIMIT: usize = E::LIMIT;

    fn frame(&mut self, frame: &sse::Event<'_>, events: &mut Events<E>) -> Result<(), EventError> {
        if let Some(event) = E::read(frame.data())? {
            self.done = event.is_last() || self.done && !event.is_first();
            events.push(event);
        }
        Ok(())
    }

    fn end(&mut self, _: &mut Events<E>) -> Result<(), EventError> {
        match self.done {
            true => Ok(()),
            false => Err(EventError::Truncated(E::TRUNCATED)),
        }
    }

    fn text(event: &mut E) -> Option<TextMember<'_>> {
        event.text()
    }
}

impl<E> Default for FrameDecoder<E> {
    fn default() -> Self {
        Self {
            done: false,
            event: PhantomData,
        }
    }
}

opaque_debug!(impl[E] FrameDecoder for FrameDecoder<E>);

/// Creates a writer that appends the data of a frame to `out`.
pub fn writer(out: &mut Vec<u8>) -> ValueWriter<'_> {
    ValueWriter::new(out, Escape::JsonAndSeparators)
}

/// The error for data without a type.
pub const UNTYPED: EventError = EventError::Invalid("an event must be an object with a type");

/// The error for an event that lacks a required member.
pub const MISSING: EventError =
    EventError::Invalid("a member that the type of the event demands is missing");

/// Reads an object. `None` if a required member is missing or has another type.
pub fn whole<T: Wire>(reader: &mut Reader<'_>) -> Option<T> {
    let mut missing = T::REQUIRED.to_vec();
    let each = |_: &mut Reader<'_>, key: &str| {
        missing.retain(|name| *name != key);
        Ok(())
    };
    reader.clone().object(each).ok()?;
    let mut value: T = read(reader)?;
    // A member of the wrong type is among the unknown members.
    let is_retained =
        |unknown: &mut Members| T::REQUIRED.iter().any(|it| unknown.get(it).is_some());
    (missing.is_empty() && !value.unknown().is_some_and(is_retained)).then_some(value)
}

/// Removes the unknown members of an object, and the values of unexpected types in its members.
pub fn drop_unknown<T: Wire>(value: &mut T) {
    if let Some(unknown) = value.unknown() {
        unknown.retain(|_| false);
    }
    value.drop_odd();
}

/// Returns `true` if no name occurs twice.
pub const fn is_distinct(mut names: &[&str]) -> bool {
    while let Some((first, rest)) = names.split_first() {
        names = rest;
        let mut others = rest;
        while let Some((other, rest)) = others.split_first() {
            if is_equal(first.as_bytes(), other.as_bytes()) {
                return false;
            }
            others = rest;
        }
    }
    true
}

const fn is_equal(mut a: &[u8], mut b: &[u8]) -> bool {
    while let (Some((x, a_rest)), Some((y, b_rest))) = (a.split_first(), b.split_first()) {
        if *x != *y {
            return false;
        }
        (a, b) = (a_rest, b_rest);
    }
    a.is_empty() && b.is_empty()
}

/// A declaration that `#[derive(FrameEvent)]` accepts; each of the following has one fault:
///
/// ```
/// # use copilot_wire::json::Json;
/// # use copilot_wire::protocol::FrameEvent;
/// #[derive(FrameEvent)]
/// #[event(truncated = "cut")]
/// enum Event { #[event(text = "text")] A { text: String }, #[event(last)] End, #[event(other)] Other(Json) }
/// ```
///
/// No variant `other`, or two:
///
/// ```compile_fail
/// # use copilot_wire::json::Json;
/// # use copilot_wire::protocol::FrameEvent;
/// #[derive(FrameEvent)]
/// #[event(truncated = "cut")]
/// enum Event { #[event(text = "text")] A { text: String }, #[event(last)] End }
/// ```
///
/// ```compile_fail
/// # use copilot_wire::json::Json;
/// # use copilot_wire::protocol::FrameEvent;
/// #[derive(FrameEvent)]
/// #[event(truncated = "cut")]
/// enum Event { #[event(last)] End, #[event(other)] Other(Json), #[event(other)] Others(Json) }
/// ```
///
/// No event is the last:
///
/// ```compile_fail
/// # use copilot_wire::json::Json;
/// # use copilot_wire::protocol::FrameEvent;
/// #[derive(FrameEvent)]
/// #[event(truncated = "cut")]
/// enum Event { #[event(text = "text")] A { text: String }, End, #[event(other)] Other(Json) }
/// ```
///
/// No error for a stream without its last event:
///
/// ```compile_fail
/// # use copilot_wire::json::Json;
/// # use copilot_wire::protocol::FrameEvent;
/// #[derive(FrameEvent)]
/// enum Event { #[event(text = "text")] A { text: String }, #[event(last)] End, #[event(other)] Other(Json) }
/// ```
///
/// An unknown option:
///
/// ```compile_fail
/// # use copilot_wire::json::Json;
/// # use copilot_wire::protocol::FrameEvent;
/// #[derive(FrameEvent)]
/// #[event(truncated = "cut")]
/// enum Event { #[event(sometimes)] A { text: String }, #[event(last)] End, #[event(other)] Other(Json) }
/// ```
///
/// A generic enum:
///
/// ```compile_fail
/// # use copilot_wire::json::{Json, Wire};
/// # use copilot_wire::protocol::FrameEvent;
/// #[derive(FrameEvent)]
/// #[event(truncated = "cut")]
/// enum Event<T: Wire> { A { text: T }, #[event(last)] End, #[event(other)] Other(Json) }
/// ```
///
/// A `text` that is not a member:
///
/// ```compile_fail
/// # use copilot_wire::json::Json;
/// # use copilot_wire::protocol::FrameEvent;
/// #[derive(FrameEvent)]
/// #[event(truncated = "cut")]
/// enum Event { #[event(text = "delta")] A { text: String }, #[event(last)] End, #[event(other)] Other(Json) }
/// ```
///
/// Two events with the same name:
///
/// ```compile_fail,E0080
/// # use copilot_wire::json::Json;
/// # use copilot_wire::protocol::FrameEvent;
/// #[derive(FrameEvent)]
/// #[event(truncated = "cut")]
/// enum Event { #[event(name = "end")] A { text: String }, #[event(last)] End, #[event(other)] Other(Json) }
/// ```
#[cfg(doctest)]
struct Refused;
