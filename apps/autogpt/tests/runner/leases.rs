//! A server that was paused for longer than its lease.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use autogpt::agent_loop::run::{Answer, End};
use autogpt::agent_loop::runner::{TurnEnd, TurnError};
use autogpt::memory::store::{Claim, Conversation, MemoryStore, RunStore, Saved, StoreError};

use crate::bench::{Bench, turn};
use crate::scripted::command;

const LEASE: Duration = Duration::from_secs(60);

/// A store whose claims have a lease that ended in a pause right after an execution was started.
#[derive(Debug, Default)]
struct Paused {
    store: MemoryStore,
    /// Another server has claimed the conversation in the pause.
    is_taken: AtomicBool,
}

#[async_trait]
impl RunStore for Paused {
    async fn claim(&self, conversation: &Conversation) -> Result<Option<Claim>, StoreError> {
        let claim = self.store.claim(conversation).await?;
        let now = Instant::now();
        Ok(claim.map(|claim| claim.with_lease(1, now, LEASE)))
    }

    async fn renew(&self, claim: &Claim) -> Result<(), StoreError> {
        if self.is_taken.load(Ordering::SeqCst) {
            return Err(StoreError::Conflict);
        }
        claim.extend(Instant::now());
        Ok(())
    }

    async fn load(&self, conversation: &Conversation) -> Result<Option<Saved>, StoreError> {
        self.store.load(conversation).await
    }

    async fn save(&self, claim: &Claim, expected: u64, record: &str) -> Result<u64, StoreError> {
        self.store.save(claim, expected, record).await
    }

    async fn start(&self, claim: &Claim, id: &str) -> Result<bool, StoreError> {
        let started = self.store.start(claim, id).await?;
        let past = Instant::now().checked_sub(LEASE).unwrap();
        claim.extend(past);
        assert!(!claim.is_current());
        Ok(started)
    }
}

#[tokio::test]
async fn a_command_whose_lease_was_taken_does_not_start() {
    for is_taken in [true, false] {
        let store = Paused {
            is_taken: AtomicBool::new(is_taken),
            ..Paused::default()
        };
        let bench = Bench::new(Arc::new(store));
        bench.reply(&command("effect", "{}"));
        bench.say(1, "goal").await;
        let answer = turn(2, Answer::Text("y".to_owned()));
        let end = bench.agent.turn(answer, &mut Vec::new()).await;
        match is_taken {
            true => assert!(matches!(end, Err(TurnError::Elsewhere)), "{end:?}"),
            false => assert!(
                matches!(end, Ok(TurnEnd::Finish(End::Complete(_)))),
                "{end:?}"
            ),
        }
        assert_eq!(bench.runs(), usize::from(!is_taken));
    }
}
