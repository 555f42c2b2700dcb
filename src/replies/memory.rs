//! Logs of replies in the memory of this process.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::future::poll_fn;
use std::mem;
use std::ops::Range;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::Bytes;

use super::store::{
    ConversationKey, LogPage, ReplyEnd, ReplyId, ReplyMeta, ReplyState, ReplyStore, StoreError,
};
use crate::agent::{Key, Wakers};
use crate::protocol::Env;
use crate::sync::{Mutex, MutexGuard};

/// The maximum size of a page in bytes, unless one event is larger.
const PAGE: usize = 64 * 1024;

/// The maximum time that a read waits for events.
const WAIT: Duration = Duration::from_secs(1);

/// The time for which a noted reader counts as present.
const ATTENDED: Duration = Duration::from_secs(60);

/// The estimated size of a log without its events, in bytes.
const OVERHEAD: usize = 512;

/// A [`ReplyStore`] in the memory of this process: for a single server, and for tests.
///
/// Logs expire by the clock of its environment. All logs together may have 1 GiB by default; ended logs are deleted to
/// free space for others. Without a timer a read waits until there is something to return.
///
/// ```
/// use std::time::Duration;
///
/// use copilot_wire::replies::{MemoryReplyStore, ReplyEnd, ReplyId, ReplyMeta, ReplyStore};
///
/// # futures::executor::block_on(async {
/// let store = MemoryReplyStore::new().limit(64 << 20);
/// let (id, minute) = (ReplyId::from_bytes([7; 32]), Duration::from_secs(60));
/// store.create(&id, &ReplyMeta::new(minute, minute)).await?;
/// store.append(&id, 0..1, "data: Hello\n\n".into()).await?;
/// store.seal(&id, ReplyEnd::Done).await?;
///
/// let page = store.read(&id, 0).await?;
/// assert_eq!(page.events, "data: Hello\n\n");
/// assert_eq!((page.next, page.end), (1, Some(ReplyEnd::Done)));
/// # Ok::<(), copilot_wire::replies::StoreError>(()) })?;
/// # Ok::<(), copilot_wire::replies::StoreError>(())
/// ```
#[must_use]
pub struct MemoryReplyStore {
    env: Env,
    limit: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    logs: HashMap<ReplyId, Log>,
    latest: HashMap<ConversationKey, ReplyId>,
    /// The times at which logs expire.
    expiry: BTreeSet<(SystemTime, ReplyId)>,
    /// Those that have ended. Without empty logs, which are markers and hardly take space.
    ended: BTreeSet<(SystemTime, ReplyId)>,
    /// The size of all logs, in bytes.
    size: usize,
}

struct Log {
    meta: ReplyMeta,
    expires: SystemTime,
    /// The events as they were appended, each chunk with the number of its first event.
    chunks: Vec<(u64, Bytes)>,
    size: usize,
    next: u64,
    end: Option<ReplyEnd>,
    cancelled: bool,
    /// The time at which a reader was last noted.
    noted: Option<SystemTime>,
    readers: Wakers,
    /// The tasks that wait for a cancellation.
    runners: Wakers,
}

impl MemoryReplyStore {
    /// Creates a store with the system's clock and the timer of the feature `tokio`.
    pub fn new() -> Self {
        Self {
            env: Env::default(),
            limit: 1 << 30,
            state: Mutex::default(),
        }
    }

    /// Sets the environment: the clock and the timer.
    pub fn env(mut self, env: Env) -> Self {
        self.env = env;
        self
    }

    /// Sets the maximum size of all logs together, in bytes. If it would be exceeded, ended replies are deleted early,
    /// in the order in which they expire. If there are none, [`StoreError::Full`] is returned.
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Returns the number of logs that have not expired.
    pub fn len(&self) -> usize {
        self.lock().logs.len()
    }

    /// Returns `true` if all logs have expired.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes the logs that have expired, and returns the state.
    fn lock(&self) -> MutexGuard<'_, State> {
        // A poisoned lock is usable: no code under it panics in the middle of a change.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.expire(self.env.now());
        state
    }
}

/// Prints the number of logs, without their contents.
impl fmt::Debug for MemoryReplyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryReplyStore")
            .field("limit", &self.limit)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

impl Default for MemoryReplyStore {
    fn default() -> Self {
        Self::new()
    }
}

