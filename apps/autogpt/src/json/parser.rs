//! The strict and the tolerant parser.

use super::tokens::{Escape, escape, number_length};
use super::{MAX_DEPTH, Object, Value};

/// The first fault of a text that is not valid JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not json at byte {offset}")]
pub struct Fault {
    /// The kind of the fault.
    pub kind: FaultKind,
    /// The byte offset of the fault; of a bad escape, the offset of its backslash.
    pub offset: usize,
}

/// The kinds of fault that the original program distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A backslash in a string before a character that JSON does not escape.
    BadEscape,
    /// No double quote after `{`, or after `,` in an object.
    PropertyName,
    /// Any other fault.
    Other,
}

/// The result of [`find_object`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// An object that was parsed.
    Object(Value),
    /// An object that starts but cannot be parsed without guessing.
    Damaged,
    /// No object.
    Nothing,
}

/// Parses a whole text strictly.
///
/// # Errors
///
/// The first [`Fault`] of the text.
pub fn parse(text: &str) -> Result<Value, Fault> {
    Parser::new(text, Rules::Strict).document()
}

/// Returns the text without the backslashes of bad escapes, up to the first fault of another kind.
pub fn without_bad_escapes(text: &str) -> String {
    let mut parser = Parser::new(text, Rules::AnyEscapes);
    // The result does not matter: only the offsets recorded until then are used.
    let _ = parser.document();
    let mut cured = String::with_capacity(text.len());
    let mut from = 0;
    for backslash in parser.bad_escapes {
        cured.push_str(text.get(from..backslash).unwrap_or_default());
        from = backslash + 1;
    }
    cured.push_str(text.get(from..).unwrap_or_default());
    cured
}

/// Finds an object in a text: the first that `wanted` accepts, or else the first that has a member.
///
/// Accepted faults: text around the object, unquoted member names, trailing commas, raw line breaks
/// and other control characters in strings, unknown escapes (the backslash is dropped), surplus
/// closing braces, and missing closing brackets at the end. Rejected is everything that would need
/// a guess about a value: text that ends inside a string or number or after a comma or colon, and
/// single quotes. No string is rewritten.
pub fn find_object(text: &str, wanted: impl Fn(&Value) -> bool) -> Found {
    let mut parser = Parser::new(text, Rules::Tolerant);
    let mut first = None;
    while parser.seek_object() {
        parser.has_member = false;
        let inside = text.get(parser.at + 1..).unwrap_or_default();
        match parser.value(0) {
            // `{}` says nothing: it may be a part of a larger object that cannot be parsed.
            Ok(_) if !parser.has_member => {}
            Ok(value) if wanted(&value) => return Found::Object(value),
            // Models sometimes quote the format before they use it, so the search goes on.
            Ok(value) => first = first.or(Some(value)),
            // Braces in prose are never followed by a name and a colon. After a name in single quotes, what that object
            // contains is not the object.
            Err(_) if !parser.has_member && !is_quoted_name(inside) => {}
            Err(_) => return first.map_or(Found::Damaged, Found::Object),
        }
    }
    first.map_or(Found::Nothing, Found::Object)
}

