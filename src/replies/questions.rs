//! Questions in text on servers that share a store: their common key, and the used questions.
//!
//! Both are logs, because a store never has two logs with one id. The first server that appends its key to a certain
//! log defines the key of all servers. A question is marked as used by creating its log, which succeeds only once.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::Replies;
use super::runs::Shared;
use super::store::{ReplyEnd, ReplyId, ReplyMeta, StoreError};
use crate::agent::Request;
use crate::consent::{Asked, Consent};
use crate::protocol::{Env, Protocol, Verdict};

/// The time for which a used question is stored. Questions that are older than an hour are stale in any case; the rest
/// is for a clock of the store that is ahead for a while.
const USED: Duration = Duration::from_secs(26 * 60 * 60);

/// The time for which the common key is stored.
const KEY: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The maximum time that a request waits for the common key, in ticks of a millisecond.
const PATIENCE: usize = 10;

impl Replies {
    /// Begins a turn for all servers: loads the common key, closes the questions that are still open at the place of
    /// the turn, and checks the user's answer.
    pub(crate) async fn begin<P: Protocol>(
        &self,
        request: &Request<P>,
        consent: &Consent,
        env: &Env,
    ) {
        self.share_key(consent, env).await;
        let (_, closed) = request.begin();
        if !closed.is_empty() {
            let (replies, env) = (self.clone(), env.clone());
            // In this process the questions are already closed, so the turn does not wait for the store.
            self.shared.finish(Box::pin(async move {
                for asked in closed {
                    let _ = replies.spend(asked, &env).await;
                }
            }));
        }
        let Some((mut answer, spent)) = request.check() else {
            return;
        };
        if let Some(asked) = spent {
            let void = match self.spend(asked, env).await {
                Ok(()) => None,
                Err(StoreError::Exists) => Some(Verdict::Used),
                Err(_) => Some(Verdict::Unchecked),
            };
            if let Some(verdict) = void {
                answer.verdict = verdict;
                answer.remark = None;
            }
        }
        request.set_decision(answer);
    }

    /// Marks a question as used in the store.
    async fn spend(&self, asked: Asked, env: &Env) -> Result<(), StoreError> {
        let (shared, id) = (
            &self.shared,
            ReplyId::new("", "question", &asked.to_string()),
        );
        let meta = ReplyMeta::new(USED, USED);
        shared.ask(env, shared.store.create(&id, &meta)).await?;
        // The question is used now; the end only frees the resources of a running log in the store.
        let _ = shared
            .ask(env, shared.store.seal(&id, ReplyEnd::Done))
            .await;
        Ok(())
    }

    /// Waits briefly for the common key. Until the key is known, questions are signed with the key of this process.
    async fn share_key(&self, consent: &Consent, env: &Env) {
        if consent.has_common_key() {
            return;
        }
        if !self.shared.loads_key.swap(true, Ordering::AcqRel) {
            let (replies, consent, env) = (self.clone(), consent.clone(), env.clone());
            (self.shared.spawn)(Box::pin(async move {
                // Reset at the end of the task, even after a panic, so that another request can try again.
                let _loading = Lower(&replies.shared.loads_key);
                if let Some(key) = common_key(&replies.shared, &env).await {
                    consent.share(key);
                }
            }));
        }
        let Some(mut ticks) = env.ticks(Duration::from_millis(1)) else {
            return;
        };
        for _ in 0..PATIENCE {
            if consent.has_common_key() {
                return;
            }
            poll_fn(|cx| ticks.as_mut().poll_next(cx)).await;
        }
    }
}

struct Lower<'a>(&'a AtomicBool);

impl Drop for Lower<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Returns the key of all servers that share a store. `None` if the store is not available.
async fn common_key(shared: &Shared, env: &Env) -> Option<[u8; 32]> {
    let store = &shared.store;
    let id = ReplyId::new("", "questions", "the key of all servers");
    let mut offer = [0; 32];
    getrandom::fill(&mut offer).ok()?;
    let hex: String = offer.iter().map(|byte| format!("{byte:02x}")).collect();
    match shared
        .ask(env, store.create(&id, &ReplyMeta::new(KEY, KEY)))
        .await
    {
        Ok(()) | Err(StoreError::Exists) => {}
        Err(_) => return None,
    }
    // If another server has appended its key before, that key is the common one.
    let offer = store.append(&id, 0..1, hex.into());
    let _ = shared.ask(env, offer).await;
    let _ = shared.ask(env, store.seal(&id, ReplyEnd::Done)).await;
    let page = shared.ask(env, store.read(&id, 0)).await.ok()?;
    let hex = std::str::from_utf8(&page.events).ok()?;
    let mut key = [0; 32];
    for (byte, at) in key.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(hex.get(at..at + 2)?, 16).ok()?;
    }
    Some(key)
}
