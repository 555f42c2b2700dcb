use super::{MAX_DEPTH, Object, Value};

/// The first fault of a text that is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not json at byte {offset}")]
#[non_exhaustive]
pub struct Fault {
    /// What kind of fault it is.
    pub kind: FaultKind,
    /// Where it is; for a bad escape the place of the backslash.
    pub offset: usize,
}

/// The kinds of fault that the original program told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// Inside a string, a backslash before a character that JSON does not escape.
    BadEscape,
    /// After `{`, or after `,` in an object, the next character is no double quote.
    PropertyName,
    /// Everything else.
    Other,
}

/// Parses a whole text strictly.
///
/// # Errors
///
/// The first [`Fault`] of the text.
pub fn parse(text: &str) -> Result<Value, Fault> {
    Parser::new(text).document()
}

/// The text without the backslashes of its bad escapes, up to the first fault of another kind.
#[must_use]
pub fn without_bad_escapes(text: &str) -> String {
    let mut parser = Parser::new(text);
    parser.bad_escapes = Some(Vec::new());
    // Where parsing ends does not matter: what was dropped until then is the result.
    let _ = parser.document();
    let dropped = parser.bad_escapes.unwrap_or_default();
    let mut cured = String::with_capacity(text.len());
    let mut from = 0;
    for backslash in dropped {
        cured.push_str(text.get(from..backslash).unwrap_or_default());
        from = backslash + 1;
    }
    cured.push_str(text.get(from..).unwrap_or_default());
    cured
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// Where backslashes of bad escapes were skipped, if that is allowed.
    bad_escapes: Option<Vec<usize>>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            bad_escapes: None,
        }
    }

    fn document(&mut self) -> Result<Value, Fault> {
        self.skip_space();
        let value = self.value(0)?;
        self.skip_space();
        match self.peek() {
            None => Ok(value),
            Some(_) => self.fault(FaultKind::Other),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, Fault> {
        if depth > MAX_DEPTH {
            return self.fault(FaultKind::Other);
        }
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => Ok(Value::Text(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            _ => self.fault(FaultKind::Other),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, Fault> {
        self.at += 1;
        let mut members = Vec::new();
        self.skip_space();
        if self.eat(b'}') {
            return Ok(Object::new().into());
        }
        loop {
            if self.peek() != Some(b'"') {
                return self.fault(FaultKind::PropertyName);
            }
            let name = self.string()?;
            self.skip_space();
            if !self.eat(b':') {
                return self.fault(FaultKind::Other);
            }
            self.skip_space();
            members.push((name, self.value(depth + 1)?));
            self.skip_space();
            if self.eat(b'}') {
                return Ok(members.into_iter().collect::<Object>().into());
            }
            if !self.eat(b',') {
                return self.fault(FaultKind::Other);
            }
            self.skip_space();
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, Fault> {
        self.at += 1;
        let mut items = Vec::new();
        self.skip_space();
        if self.eat(b']') {
            return Ok(items.into());
        }
        loop {
            self.skip_space();
            items.push(self.value(depth + 1)?);
            self.skip_space();
            if self.eat(b']') {
                return Ok(items.into());
            }
            if !self.eat(b',') {
                return self.fault(FaultKind::Other);
            }
        }
    }

    fn string(&mut self) -> Result<String, Fault> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let plain = rest
                .bytes()
                .position(|byte| byte < 0x20 || matches!(byte, b'"' | b'\\'));
            let Some(length) = plain else {
                self.at = self.text.len();
                return self.fault(FaultKind::Other);
            };
            out.push_str(rest.get(..length).unwrap_or_default());
            self.at += length;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => self.escape(&mut out)?,
                _ => return self.fault(FaultKind::Other),
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), Fault> {
        let rest = self.text.get(self.at + 1..).unwrap_or_default();
        match escape(rest) {
            Escape::Char(character, length) => {
                out.push(character);
                self.at += 1 + length;
                Ok(())
            }
            Escape::Unknown => match &mut self.bad_escapes {
                Some(dropped) => {
                    dropped.push(self.at);
                    self.at += 1;
                    Ok(())
                }
                None => self.fault(FaultKind::BadEscape),
            },
            Escape::Broken => self.fault(FaultKind::Other),
        }
    }

    fn number(&mut self) -> Result<Value, Fault> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        match number_length(rest) {
            Some(length) => {
                self.at += length;
                Ok(Value::Number(
                    rest.get(..length).unwrap_or_default().to_owned(),
                ))
            }
            None => self.fault(FaultKind::Other),
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, Fault> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        if rest.starts_with(word) {
            self.at += word.len();
            return Ok(value);
        }
        self.fault(FaultKind::Other)
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fault<T>(&self, kind: FaultKind) -> Result<T, Fault> {
        let offset = self.at;
        Err(Fault { kind, offset })
    }
}

/// What follows a backslash in a string.
pub(super) enum Escape {
    /// A character and the bytes it took after the backslash.
    Char(char, usize),
    /// A character that JSON does not escape.
    Unknown,
    /// The end of the text, or `\u` without four digits.
    Broken,
}

/// Reads an escape; `rest` starts after the backslash. A lone surrogate becomes U+FFFD.
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

/// The length of the JSON number at the start of a text.
pub(super) fn number_length(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let digits = |from: usize| {
        let tail = bytes.get(from..).unwrap_or_default();
        tail.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    at += match (bytes.get(at), digits(at)) {
        (_, 0) => return None,
        (Some(b'0'), _) => 1,
        (_, count) => count,
    };
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