impl State {
    fn expire(&mut self, now: SystemTime) {
        while let Some(&(expires, id)) = self.expiry.first() {
            if expires > now {
                break;
            }
            self.remove(expires, id);
        }
    }

    fn remove(&mut self, expires: SystemTime, id: ReplyId) {
        self.expiry.remove(&(expires, id));
        self.ended.remove(&(expires, id));
        let Some(log) = self.logs.remove(&id) else {
            return;
        };
        self.size -= log.size;
        if let Some(conversation) = log.meta.conversation {
            // A later reply of the conversation may have replaced this one.
            if self.latest.get(&conversation) == Some(&id) {
                self.latest.remove(&conversation);
            }
        }
    }

    /// Frees space by deleting ended replies.
    fn reserve(&mut self, size: usize, limit: usize) -> Result<(), StoreError> {
        // Nothing is deleted for a log that can never fit.
        if size > limit {
            return Err(StoreError::Full);
        }
        while size > limit.saturating_sub(self.size) {
            let &(expires, id) = self.ended.first().ok_or(StoreError::Full)?;
            self.remove(expires, id);
        }
        Ok(())
    }

    fn log(&mut self, id: &ReplyId) -> Result<&mut Log, StoreError> {
        self.logs.get_mut(id).ok_or(StoreError::Gone)
    }
}

impl Log {
    /// Returns the events from number `from` on; `None` if there are none yet and more may follow.
    fn page(&self, from: u64) -> Option<LogPage> {
        if from >= self.next {
            return self
                .end
                .map(|end| LogPage::new(from..from, Bytes::new(), Some(end)));
        }
        let after = self.chunks.partition_point(|(first, _)| *first <= from);
        let start = after.checked_sub(1)?;
        let mut size = 0;
        let fits = |(_, chunk): &&(u64, Bytes)| {
            size += chunk.len();
            size <= PAGE
        };
        let count = self.chunks.iter().skip(start).take_while(fits).count();
        // At least one chunk, however large: a reader that got none would repeat the read.
        let end = start + count.max(1);
        let chunks = self.chunks.get(start..end)?;
        let next = self.chunks.get(end).map_or(self.next, |(first, _)| *first);
        let (first, events) = match chunks {
            [(first, chunk)] => (*first, chunk.clone()),
            _ => {
                let events: Vec<_> = chunks.iter().map(|(_, chunk)| &**chunk).collect();
                (chunks.first()?.0, events.concat().into())
            }
        };
        // The end is returned only with the last event, because readers stop at the end.
        let end = self.end.filter(|_| next == self.next);
        Some(LogPage::new(first..next, events, end))
    }
}

#[async_trait]
impl ReplyStore for MemoryReplyStore {
    async fn create(&self, id: &ReplyId, meta: &ReplyMeta) -> Result<(), StoreError> {
        let mut state = self.lock();
        if state.logs.contains_key(id) {
            return Err(StoreError::Exists);
        }
        state.reserve(OVERHEAD, self.limit)?;
        let expires = self.env.now() + meta.lifetime;
        state.size += OVERHEAD;
        state.expiry.insert((expires, *id));
        if let Some(conversation) = meta.conversation {
            state.latest.insert(conversation, *id);
        }
        let log = Log {
            meta: meta.clone(),
            expires,
            chunks: Vec::new(),
            size: OVERHEAD,
            next: 0,
            end: None,
            cancelled: false,
            noted: None,
            readers: Wakers::default(),
            runners: Wakers::default(),
        };
        state.logs.insert(*id, log);
        Ok(())
    }

    async fn append(
        &self,
        id: &ReplyId,
        numbers: Range<u64>,
        events: Bytes,
    ) -> Result<Duration, StoreError> {
        let mut state = self.lock();
        let log = state.log(id)?;
        if let Some(end) = log.end {
            return Err(StoreError::Sealed(end));
        }
        // The events are stored already: the writer did not receive the response and repeats the append.
        if numbers.start < log.next || events.is_empty() {
            return Ok(Duration::ZERO);
        }
        if numbers.start > log.next {
            return Err(StoreError::Gone);
        }
        let size = events.len();
        state.reserve(size, self.limit)?;
        let log = state.log(id)?;
        log.next = numbers.end;
        log.size += size;
        log.chunks.push((numbers.start, events));
        let waiting = log.readers.take();
        state.size += size;
        drop(state);
        waiting.for_each(Waker::wake);
        Ok(Duration::ZERO)
    }

