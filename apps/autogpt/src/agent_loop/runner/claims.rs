//! The claim of a conversation: waiting for it, and renewing its lease during a turn.

use std::future::pending;
use std::time::Duration;

use super::{AutoGpt, Turn, TurnError};
use crate::memory::store::{Claim, Conversation, StoreError};

/// The interval at which a waiting turn polls the store.
const INTERVAL: Duration = Duration::from_millis(100);

impl AutoGpt {
    /// Claims a conversation. Waits while another turn has it.
    pub(super) async fn claim(&self, conversation: &Conversation) -> Result<Claim, TurnError> {
        loop {
            if let Some(claim) = self.store.claim(conversation).await? {
                return Ok(claim);
            }
            // The store is polled, because it cannot notify of changes.
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// Waits up to a second until a copy of `turn` is stored: another server may have used up its answer without having
    /// claimed the conversation yet.
    ///
    /// # Errors
    ///
    /// [`TurnError`]
    pub async fn await_copy(&self, turn: &Turn) -> Result<(), TurnError> {
        for _ in 0..10 {
            let record = self.record(&turn.conversation).await?;
            if record.is_some_and(|record| record.turn == turn.id) {
                break;
            }
            tokio::time::sleep(INTERVAL).await;
        }
        Ok(())
    }

    /// Renews a claim three times per lease. Returns when another server has claimed the
    /// conversation.
    ///
    /// While the store is unreachable, renewals are repeated more often. A claim that is lost in the meantime is
    /// detected by the next save, or before the next effect.
    pub(super) async fn renew(&self, claim: &Claim) -> TurnError {
        let Some(lease) = claim.lease() else {
            return pending().await;
        };
        // Two renewals may fail before the lease ends.
        let mut wait = lease / 3;
        loop {
            tokio::time::sleep(wait).await;
            wait = match self.store.renew(claim).await {
                Ok(()) => lease / 3,
                Err(StoreError::Conflict) => return TurnError::Elsewhere,
                // The lease has not ended yet, and the store may soon be reachable: the renewal is repeated until the
                // store rejects it.
                Err(_) => lease / 30,
            };
        }
    }
}
