use std::ops::Deref;

/// A value whose sender was verified by a signature.
///
/// It is returned by verification (feature `verify`) and by [`assume_verified`], the only
/// constructor, whose name is easy to search for. It implements neither `Deserialize` nor `Default`
/// nor `From`, so an unsigned request cannot reach a handler with a `Verified<T>` argument by
/// accident.
///
/// The signature covers only the bytes of the body: no URL, no header and no time. A recorded
/// request verifies again: **there is no protection against replay**.
///
/// ```
/// use copilot_wire::github::Verified;
///
/// fn handle(body: Verified<&[u8]>) -> usize {
///     body.len()
/// }
///
/// assert_eq!(handle(Verified::assume_verified(b"{}".as_slice())), 2);
/// ```
///
/// ```compile_fail,E0277
/// let body: copilot_wire::github::Verified<String> = serde_json::from_str("\"forged\"").unwrap();
/// ```
///
/// [`assume_verified`]: Verified::assume_verified
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Verified<T>(T);

impl<T> Verified<T> {
    /// Wraps a value without verification: it was verified elsewhere, or it never left this
    /// machine.
    pub const fn assume_verified(value: T) -> Self {
        Self(value)
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.0
    }
}

opaque_debug!(impl[T] Verified for Verified<T>);

impl<T> Deref for Verified<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> AsRef<T> for Verified<T> {
    fn as_ref(&self) -> &T {
        &self.0
    }
}
