//! JSON: raw slices, a pull reader, escaping and a serializer.
//!
//! Reading retains unknown members. [`Reader`] reads a body in one pass and returns the members
//! that a model knows; all others remain [`Json`], slices of the same bytes, in a [`Members`] list
//! that is written unchanged. Values are not copied, and numbers keep their digits.
//!
//! Writing appends to a `Vec<u8>`: [`escape`] for text, [`write()`] for any
//! [`Serialize`](serde::Serialize) type, [`ObjectWriter`] for a model. Under [`Escape::Json`] the
//! bytes are those of serde_json.
//!
//! ```
//! use bytes::Bytes;
//! use copilot_wire::json::{Escape, JsonError, Members, ObjectWriter, Reader};
//!
//! #[derive(Default)]
//! struct Message {
//!     role: Option<String>,
//!     unknown: Members,
//! }
//!
//! fn read(body: &Bytes) -> Result<Message, JsonError> {
//!     let mut message = Message::default();
//!     let mut reader = Reader::new(body)?;
//!     // Members that the closure does not read, also those of a wrong type, are retained.
//!     reader.object_keeping(&mut message.unknown, |reader, key| {
//!         if key == "role" {
//!             message.role = reader.string()?.map(Into::into);
//!         }
//!         Ok(())
//!     })?;
//!     reader.end()?;
//!     Ok(message)
//! }
//!
//! let body = Bytes::from_static(br#"{"role": "human", "size": 12345678901234567890123}"#);
//! let message = read(&body)?;
//! assert_eq!(message.role.as_deref(), Some("human"));
//!
//! let mut out = Vec::new();
//! let mut writer = ObjectWriter::new(&mut out, Escape::Json);
//! writer.opt_str("role", message.role.as_deref()).members(&message.unknown);
//! writer.finish();
//! assert_eq!(out, br#"{"role":"human","size":12345678901234567890123}"#);
//! # Ok::<(), JsonError>(())
//! ```

mod error;
pub(crate) mod escape;
mod kind;
pub(crate) mod lanes;
mod list;
mod members;
#[allow(
    dead_code,
    reason = "only protocols whose answers can be documents use it"
)]
pub(crate) mod merge;
mod nesting;
mod object_writer;
mod place;
mod pointer;
mod reader;
pub(crate) mod rollback;
mod scan;
mod serializer;
pub(crate) mod short;
mod special;
mod string;
pub(crate) mod template;
mod value;
mod walk;
pub(crate) mod wire;

/// Implements the trait `Wire`.
pub use copilot_wire_derive::Wire;
pub use error::{JsonError, WriteError};
pub use escape::{Escape, escape};
pub use kind::Kind;
pub use list::List;
#[allow(unused_imports, reason = "only dialects of models make such lists")]
pub(crate) use list::push;
pub use members::{Members, MembersIter};
pub use object_writer::{ObjectWriter, ValueWriter};
pub use place::Place;
pub use pointer::is_pointer;
pub use reader::Reader;
pub use serializer::write;
pub(crate) use string::{first_string, string_between};
pub use value::{Json, write_raw};
pub(crate) use walk::each_string_inside;
pub use wire::{Wire, own, present, text_or_digits, text_or_json};
