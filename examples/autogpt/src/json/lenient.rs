use super::cursor::{Cursor, Escape, escape};
use super::{MAX_DEPTH, Object, Value};

/// The result of [`find_object`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Found {
    /// An object that was parsed.
    Object(Value),
    /// An object that starts but cannot be parsed without guessing.
    Damaged,
    /// No object.
    Nothing,
}

/// Finds an object in a text: the first that `wanted` accepts, or else the first.
///
/// Accepted faults: text around the object, unquoted member names, trailing commas, raw line breaks
/// and other control characters in strings, unknown escapes (the backslash is dropped), surplus
/// closing braces, and missing closing brackets at the end. Rejected is everything that would need
/// a guess about a value: text that ends inside a string or number or after a comma or colon, and
/// single quotes. No string is rewritten.
#[must_use]
pub fn find_object(text: &str, wanted: impl Fn(&Value) -> bool) -> Found {
    let mut reader = Reader {
        cursor: Cursor::new(text),
    };
    let mut first = None;
    while reader.seek(b'{') {
        match reader.value(0) {
            Ok(value) if wanted(&value) => return Found::Object(value),
            // Models sometimes quote the format before they use it, so the search goes on.
            Ok(value) => first = first.or(Some(value)),
            // Braces in prose are never followed by a name and a colon.
            Err(Damage::NoObject) => {}
            Err(Damage::Broken) => return first.map_or(Found::Damaged, Found::Object),
        }
    }
    first.map_or(Found::Nothing, Found::Object)
}

enum Damage {
    /// The fault is before the first colon of the outermost object.
    NoObject,
    /// The fault is after it.
    Broken,
}

struct Reader<'a> {
    cursor: Cursor<'a>,
}

impl Reader<'_> {
    /// Moves to the next `byte`. Returns `false` at the end of the text.
    fn seek(&mut self, byte: u8) -> bool {
        let next = self.cursor.rest().bytes().position(|b| b == byte);
        self.cursor.at = next.map_or(self.cursor.text.len(), |distance| self.cursor.at + distance);
        next.is_some()
    }

    fn value(&mut self, depth: usize) -> Result<Value, Damage> {
        // The parser recurses: the limit keeps a reply of many brackets from overflowing the stack.
        if depth > MAX_DEPTH {
            return Err(Damage::Broken);
        }
        match self.cursor.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => self.string().map(Value::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.cursor.literal().ok_or(Damage::Broken),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, Damage> {
        self.cursor.at += 1;
        let mut members: Vec<(String, Value)> = Vec::new();
        loop {
            self.skip_space();
            if self.cursor.eat(b'}') {
                break;
            }
            let outermost_start = depth == 0 && members.is_empty();
            let damage = || match outermost_start {
                true => Damage::NoObject,
                false => Damage::Broken,
            };
            let name = self.name().ok_or_else(damage)?;
            self.skip_space();
            if !self.cursor.eat(b':') {
                return Err(damage());
            }
            self.skip_space();
            members.push((name, self.value(depth + 1)?));
            self.skip_space();
            // A missing bracket at the very end needs no guess: there is nothing that could belong
            // inside.
            if self.cursor.at_end() || self.cursor.eat(b'}') {
                break;
            }
            if !self.cursor.eat(b',') {
                return Err(Damage::Broken);
            }
        }
        Ok(members.into_iter().collect::<Object>().into())
    }

    fn list(&mut self, depth: usize) -> Result<Value, Damage> {
        self.cursor.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip_space();
            if self.cursor.eat(b']') {
                break;
            }
            items.push(self.value(depth + 1)?);
            self.skip_space();
            if self.cursor.at_end() || self.cursor.eat(b']') {
                break;
            }
            if !self.cursor.eat(b',') {
                return Err(Damage::Broken);
            }
        }
        Ok(items.into())
    }

    /// Parses a member name: a string, or a run of word characters.
    fn name(&mut self) -> Option<String> {
        if self.cursor.peek() == Some(b'"') {
            return self.string().ok();
        }
        let rest = self.cursor.rest();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        let name = rest.get(..end?).filter(|name| !name.is_empty())?.to_owned();
        self.cursor.at += name.len();
        Some(name)
    }

    fn string(&mut self) -> Result<String, Damage> {
        self.cursor.at += 1;
        let mut out = String::new();
        loop {
            let rest = self.cursor.rest();
            let plain = rest.bytes().position(|b| matches!(b, b'"' | b'\\'));
            let Some(length) = plain else {
                self.cursor.at = self.cursor.text.len();
                return Err(Damage::Broken);
            };
            out.push_str(rest.get(..length).unwrap_or_default());
            self.cursor.at += length + 1;
            if rest.as_bytes().get(length) == Some(&b'"') {
                return Ok(out);
            }
            match escape(self.cursor.rest()) {
                Escape::Char(character, length) => {
                    out.push(character);
                    self.cursor.at += length;
                }
                // The backslash is dropped and the character stays, which is what the model most
                // likely meant.
                Escape::Unknown => {}
                Escape::Broken => return Err(Damage::Broken),
            }
        }
    }

    fn number(&mut self) -> Result<Value, Damage> {
        let number = self.cursor.number().ok_or(Damage::Broken)?;
        // At the end of the text the number may be incomplete.
        match self.cursor.at_end() {
            true => Err(Damage::Broken),
            false => Ok(number),
        }
    }

    fn skip_space(&mut self) {
        let rest = self.cursor.rest();
        self.cursor.at += rest.len() - rest.trim_start().len();
    }
}
