//! Values by name.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Values below base paths, each with a name that no other one below the path has.
#[derive(Clone, Debug)]
pub(super) struct Named<T>(HashMap<String, (Vec<T>, HashMap<String, usize>)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T> Named<T> {
    /// Adds a value. Returns `false` if there is one with its name.
    pub(super) fn insert(&mut self, base: &str, name: &str, value: T) -> bool {
        let (all, places) = self.0.entry(base.to_owned()).or_default();
        let Entry::Vacant(place) = places.entry(name.to_owned()) else {
            return false;
        };
        place.insert(all.len());
        all.push(value);
        true
    }

    /// Returns the values below a base path, in the order in which they were added.
    pub(super) fn at(&self, base: &str) -> &[T] {
        self.0.get(base).map_or(&[], |(all, _)| all)
    }

    /// Returns the value with a name.
    pub(super) fn find(&self, base: &str, name: &str) -> Option<&T> {
        let (all, places) = self.0.get(base)?;
        all.get(*places.get(name)?)
    }
}
