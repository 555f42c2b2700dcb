//! A decoder of base64 with the standard alphabet, for file contents.

/// Decodes base64. White space is skipped and padding is optional; returns `None` for invalid
/// input.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count, mut padded) = (0_u32, 0_u32, false);
    for byte in text.bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            // RFC 4648 section 5: the URL-safe alphabet differs in these two digits only, so both
            // are read.
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => {
                padded = true;
                continue;
            }
            b' ' | b'\t' | b'\r' | b'\n' => continue,
            _ => return None,
        };
        // Padding ends the data (RFC 4648 section 3.2).
        if padded {
            return None;
        }
        bits = bits << 6 | u32::from(digit);
        count += 6;
        if count >= 8 {
            count -= 8;
            // At most 7 bits remain below the byte. Older bits are shifted out at the top and
            // masked here.
            out.push(u8::try_from(bits >> count & 0xFF).ok()?);
        }
    }
    // A group of one digit has 6 bits, less than a byte: the input is invalid.
    (count < 6).then_some(out)
}

/// Encodes, with padding.
pub(super) fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let digit = DIGITS.get((bits >> (18 - 6 * at) & 63) as usize);
            // A chunk of n bytes fills n + 1 digits; the rest of the group is padding.
            let digit = digit.filter(|_| at <= chunk.len());
            out.push(digit.map_or('=', |digit| char::from(*digit)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn encodes() {
        assert_eq!(encode(b"%PDF-1.4\n"), "JVBERi0xLjQK");
        assert_eq!(encode(b"a"), "YQ==");
        assert_eq!(encode(b"ab"), "YWI=");
        assert_eq!(encode(b""), "");
        assert_eq!(encode(b"\xff\xfe\xfd"), "//79");
    }

    #[test]
    fn decodes_and_refuses() {
        assert_eq!(decode("JVBERi0xLjQK").unwrap(), b"%PDF-1.4\n");
        assert_eq!(decode("YQ==\n").unwrap(), b"a");
        assert_eq!(decode("YWI").unwrap(), b"ab");
        assert_eq!(decode("").unwrap(), b"");
        assert_eq!(decode("A"), None);
        assert_eq!(decode("A=A="), None);
        assert_eq!(decode("not base64!"), None);
    }
}
