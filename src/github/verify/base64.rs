//! Strict standard base64: the protocol writes only the canonical form, so no other is accepted.

/// Decodes canonical base64 (RFC 4648, section 4, with section 3.5).
///
/// Returns `None` for other characters (white space and the URL-safe alphabet included), for
/// missing, inner or superfluous padding, and for unused bits that are not zero. Every byte string
/// has exactly one valid text.
pub(super) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let (quads, rest) = (text.chunks_exact(4), text.len() % 4);
    if rest != 0 {
        return None;
    }
    let last = quads.len();
    let mut bytes = Vec::with_capacity(last * 3);
    for (at, quad) in (1..).zip(quads) {
        let &[a, b, c, d] = quad else { return None };
        let (a, b) = (value(a)?, value(b)?);
        bytes.push((a << 2) | (b >> 4));
        match (c, d) {
            // RFC 4648, section 3.5: the bits that padding leaves over must be zero, or one
            // signature would have several spellings.
            (b'=', b'=') if at == last && b & 0b1111 == 0 => {}
            (c, b'=') if at == last => {
                let c = value(c)?;
                if c & 0b11 != 0 {
                    return None;
                }
                bytes.push((b << 4) | (c >> 2));
            }
            (c, d) => {
                let (c, d) = (value(c)?, value(d)?);
                bytes.extend([(b << 4) | (c >> 2), (c << 6) | d]);
            }
        }
    }
    Some(bytes)
}

fn value(letter: u8) -> Option<u8> {
    match letter {
        b'A'..=b'Z' => Some(letter - b'A'),
        b'a'..=b'z' => Some(letter - b'a' + 26),
        b'0'..=b'9' => Some(letter - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use ::base64::{Engine as _, engine::general_purpose::STANDARD};

    use super::*;

    #[test]
    fn reads_the_vectors_of_rfc_4648() {
        for (text, bytes) in [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYg==", "foob"),
            ("Zm9vYmE=", "fooba"),
            ("Zm9vYmFy", "foobar"),
        ] {
            assert_eq!(
                decode(text.as_bytes()).as_deref(),
                Some(bytes.as_bytes()),
                "{text}"
            );
        }
    }

    #[test]
    fn refuses_every_other_spelling() {
        for text in [
            "Zg",
            "Zg=",
            "Zg===",
            "Z===",
            "====",
            "=",
            "Zg==Zg==",
            "Zm8=Zm8=",
            "Zh==",
            "Zm9=",
            "Zm9v\n",
            "Zm 9v",
            " Zm9v",
            "Zm9v ",
            "Zm9vYg==\n",
            "\"Zm9v\"",
            "Zm-_",
            "Zm9=v",
            "Zm=v",
            "Zm=9",
            "Zm9vé",
        ] {
            assert_eq!(decode(text.as_bytes()), None, "{text:?}");
        }
    }

    /// No two texts decode to the same bytes: of all pairs and triples of letters, only the
    /// canonical ones are accepted.
    #[test]
    fn every_accepted_text_is_the_one_that_is_written() {
        let letters = b"AQgwBb01+/=-_ ";
        for &a in letters {
            for &b in letters {
                for &c in letters {
                    for &d in letters {
                        let text = [a, b, c, d];
                        if let Some(bytes) = decode(&text) {
                            assert_eq!(STANDARD.encode(&bytes).as_bytes(), text);
                        }
                    }
                }
            }
        }
        for length in 0..=64_u8 {
            let bytes: Vec<u8> = (0..length).map(|i| i.wrapping_mul(37) ^ length).collect();
            assert_eq!(decode(STANDARD.encode(&bytes).as_bytes()), Some(bytes));
        }
    }
}
