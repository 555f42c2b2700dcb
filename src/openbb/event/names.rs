//! Artifact names are keys in the chat: no two artifacts may have one.

use std::collections::HashMap;

use super::Artifact;
use super::artifact::default_name;
use crate::openbb::numbers::Numbers;

/// The names that are taken, each with the id of the artifact that has it.
#[derive(Debug, Default)]
pub(in crate::openbb) struct Names {
    taken: HashMap<String, String>,
    numbers: Numbers,
}

impl Names {
    /// Takes a name that earlier answers used.
    pub(in crate::openbb) fn take(&mut self, name: &str, uuid: &str) {
        self.taken.insert(name.to_owned(), uuid.to_owned());
    }

    /// Takes a name of which only the name is known.
    pub(in crate::openbb) fn take_if_free(&mut self, name: &str) {
        if !self.taken.contains_key(name) {
            self.take(name, "");
        }
    }

    /// Whether an artifact must get another name.
    fn taken(&self, artifact: &Artifact) -> bool {
        let by_another = |uuid: &String| uuid.is_empty() || *uuid != artifact.uuid;
        artifact.name.is_empty() || self.taken.get(&artifact.name).is_some_and(by_another)
    }

    /// A name that the artifact alone has: its own one, or that with a number.
    pub(super) fn unique(&mut self, artifact: &Artifact) -> String {
        let mut name = artifact.name.clone();
        if self.taken(artifact) {
            let stem = if name.is_empty() {
                default_name(artifact)
            } else {
                name
            };
            let taken = |name: &str| self.taken.contains_key(name);
            name = self.numbers.free(stem, ' ', taken);
        }
        self.taken.insert(name.clone(), artifact.uuid.clone());
        name
    }
}
