//! Claims of conversations.

use std::any::Any;
use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Conversation;

/// The exclusive right to answer the turns of one conversation.
///
/// Dropping it releases the conversation. In a store that several servers share, a claim has a lease: it expires unless
/// [`RunStore::renew`](super::RunStore::renew) extends it, so that a server that died delays others for at most one
/// lease.
pub struct Claim {
    conversation: Conversation,
    token: u64,
    lease: Option<Lease>,
    /// Releases the conversation when it is dropped.
    _release: Box<dyn Any + Send + Sync>,
}

#[derive(Debug)]
struct Lease {
    duration: Duration,
    end: Mutex<Instant>,
}

impl Claim {
    /// Creates a claim that lasts until it is dropped. `release` is dropped with it.
    pub fn new(conversation: Conversation, release: impl Send + Sync + 'static) -> Self {
        Self {
            conversation,
            token: 0,
            lease: None,
            _release: Box::new(release),
        }
    }

    /// Sets the fencing token, and a lease that started at `start`.
    ///
    /// `start` must be before the request to the store, so that the lease ends in this process before it ends in the
    /// store.
    #[must_use]
    pub fn with_lease(self, token: u64, start: Instant, duration: Duration) -> Self {
        let end = Mutex::new(start + duration);
        Self {
            token,
            lease: Some(Lease { duration, end }),
            ..self
        }
    }

    /// Returns the claimed conversation.
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// Returns the fencing token, which is larger than that of every earlier claim of the
    /// conversation.
    pub fn token(&self) -> u64 {
        self.token
    }

    /// Returns the duration of the lease, if the claim has one.
    pub fn lease(&self) -> Option<Duration> {
        self.lease.as_ref().map(|lease| lease.duration)
    }

    /// Returns `true` until the lease ends by the clock of this process. Does not ask the store.
    pub fn is_current(&self) -> bool {
        let lease = self.lease.as_ref();
        lease.is_none_or(|lease| Instant::now() < *lease.end())
    }

    /// Restarts the lease at `start`, which must be before the request to the store.
    pub fn extend(&self, start: Instant) {
        if let Some(lease) = &self.lease {
            *lease.end() = start + lease.duration;
        }
    }
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claim")
            .field("conversation", &self.conversation)
            .field("token", &self.token)
            .field("lease", &self.lease)
            .finish_non_exhaustive()
    }
}

impl Lease {
    fn end(&self) -> MutexGuard<'_, Instant> {
        // A poisoned lock is usable: a panic cannot interrupt an assignment.
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The claims of a store that is used by one process.
#[derive(Clone, Debug, Default)]
pub(super) struct LocalClaims(Arc<Mutex<HashSet<Conversation>>>);

impl LocalClaims {
    /// Claims a conversation. Returns `None` while it is claimed.
    pub(super) fn claim(&self, conversation: &Conversation) -> Option<Claim> {
        // Test and insertion are one step under the lock, so of two callers one gets the claim.
        if !self.claimed().insert(conversation.clone()) {
            return None;
        }
        let claims = self.clone();
        let claim = conversation.clone();
        Some(Claim::new(conversation.clone(), Release { claims, claim }))
    }

    fn claimed(&self) -> MutexGuard<'_, HashSet<Conversation>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Release {
    claims: LocalClaims,
    claim: Conversation,
}

impl Drop for Release {
    fn drop(&mut self) {
        self.claims.claimed().remove(&self.claim);
    }
}
