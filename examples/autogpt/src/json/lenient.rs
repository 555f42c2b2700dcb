use super::strict::{Escape, escape, number_length};
use super::{MAX_DEPTH, Object, Value};

/// What [`find_object`] saw in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Found {
    /// An object that could be read.
    Object(Value),
    /// An object that starts but cannot be read without guessing.
    Damaged,
    /// No object at all.
    Nothing,
}

/// Finds an object in a text: the first one that `wanted` accepts, or else the first one.
///
/// Forgiven are text around the object, bare names of members, commas before a closing bracket,
/// raw line breaks and other control characters in strings, unknown escapes (the backslash is
/// dropped), surplus closing braces, and brackets missing at the end. Never forgiven is what would
/// need a guess about a value: a cut inside a string or number or right after a comma or colon, and
/// single quotes. Nothing inside a string is rewritten.
#[must_use]
pub fn find_object(text: &str, wanted: impl Fn(&Value) -> bool) -> Found {
    let mut reader = Reader { text, at: 0 };
    let mut first = None;
    while reader.seek(b'{') {
        match reader.value(0) {
            Ok(value) if wanted(&value) => return Found::Object(value),
            Ok(value) => first = first.or(Some(value)),
            // Braces in prose: they never get as far as a first colon.
            Err(Damage::NoObject) => {}
            Err(Damage::Broken) => return first.map_or(Found::Damaged, Found::Object),
        }
    }
    first.map_or(Found::Nothing, Found::Object)
}

enum Damage {
    /// Failed before the first colon of the outermost object.
    NoObject,
    /// Failed later.
    Broken,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// Moves to the next such byte; false at the end of the text.
    fn seek(&mut self, byte: u8) -> bool {
        let next = self.rest().bytes().position(|b| b == byte);
        self.at = next.map_or(self.text.len(), |distance| self.at + distance);
        next.is_some()
    }

    fn value(&mut self, depth: usize) -> Result<Value, Damage> {
        if depth > MAX_DEPTH {
            return Err(Damage::Broken);
        }
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => self.string().map(Value::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, Damage> {
        self.at += 1;
        let mut members: Vec<(String, Value)> = Vec::new();
        loop {
            self.skip_space();
            if self.eat(b'}') {
                break;
            }
            let outermost_start = depth == 0 && members.is_empty();
            let damage = || match outermost_start {
                true => Damage::NoObject,
                false => Damage::Broken,
            };
            let name = self.name().ok_or_else(damage)?;
            self.skip_space();
            if !self.eat(b':') {
                return Err(damage());
            }
            self.skip_space();
            members.push((name, self.value(depth + 1)?));
            self.skip_space();
            if self.at_end() || self.eat(b'}') {
                break;
            }
            if !self.eat(b',') {
                return Err(Damage::Broken);
            }
        }
        Ok(members.into_iter().collect::<Object>().into())
    }

    fn list(&mut self, depth: usize) -> Result<Value, Damage> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip_space();
            if self.eat(b']') {
                break;
            }
            items.push(self.value(depth + 1)?);
            self.skip_space();
            if self.at_end() || self.eat(b']') {
                break;
            }
            if !self.eat(b',') {
                return Err(Damage::Broken);
            }
        }
        Ok(items.into())
    }

    /// The name of a member: a string, or a run of word characters.
    fn name(&mut self) -> Option<String> {
        if self.peek() == Some(b'"') {
            return self.string().ok();
        }
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        let name = rest.get(..end?).filter(|name| !name.is_empty())?.to_owned();
        self.at += name.len();
        Some(name)
    }

    fn string(&mut self) -> Result<String, Damage> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = self.rest();
            let plain = rest.bytes().position(|b| matches!(b, b'"' | b'\\'));
            let Some(length) = plain else {
                self.at = self.text.len();
                return Err(Damage::Broken);
            };
            out.push_str(rest.get(..length).unwrap_or_default());
            self.at += length + 1;
            if rest.as_bytes().get(length) == Some(&b'"') {
                return Ok(out);
            }
            match escape(self.rest()) {
                Escape::Char(character, length) => {
                    out.push(character);
                    self.at += length;
                }
                Escape::Unknown => {}
                Escape::Broken => return Err(Damage::Broken),
            }
        }
    }

    fn number(&mut self) -> Result<Value, Damage> {
        let rest = self.rest();
        let length = number_length(rest).ok_or(Damage::Broken)?;
        // At the end of the text the number may be cut short.
        if length == rest.len() {
            return Err(Damage::Broken);
        }
        self.at += length;
        let text = rest.get(..length).unwrap_or_default();
        Ok(Value::Number(text.to_owned()))
    }

    fn word(&mut self) -> Result<Value, Damage> {
        let words = [
            ("true", Value::Bool(true)),
            ("false", Value::Bool(false)),
            ("null", Value::Null),
        ];
        for (word, value) in words {
            if self.rest().starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(Damage::Broken)
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }
}