    async fn seal(&self, id: &ReplyId, end: ReplyEnd) -> Result<ReplyEnd, StoreError> {
        let now = self.env.now();
        let mut state = self.lock();
        let log = state.log(id)?;
        if let Some(end) = log.end {
            return Ok(end);
        }
        log.end = Some(end);
        // After the end, readers have the whole retention time, independent of the lifetime.
        let before = mem::replace(&mut log.expires, now + log.meta.retention);
        let after = log.expires;
        let is_marker = log.next == 0;
        let waiting = log.readers.take();
        state.expiry.remove(&(before, *id));
        if !is_marker {
            state.ended.insert((after, *id));
        }
        state.expiry.insert((after, *id));
        drop(state);
        waiting.for_each(Waker::wake);
        Ok(end)
    }

    async fn read(&self, id: &ReplyId, from: u64) -> Result<LogPage, StoreError> {
        let mut ticks = None;
        let mut waiter = Waiter::new(self, id, |log| &mut log.readers);
        poll_fn(|cx| {
            let mut state = self.lock();
            let log = state.log(id)?;
            if let Some(page) = log.page(from) {
                return Poll::Ready(Ok(page));
            }
            waiter.wait(log, cx);
            drop(state);
            let ticks = ticks.get_or_insert_with(|| self.env.ticks(WAIT));
            match ticks.as_mut().map(|ticks| ticks.as_mut().poll_next(cx)) {
                Some(Poll::Ready(Some(()))) => {
                    Poll::Ready(Ok(LogPage::new(from..from, Bytes::new(), None)))
                }
                Some(Poll::Ready(None) | Poll::Pending) | None => Poll::Pending,
            }
        })
        .await
    }

    async fn state(&self, id: &ReplyId) -> Result<ReplyState, StoreError> {
        let now = self.env.now();
        let mut state = self.lock();
        let log = state.log(id)?;
        let since = |noted| now.duration_since(noted).unwrap_or_default();
        Ok(ReplyState {
            next: log.next,
            end: log.end,
            attended: log.noted.is_some_and(|noted| since(noted) < ATTENDED),
        })
    }

    async fn note_reader(&self, id: &ReplyId) -> Result<(), StoreError> {
        let now = self.env.now();
        let mut state = self.lock();
        let log = state.log(id)?;
        log.noted = Some(now);
        Ok(())
    }

    async fn latest(&self, conversation: &ConversationKey) -> Result<Option<ReplyId>, StoreError> {
        Ok(self.lock().latest.get(conversation).copied())
    }

    async fn cancel(&self, id: &ReplyId) -> Result<(), StoreError> {
        let mut state = self.lock();
        let log = state.log(id)?;
        // A reply that has ended cannot be cancelled.
        log.cancelled |= log.end.is_none();
        let waiting = log.runners.take();
        drop(state);
        waiting.for_each(Waker::wake);
        Ok(())
    }

    async fn cancelled(&self, id: &ReplyId) {
        let mut waiter = Waiter::new(self, id, |log| &mut log.runners);
        poll_fn(|cx| {
            let mut state = self.lock();
            match state.logs.get_mut(id) {
                Some(log) if log.cancelled => Poll::Ready(()),
                Some(log) => {
                    waiter.wait(log, cx);
                    Poll::Pending
                }
                None => Poll::Pending,
            }
        })
        .await;
    }
}

/// A future that waits for a change of a log.
struct Waiter<'a> {
    store: &'a MemoryReplyStore,
    id: ReplyId,
    wakers: fn(&mut Log) -> &mut Wakers,
    key: Key,
}

impl<'a> Waiter<'a> {
    fn new(store: &'a MemoryReplyStore, id: &ReplyId, wakers: fn(&mut Log) -> &mut Wakers) -> Self {
        Self {
            store,
            id: *id,
            wakers,
            key: None,
        }
    }

    fn wait(&mut self, log: &mut Log, cx: &Context<'_>) {
        (self.wakers)(log).wait(&mut self.key, cx);
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        if let Ok(log) = self.store.lock().log(&self.id) {
            (self.wakers)(log).remove(self.key);
        }
    }
}