/// Returns `true` if a text begins with a name in single quotes and a colon.
fn is_quoted_name(text: &str) -> bool {
    let name = text.trim_start().strip_prefix('\'');
    let behind = name.and_then(|name| name.split_once('\''));
    behind.is_some_and(|(_, rest)| rest.trim_start().starts_with(':'))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rules {
    /// No fault is accepted.
    Strict,
    /// Bad escapes are accepted.
    AnyEscapes,
    /// Every fault is accepted that [`find_object`] accepts.
    Tolerant,
}

struct Parser<'a> {
    text: &'a str,
    /// The position in bytes, always on a character boundary.
    at: usize,
    rules: Rules,
    /// The offsets of the backslashes that were dropped.
    bad_escapes: Vec<usize>,
    /// `true` after the first colon.
    has_member: bool,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, rules: Rules) -> Self {
        Self {
            text,
            at: 0,
            rules,
            bad_escapes: Vec::new(),
            has_member: false,
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
        // The parser recurses: the limit keeps a reply of many brackets from overflowing the stack.
        if depth > MAX_DEPTH {
            return self.fault(FaultKind::Other);
        }
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => Ok(Value::Text(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.literal(),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, Fault> {
        self.at += 1;
        let mut members = Vec::new();
        loop {
            self.skip_space();
            if (members.is_empty() || self.is_tolerant()) && self.eat(b'}') {
                break;
            }
            let name = self.name()?;
            self.skip_space();
            self.expect(b':')?;
            self.has_member = true;
            self.skip_space();
            members.push((name, self.value(depth + 1)?));
            self.skip_space();
            if self.closes(b'}') {
                break;
            }
            self.expect(b',')?;
        }
        Ok(members.into_iter().collect::<Object>().into())
    }

    fn list(&mut self, depth: usize) -> Result<Value, Fault> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip_space();
            if (items.is_empty() || self.is_tolerant()) && self.eat(b']') {
                break;
            }
            items.push(self.value(depth + 1)?);
            self.skip_space();
            if self.closes(b']') {
                break;
            }
            self.expect(b',')?;
        }
        Ok(items.into())
    }

    /// Parses a member name: a string, or in a tolerant parser a run of word characters.
    fn name(&mut self) -> Result<String, Fault> {
        if self.peek() == Some(b'"') {
            return self.string();
        }
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        let word = end.and_then(|end| rest.get(..end));
        match word.filter(|word| self.is_tolerant() && !word.is_empty()) {
            Some(word) => {
                self.at += word.len();
                Ok(word.to_owned())
            }
            None => self.fault(FaultKind::PropertyName),
        }
    }

    fn string(&mut self) -> Result<String, Fault> {
        self.at += 1;
        let mut out = String::new();
        let is_tolerant = self.is_tolerant();
        loop {
            let rest = self.rest();
            let special = |byte: u8| matches!(byte, b'"' | b'\\') || (byte < 0x20 && !is_tolerant);
            let length = rest.bytes().position(special).unwrap_or(rest.len());
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
        let rest = self.rest().get(1..).unwrap_or_default();
        match escape(rest) {
            Escape::Char(character, length) => {
                out.push(character);
                self.at += 1 + length;
                Ok(())
            }
            Escape::Unknown if self.rules == Rules::Strict => self.fault(FaultKind::BadEscape),
            // The backslash is dropped and the character remains, which is most likely the intended text.
            Escape::Unknown => {
                self.bad_escapes.push(self.at);
                self.at += 1;
                Ok(())
            }
            Escape::Broken => self.fault(FaultKind::Other),
        }
    }

    /// Parses a number. Its text is not changed.
    fn number(&mut self) -> Result<Value, Fault> {
        let length = number_length(self.rest());
        let Some(number) = length.and_then(|length| self.rest().get(..length)) else {
            return self.fault(FaultKind::Other);
        };
        self.at += number.len();
        // At the end of a text that was cut off, the number may be incomplete.
        match self.is_tolerant() && self.peek().is_none() {
            true => self.fault(FaultKind::Other),
            false => Ok(Value::Number(number.to_owned())),
        }
    }

    /// Parses `true`, `false` or `null`.
    fn literal(&mut self) -> Result<Value, Fault> {
        let literals = [
            ("true", Value::Bool(true)),
            ("false", Value::Bool(false)),
            ("null", Value::Null),
        ];
        let mut literals = literals.into_iter();
        match literals.find(|(word, _)| self.rest().starts_with(word)) {
            Some((word, value)) => {
                self.at += word.len();
                Ok(value)
            }
            None => self.fault(FaultKind::Other),
        }
    }

    fn is_tolerant(&self) -> bool {
        self.rules == Rules::Tolerant
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Consumes `byte` if it is next, and returns `true` then.
    fn eat(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, byte: u8) -> Result<(), Fault> {
        match self.eat(byte) {
            true => Ok(()),
            false => self.fault(FaultKind::Other),
        }
    }

    /// Consumes a closing bracket. A tolerant parser accepts that it is missing at the very end, which needs no guess:
    /// there is nothing that could belong inside.
    fn closes(&mut self, bracket: u8) -> bool {
        self.eat(bracket) || (self.is_tolerant() && self.peek().is_none())
    }

    /// Moves to the next opening brace. Returns `false` at the end of the text.
    fn seek_object(&mut self) -> bool {
        let next = self.rest().find('{');
        self.at = next.map_or(self.text.len(), |distance| self.at + distance);
        next.is_some()
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        let more = match self.is_tolerant() {
            true => rest.trim_start(),
            false => rest.trim_start_matches([' ', '\t', '\n', '\r']),
        };
        self.at += rest.len() - more.len();
    }

    fn fault<T>(&self, kind: FaultKind) -> Result<T, Fault> {
        let offset = self.at;
        Err(Fault { kind, offset })
    }
}
