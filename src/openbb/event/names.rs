//! Unique names of artifacts: the Workspace uses the name as the key in the chat.

use std::collections::HashMap;

use super::Artifact;
use super::artifact::default_name;
use crate::openbb::numbers::Numbers;

/// The names that are taken, each with the id of its artifact.
#[derive(Debug, Default)]
pub(in crate::openbb) struct Names {
    taken: HashMap<String, String>,
    numbers: Numbers,
}

impl Names {
    /// Marks a name as taken by an artifact of an earlier answer.
    pub(in crate::openbb) fn take(&mut self, name: &str, uuid: &str) {
        self.taken.insert(name.to_owned(), uuid.to_owned());
    }

    /// Marks a name as taken by an artifact with an unknown id, unless it is taken already.
    pub(in crate::openbb) fn take_if_free(&mut self, name: &str) {
        if !self.taken.contains_key(name) {
            self.take(name, "");
        }
    }

    /// Returns `true` if another artifact has the name.
    fn taken(&self, artifact: &Artifact) -> bool {
        // The same artifact sent again replaces itself. An empty id is one that is not known, from
        // a marker in the history: it may be any artifact, so its name is not free.
        let by_another = |uuid: &String| uuid.is_empty() || *uuid != artifact.uuid;
        artifact.name.is_empty() || self.taken.get(&artifact.name).is_some_and(by_another)
    }

    /// Returns a unique name for the artifact: its own name, else that with a number.
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
