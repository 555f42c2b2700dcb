//! Locks, atomics and thread-locals of the standard library, or of `loom` in the concurrency tests (`--cfg loom`).
//!
//! `Arc` is always the standard library's, because wakers are made from it.

use std::sync::PoisonError;

#[cfg(loom)]
pub(crate) use loom::sync::{Mutex, MutexGuard, atomic};
#[cfg(not(loom))]
pub(crate) use std::{
    sync::{Mutex, MutexGuard, atomic},
    thread_local,
};

/// Declares thread-locals with constant initial values, a form that loom's macro does not support.
#[cfg(loom)]
macro_rules! loom_locals {
    ($($(#[$attribute:meta])* static $name:ident: $type:ty = const { $value:expr };)*) => {
        loom::thread_local! { $($(#[$attribute])* static $name: $type = $value;)* }
    };
}
#[cfg(loom)]
pub(crate) use loom_locals as thread_local;

/// A value that is only accessed through `&mut`. It makes its owner `Sync`, which some web frameworks require of a
/// body. The lock is never taken.
pub(crate) struct Exclusive<T>(Mutex<T>);

impl<T> Exclusive<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    pub(crate) fn get(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}
