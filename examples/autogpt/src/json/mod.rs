//! JSON as models write it: with its order and numbers preserved, and often damaged.
//!
//! [`parse`] is strict, and reports the kind and offset of the first fault, which selects the
//! correction of the original. [`find_object`] is the tolerant parser of the default settings. Both
//! take linear time and stop at [`MAX_DEPTH`], so no text makes them slow or exhausts the stack.
//! `serde_json` can do neither, and it loses the order of members; it writes all JSON.

mod cursor;
mod lenient;
mod strict;
mod value;

pub use lenient::{Found, find_object};
pub use strict::{Fault, FaultKind, parse, without_bad_escapes};
pub use value::{Object, Value};

/// The maximum nesting depth of lists and objects.
pub const MAX_DEPTH: usize = 128;
