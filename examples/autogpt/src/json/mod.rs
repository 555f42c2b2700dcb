//! JSON as a model writes it: ordered, exact, and often damaged.
//!
//! [`parse`] is strict and says what the first fault is and where, which decides the cure.
//! [`find_object`] is the forgiving reader of the default settings. Both take linear time and stop
//! at [`MAX_DEPTH`], so no text makes them slow or exhausts the stack.

mod lenient;
mod strict;
mod value;

pub use lenient::{Found, find_object};
pub use strict::{Fault, FaultKind, parse, without_bad_escapes};
pub use value::{Object, Value};

/// How deep lists and objects may nest.
pub const MAX_DEPTH: usize = 128;
