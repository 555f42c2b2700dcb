//! Escapes and numbers.

/// An escape sequence in a string.
pub(super) enum Escape {
    /// The character, and the number of bytes after the backslash.
    Char(char, usize),
    /// A character that JSON does not escape.
    Unknown,
    /// An incomplete escape: the text ends, or `\u` has fewer than four digits.
    Broken,
}

/// Parses an escape sequence after its backslash. A lone surrogate becomes U+FFFD.
pub(super) fn escape(rest: &str) -> Escape {
    let Some(first) = rest.bytes().next() else {
        return Escape::Broken;
    };
    let character = match first {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode_escape(rest),
        _ => return Escape::Unknown,
    };
    Escape::Char(character, 1)
}

fn unicode_escape(rest: &str) -> Escape {
    let Some(high) = four_digits(rest.get(1..)) else {
        return Escape::Broken;
    };
    if let Some(character) = char::from_u32(high) {
        return Escape::Char(character, 5);
    }
    // JSON writes characters above U+FFFF as two escapes, a surrogate pair (RFC 8259, section 7).
    let low = match rest.get(5..7) {
        Some("\\u") if high < 0xDC00 => four_digits(rest.get(7..)),
        _ => None,
    };
    match low {
        Some(low @ 0xDC00..=0xDFFF) => {
            let code = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
            let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            Escape::Char(character, 11)
        }
        _ => Escape::Char(char::REPLACEMENT_CHARACTER, 5),
    }
}

fn four_digits(rest: Option<&str>) -> Option<u32> {
    let digits = rest?.get(..4)?;
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(digits, 16).ok()
}

/// Returns the length of the JSON number at the start of a text.
pub(super) fn number_length(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let digits = |from: usize| {
        let tail = bytes.get(from..).unwrap_or_default();
        tail.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    at += match (bytes.get(at), digits(at)) {
        (_, 0) => return None,
        // A leading zero stands alone in JSON, so what follows is no part of the number.
        (Some(b'0'), _) => 1,
        (_, count) => count,
    };
    // A point or an exponent without digits stays unread, and is then a fault behind the number.
    if bytes.get(at) == Some(&b'.') && digits(at + 1) > 0 {
        at += 1 + digits(at + 1);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let count = digits(at + 1 + sign);
        if count > 0 {
            at += 1 + sign + count;
        }
    }
    Some(at)
}
