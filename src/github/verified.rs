use std::fmt;
use std::ops::Deref;

/// A value whose sender has been proved by a signature.
///
/// It comes out of verification (feature `verify`), or out of [`assume_verified`], the one
/// constructor, whose name can be searched for. It is neither `Deserialize` nor `Default` nor
/// `From`, so a handler that takes a `Verified<T>` cannot be reached by an unsigned request by
/// accident.
///
/// The proof covers the bytes of the body and nothing else: no URL, no header and no time. A
/// recorded request verifies again; **this is no protection against replay**.
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
    /// Claims that `value` needs no further proof: it was verified elsewhere, or it never left this
    /// machine.
    pub const fn assume_verified(value: T) -> Self {
        Self(value)
    }

    /// The value, without the proof.
    pub fn into_inner(self) -> T {
        self.0
    }
}

/// Says that it is verified, not what: mostly that is the body of a request.
impl<T> fmt::Debug for Verified<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verified").finish_non_exhaustive()
    }
}

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
