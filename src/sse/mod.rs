//! Server-sent events: encoder and incremental decoder.
//!
//! The format of the section "Server-sent events" of the HTML standard, which every streaming chat
//! protocol of this crate is built on. Bytes in, bytes out: no clock, no sockets, no runtime.
//!
//! Writing: [`EventWriter`] appends one event to a buffer and takes it back if it is not finished;
//! [`encode`] writes an [`Event`] that exists already; [`comment`] writes a keep-alive. No text can
//! forge a second event: data is split into lines, names and ids are validated types.
//!
//! Reading: [`Decoder`] takes chunks as they arrive and hands out [`Frame`]s, which borrow from the
//! chunk whenever an event lies wholly inside it.
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
//! # Ok::<(), copilot_wire::sse::DecodeError>(())
//! ```

mod decode;
mod encode;
mod event;
mod frame;
mod head;
mod held;
mod line;
mod name;

pub use decode::Decoder;
pub use encode::{EventWriter, comment, encode};
pub use event::Event;
pub use frame::{DecodeError, Frame};
pub use name::{EventId, EventName, InvalidId, InvalidName};
