use super::cursor::{Cursor, Escape, escape};
use super::{MAX_DEPTH, Object, Value};

/// The first fault of a text that is not valid JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not json at byte {offset}")]
#[non_exhaustive]
pub struct Fault {
    /// The kind of the fault.
    pub kind: FaultKind,
    /// The byte offset of the fault; of a bad escape, the offset of its backslash.
    pub offset: usize,
}

/// The kinds of fault that the original program distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// A backslash in a string before a character that JSON does not escape.
    BadEscape,
    /// No double quote after `{`, or after `,` in an object.
    PropertyName,
    /// Any other fault.
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

/// Returns the text without the backslashes of bad escapes, up to the first fault of another kind.
#[must_use]
pub fn without_bad_escapes(text: &str) -> String {
    let mut parser = Parser::new(text);
    parser.bad_escapes = Some(Vec::new());
    // The result does not matter: only the offsets recorded until then are used.
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
    cursor: Cursor<'a>,
    /// The offsets of skipped backslashes, if bad escapes are skipped.
    bad_escapes: Option<Vec<usize>>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            cursor: Cursor::new(text),
            bad_escapes: None,
        }
    }

    fn document(&mut self) -> Result<Value, Fault> {
        self.skip_space();
        let value = self.value(0)?;
        self.skip_space();
        match self.cursor.peek() {
            None => Ok(value),
            Some(_) => self.fault(FaultKind::Other),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, Fault> {
        if depth > MAX_DEPTH {
            return self.fault(FaultKind::Other);
        }
        match self.cursor.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => Ok(Value::Text(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self
                .cursor
                .number()
                .map_or_else(|| self.fault(FaultKind::Other), Ok),
            _ => self
                .cursor
                .literal()
                .map_or_else(|| self.fault(FaultKind::Other), Ok),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, Fault> {
        self.cursor.at += 1;
        let mut members = Vec::new();
        self.skip_space();
        if self.cursor.eat(b'}') {
            return Ok(Object::new().into());
        }
        loop {
            if self.cursor.peek() != Some(b'"') {
                return self.fault(FaultKind::PropertyName);
            }
            let name = self.string()?;
            self.skip_space();
            if !self.cursor.eat(b':') {
                return self.fault(FaultKind::Other);
            }
            self.skip_space();
            members.push((name, self.value(depth + 1)?));
            self.skip_space();
            if self.cursor.eat(b'}') {
                return Ok(members.into_iter().collect::<Object>().into());
            }
            if !self.cursor.eat(b',') {
                return self.fault(FaultKind::Other);
            }
            self.skip_space();
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, Fault> {
        self.cursor.at += 1;
        let mut items = Vec::new();
        self.skip_space();
        if self.cursor.eat(b']') {
            return Ok(items.into());
        }
        loop {
            self.skip_space();
            items.push(self.value(depth + 1)?);
            self.skip_space();
            if self.cursor.eat(b']') {
                return Ok(items.into());
            }
            if !self.cursor.eat(b',') {
                return self.fault(FaultKind::Other);
            }
        }
    }

    fn string(&mut self) -> Result<String, Fault> {
        self.cursor.at += 1;
        let mut out = String::new();
        loop {
            let rest = self.cursor.rest();
            let plain = rest
                .bytes()
                .position(|byte| byte < 0x20 || matches!(byte, b'"' | b'\\'));
            let Some(length) = plain else {
                self.cursor.at = self.cursor.text.len();
                return self.fault(FaultKind::Other);
            };
            out.push_str(rest.get(..length).unwrap_or_default());
            self.cursor.at += length;
            match self.cursor.peek() {
                Some(b'"') => {
                    self.cursor.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => self.escape(&mut out)?,
                _ => return self.fault(FaultKind::Other),
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), Fault> {
        let rest = self.cursor.rest().get(1..).unwrap_or_default();
        match escape(rest) {
            Escape::Char(character, length) => {
                out.push(character);
                self.cursor.at += 1 + length;
                Ok(())
            }
            Escape::Unknown => match &mut self.bad_escapes {
                Some(dropped) => {
                    dropped.push(self.cursor.at);
                    self.cursor.at += 1;
                    Ok(())
                }
                None => self.fault(FaultKind::BadEscape),
            },
            Escape::Broken => self.fault(FaultKind::Other),
        }
    }

    fn skip_space(&mut self) {
        while matches!(self.cursor.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.cursor.at += 1;
        }
    }

    fn fault<T>(&self, kind: FaultKind) -> Result<T, Fault> {
        let offset = self.cursor.at;
        Err(Fault { kind, offset })
    }
}
