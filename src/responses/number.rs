//! Numbers of events.

/// A counter that is stored as decimal digits, so that writing an event needs no division.
pub(super) struct Number {
    /// The digits, right-aligned, with leading zeros. `u64::MAX` has 20 digits.
    digits: [u8; 20],
    /// The number of leading zeros.
    zeros: usize,
}

impl Number {
    pub(super) const ZERO: Self = Self {
        digits: [b'0'; 20],
        zeros: 19,
    };

    /// Appends the number and increments it.
    #[inline]
    pub(super) fn next(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.digits.get(self.zeros..).unwrap_or_default());
        for (at, digit) in self.digits.iter_mut().enumerate().rev() {
            // A carry into this digit makes it a significant one.
            self.zeros = self.zeros.min(at);
            if *digit < b'9' {
                *digit += 1;
                return;
            }
            *digit = b'0';
        }
    }
}
