//! JSON as models write it: with its order and numbers preserved, and often damaged.
//!
//! [`parse`] is strict, and returns the kind and offset of the first fault, by which the original selects its
//! correction. [`find_object`] is tolerant, for the default settings. Both use one parser, which takes linear time and
//! stops at [`MAX_DEPTH`], so no text can make it slow or exhaust the stack. `serde_json` has neither function and does
//! not preserve the order of members, so it is only used to write JSON.

mod list_text;
mod parser;
mod tokens;
mod value;

pub use list_text::ListText;
pub use parser::{Fault, FaultKind, Found, find_object, parse, without_bad_escapes};
pub use value::{Object, Value};

/// The maximum nesting depth of lists and objects.
pub const MAX_DEPTH: usize = 128;
