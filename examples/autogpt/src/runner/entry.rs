use std::future::pending;
use std::time::Duration;

use super::record::Record;
use super::{AutoGpt, EventSink, Turn, TurnEnd, TurnError};
use crate::run::Effect;
use crate::store::{Claim, StoreError};

/// The interval at which a waiting copy of a turn polls for the claim and for saved events.
const INTERVAL: Duration = Duration::from_millis(100);

/// The start of a turn.
pub(super) enum Entry {
    /// The claim, and the number of events that were shown while another server had it.
    Claimed(Claim, usize),
    /// Another server answered the turn, and all of its events were shown.
    Answered(TurnEnd),
}

impl AutoGpt {
    /// Claims the conversation of a turn.
    ///
    /// While another server has the claim, the events that it saves for the same turn are shown.
    /// Other turns wait.
    pub(super) async fn enter(
        &self,
        turn: &Turn,
        sink: &mut dyn EventSink,
    ) -> Result<Entry, TurnError> {
        let mut shown = 0;
        loop {
            // First: the other server may have died before it saved the end of the turn.
            if let Some(claim) = self.store.claim(&turn.conversation).await? {
                return Ok(Entry::Claimed(claim, shown));
            }
            if let Some(end) = self.follow(turn, sink, &mut shown).await? {
                return Ok(Entry::Answered(end));
            }
            // Asked again, as a store has no way to tell of a change.
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// Shows the saved events of a turn from `shown` on, and returns its end if it has ended.
    async fn follow(
        &self,
        turn: &Turn,
        sink: &mut dyn EventSink,
        shown: &mut usize,
    ) -> Result<Option<TurnEnd>, TurnError> {
        let Some(saved) = self.store.load(&turn.conversation).await? else {
            return Ok(None);
        };
        let record = Record::read(&saved.record).map_err(|_| TurnError::Unreadable)?;
        // The other server answers another turn, or has not saved this one yet.
        if record.turn != turn.id {
            return Ok(None);
        }
        // Events are only appended while the turn is the same, so a count is enough to continue.
        for event in record.events.iter().skip(*shown) {
            sink.show(event.clone()).await?;
            *shown += 1;
        }
        let run = self.machine.restore(&record.run);
        Ok(match run.map_err(|_| TurnError::Unreadable)?.effect() {
            Effect::Ask(question) if self.too_long(&question).is_none() => {
                Some(TurnEnd::Ask(question))
            }
            Effect::Finish(end) => Some(TurnEnd::Finish(end)),
            _ => None,
        })
    }

    /// Renews a claim three times per lease. Returns when another server has claimed the
    /// conversation.
    ///
    /// While the store is unreachable, it is retried more often. A claim lost meanwhile is detected
    /// by the next save, or before the next effect.
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
                // The store may be back in a moment, and the lease still runs: tried again soon,
                // and given up only by the store.
                Err(_) => lease / 30,
            };
        }
    }
}
