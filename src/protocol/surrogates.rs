//! Characters whose surrogate pair is split over two events.

use memchr::memchr;

/// Joins the halves of surrogate pairs that a server has split: a string that ends with the escape of a high surrogate,
/// and a string of a later event that begins with the escape of a low one. JavaScript clients join them by
/// concatenating the strings; in UTF-8 each half alone would become U+FFFD.
#[derive(Debug, Default)]
pub(super) struct Surrogates {
    /// The escape of a high surrogate that ended a string.
    high: Option<String>,
}

/// The length in bytes of a `\u` escape.
const ESCAPE: usize = 6;

impl Surrogates {
    /// Returns `true` if the low half of a pair is missing.
    pub(super) fn is_waiting(&self) -> bool {
        self.high.is_some()
    }

    /// Returns the data of an event with whole characters; `None` if it has no half.
    pub(super) fn join(&mut self, data: &str) -> Option<String> {
        let bytes = data.as_bytes();
        let mut joined = String::new();
        let (mut copied, mut at) = (0, 0);
        // The end of the last escape, if it is that of a high surrogate.
        let mut high_end = None;
        while let Some(found) = bytes.get(at..).and_then(|rest| memchr(b'\\', rest)) {
            let start = at + found;
            let unit = data.get(start + 2..start + ESCAPE);
            let unit = unit.filter(|_| bytes.get(start + 1) == Some(&b'u'));
            let unit = unit.and_then(|digits| u16::from_str_radix(digits, 16).ok());
            at = start + if unit.is_some() { ESCAPE } else { 2 };
            let begins = start.checked_sub(1).and_then(|before| bytes.get(before)) == Some(&b'"');
            let ends = bytes.get(at) == Some(&b'"');
            match unit {
                Some(0xDC00..=0xDFFF) if begins && high_end != Some(start) => {
                    if let Some(high) = self.high.take() {
                        joined.push_str(data.get(copied..start).unwrap_or_default());
                        joined.push_str(&high);
                        copied = start;
                    }
                }
                Some(0xD800..=0xDBFF) if ends && self.high.is_none() => {
                    joined.push_str(data.get(copied..start).unwrap_or_default());
                    self.high = data.get(start..at).map(str::to_owned);
                    copied = at;
                }
                _ => {}
            }
            high_end = matches!(unit, Some(0xD800..=0xDBFF)).then_some(at);
        }
        (copied > 0).then(|| joined + data.get(copied..).unwrap_or_default())
    }
}
