//! JSON inside a JSON string.

use crate::json::{Escape, Json, Members, escape};

/// Writes JSON as the inside of a JSON string: every piece is escaped once more on its way, so that
/// a large document is not copied in between.
#[derive(Debug)]
pub(super) struct Quoted<'a>(&'a mut Vec<u8>);

impl<'a> Quoted<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>) -> Self {
        Self(out)
    }

    /// A piece of JSON text.
    pub(super) fn raw(&mut self, json: &str) -> &mut Self {
        escape(json, Escape::Json, self.0);
        self
    }

    /// A whole value, as it came.
    pub(super) fn json(&mut self, json: &Json) -> &mut Self {
        self.raw(json.text())
    }

    /// A string.
    pub(super) fn str(&mut self, text: &str) -> &mut Self {
        let mut once = Vec::with_capacity(text.len() + 2);
        once.push(b'"');
        escape(text, Escape::Json, &mut once);
        once.push(b'"');
        // Escaping keeps UTF-8.
        self.raw(std::str::from_utf8(&once).unwrap_or_default())
    }

    /// The members that a model does not know, each after a comma.
    pub(super) fn members(&mut self, members: &Members) -> &mut Self {
        for (key, value) in members.iter() {
            self.raw(",").str(key).raw(":").json(value);
        }
        self
    }
}
