//! JSON as models write it: with its order and numbers preserved, and often damaged.
//!
//! [`parse`] is strict, and reports the kind and offset of the first fault, which selects the
//! correction of the original. [`find_object`] is the tolerant form of the default settings. One parser does both, which
//! takes linear time and stops at [`MAX_DEPTH`], so no text makes it slow or exhausts the stack.
//! `serde_json` can do neither, and it loses the order of members; it writes all JSON.

mod list_text;
mod parser;
mod tokens;
mod value;

pub use list_text::ListText;
pub use parser::{Fault, FaultKind, Found, find_object, parse, without_bad_escapes};
pub use value::{Object, Value};

/// The maximum nesting depth of lists and objects.
pub const MAX_DEPTH: usize = 128;
