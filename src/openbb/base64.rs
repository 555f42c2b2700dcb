//! The content of files: base64, the standard alphabet.

/// Decodes; white space is skipped and missing padding forgiven. `None` for anything else.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count, mut padded) = (0_u32, 0_u32, false);
    for byte in text.bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => {
                padded = true;
                continue;
            }
            b' ' | b'\t' | b'\r' | b'\n' => continue,
            _ => return None,
        };
        if padded {
            return None;
        }
        bits = bits << 6 | u32::from(digit);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from(bits >> count & 0xFF).ok()?);
        }
    }
    // Six bits left over are a digit too many.
    (count < 6).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::decode;

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
