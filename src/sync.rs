//! Locks, atomics and thread-locals: those of the standard library, or those of `loom` in its models (`--cfg loom`).
//!
//! `Arc` is the standard library's in both: wakers are made of it.

#[cfg(loom)]
pub(crate) use loom::sync::{Mutex, MutexGuard, atomic};
#[cfg(not(loom))]
pub(crate) use std::{
    sync::{Mutex, MutexGuard, atomic},
    thread_local,
};

/// Declares thread-locals with constant initial values, whose form loom's macro does not know.
#[cfg(loom)]
macro_rules! loom_locals {
    ($($(#[$attribute:meta])* static $name:ident: $type:ty = const { $value:expr };)*) => {
        loom::thread_local! { $($(#[$attribute])* static $name: $type = $value;)* }
    };
}
#[cfg(loom)]
pub(crate) use loom_locals as thread_local;
