//! Unique names, made by adding a number.

use std::collections::HashMap;

/// The next number to try for each name that was found taken.
///
/// Names are never released, so no number is tried twice. This bounds the work to one lookup per
/// name, also for many equal names and for names that end in a number.
#[derive(Debug, Default)]
pub(super) struct Numbers(HashMap<String, u64>);

impl Numbers {
    /// Returns `name` if it is free, else the first free name with a number appended, from 2.
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
