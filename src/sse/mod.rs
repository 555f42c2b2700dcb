//! Server-sent events: encoder and incremental decoder.
//!
//! The module implements the section "Server-sent events" of the HTML standard, the base of most streaming chat
//! protocols of this crate. It works on bytes, without a clock, sockets or a runtime.
//!
//! Writing: [`EventWriter`] appends one event to a buffer, or nothing if it is not finished;
//! [`encode`] writes an existing [`Event`]; [`comment`] writes a keep-alive. No text can forge a
//! second event: data is split into lines, and names and ids are validated types.
//!
//! Reading: [`Decoder`] takes chunks as they arrive and returns [`Frame`]s, which borrow from the
//! chunk if it contains the complete event.
//!
//! ```
//! use copilot_wire::event_name;
//! use copilot_wire::sse::{Decoder, EventWriter, Frame};
//!
//! let mut wire = Vec::new();
//! EventWriter::new(&mut wire)
//!     .name(&event_name!("copilotMessageChunk"))
//!     .data(r#"{"delta":"Hello"}"#)
//!     .finish();
//! assert_eq!(wire, b"event: copilotMessageChunk\ndata: {\"delta\":\"Hello\"}\n\n");
//!
//! let mut decoder = Decoder::new();
//! let mut chunk = wire.as_slice();
//! while let Some(frame) = decoder.next(&mut chunk)? {
//!     if let Frame::Event(event) = frame {
//!         assert_eq!(event.name(), "copilotMessageChunk");
//!         assert_eq!(event.data(), r#"{"delta":"Hello"}"#);
//!     }
//! }
//! # Ok::<(), copilot_wire::sse::TooLarge>(())
//! ```

mod decode;
mod encode;
mod event;
mod frame;
mod head;

mod line;
mod name;
mod partial;

pub use decode::Decoder;
pub(crate) use decode::text;
pub use encode::{EventWriter, comment, encode};
pub(crate) use encode::{encode_json, escape_separators};
pub use event::Event;
pub use frame::{Frame, TooLarge};
pub use name::{EventId, EventName, InvalidText};
