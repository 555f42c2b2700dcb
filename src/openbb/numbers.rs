//! Names that no one else has: the number behind one that is taken.

use std::collections::HashMap;

/// The number to try next behind each name that was found taken.
///
/// Names are never given back, so no number is tried twice: many of one name, and names that look
/// like numbered ones, cost one look each.
#[derive(Debug, Default)]
pub(super) struct Numbers(HashMap<String, u64>);

impl Numbers {
    /// The name itself when it is free, else the first free one with a number behind it, from 2.
    pub(super) fn free(
        &mut self,
        name: String,
        separator: char,
        taken: impl Fn(&str) -> bool,
    ) -> String {
        if !taken(&name) {
            return name;
        }
        let next = self.0.entry(name.clone()).or_insert(2);
        loop {
            let numbered = format!("{name}{separator}{next}");
            *next += 1;
            if !taken(&numbered) {
                return numbered;
            }
        }
    }
}
