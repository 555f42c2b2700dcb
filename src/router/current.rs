//! The current version of a router.

use std::sync::{Arc, PoisonError, RwLock};

use super::version::Version;

/// The routes and settings of a router at the moment, which all clones of the router share.
#[derive(Default)]
pub(super) struct Current(RwLock<Arc<Version>>);

impl Current {
    /// Returns the version with which a request is answered that arrives now.
    pub(super) fn get(&self) -> Arc<Version> {
        // No code under the lock panics.
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn get_mut(&mut self) -> &mut Version {
        let inner = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        Arc::make_mut(inner)
    }

    /// Replaces the version by `next`, with the state of this one that concerns turns that have begun.
    pub(super) fn replace(&self, mut next: Version) {
        let mut inner = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let now = &inner.settings;
        let settings = Arc::make_mut(&mut next.settings);
        settings.turns = now.turns.clone();
        settings.counts = now.counts.clone();
        settings.connections = now.connections.clone();
        settings.consent = now
            .consent
            .replaced_by(std::mem::take(&mut settings.consent));
        let old = std::mem::replace(&mut *inner, Arc::new(next));
        drop(inner);
        // Without the lock: the destructors of agents and guards are foreign code.
        drop(old);
    }
}

/// A clone is a router of its own.
impl Clone for Current {
    fn clone(&self) -> Self {
        Self(RwLock::new(self.get()))
    }
}
