//! Counts the bytes that a thread compares and moves.
//!
//! A program that depends on this package calls its `memcmp`, `bcmp` and `memmove` instead of those of the C library.
//! So a search by name, which compares, and a removal from the front of a list, which moves, are counted exactly, with
//! no tool but the compiler. What compares numbers or the variants of an enum is not counted.

use std::cell::Cell;
use std::ffi::c_int;

thread_local! {
    static BYTES: Cell<u64> = const { Cell::new(0) };
}

/// Returns the bytes that this thread has compared and moved, and one for each time.
pub fn bytes() -> u64 {
    BYTES.get()
}

/// Runs without allocation and without a call of one of the functions below.
fn count(length: usize) {
    // No value while the thread ends.
    let _ = BYTES.try_with(|bytes| bytes.set(bytes.get() + 1 + length as u64));
}

/// Compares bytes.
///
/// # Safety
///
/// As the C standard says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memcmp(left: *const u8, right: *const u8, length: usize) -> c_int {
    count(length);
    let mut at = 0;
    while at < length {
        // SAFETY: both have so many bytes. A volatile loop is not compiled to a call of this function.
        let (left, right) = unsafe {
            (
                left.wrapping_add(at).read_volatile(),
                right.wrapping_add(at).read_volatile(),
            )
        };
        if left != right {
            return c_int::from(left) - c_int::from(right);
        }
        at += 1;
    }
    0
}

/// Compares bytes for equality.
///
/// # Safety
///
/// As the C library says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcmp(left: *const u8, right: *const u8, length: usize) -> c_int {
    // SAFETY: the promises are the same.
    unsafe { memcmp(left, right, length) }
}

/// Moves bytes, also where the places overlap.
///
/// # Safety
///
/// As the C standard says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, length: usize) -> *mut u8 {
    count(length);
    let is_forward = to.addr() <= from.addr();
    let mut done = 0;
    while done < length {
        let at = if is_forward { done } else { length - 1 - done };
        // SAFETY: both have so many bytes, and a byte is read before it is overwritten.
        unsafe {
            to.wrapping_add(at)
                .write_volatile(from.wrapping_add(at).read_volatile());
        }
        done += 1;
    }
    to
}
