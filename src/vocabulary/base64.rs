//! Base64 as file contents are written in it.

use ::base64::alphabet;
use ::base64::engine::{Engine as _, GeneralPurpose, general_purpose};

/// Accepts nonzero bits after the last byte; they are ignored.
const READER: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    general_purpose::NO_PAD.with_decode_allow_trailing_bits(true),
);

/// Decodes base64 with the standard or the URL-safe alphabet. White space is skipped and padding is
/// optional; returns `None` for invalid input.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.chars().filter(|digit| !" \t\r\n".contains(*digit));
    let digits = digits.map(|digit| match digit {
        // RFC 4648 section 5: the two alphabets differ in these digits only.
        '-' => '+',
        '_' => '/',
        digit => digit,
    });
    let digits: String = digits.collect();
    // Padding of any length ends the data (RFC 4648 section 3.2).
    READER.decode(digits.trim_end_matches('=')).ok()
}

/// Encodes, with padding.
pub(crate) fn encode(bytes: &[u8]) -> String {
    general_purpose::STANDARD.encode(bytes)
}
