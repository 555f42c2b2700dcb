//! A store that fails as it is told.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::async_trait;
use copilot_wire::replies::{
    ConversationKey, LogPage, MemoryReplyStore, ReplyEnd, ReplyId, ReplyMeta, ReplyState,
    ReplyStore, StoreError,
};

/// A store that fails as it is told, and knows the reply that was created last.
#[derive(Clone, Debug)]
pub(crate) struct Spy(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: MemoryReplyStore,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    last: Option<ReplyId>,
    calls: Vec<&'static str>,
    /// The calls that fail, by their numbers, and their errors.
    fails: Option<(std::ops::Range<usize>, Fault)>,
    /// All calls of a method fail.
    fails_all: Option<(&'static str, Fault)>,
    /// The time that appends return.
    pace: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    Unavailable,
    /// It is unavailable, but has done what was asked.
    Forgotten,
    Gone,
    Full,
    Hangs,
    Panics,
    /// It takes a moment.
    Slow,
    /// It takes longer than anybody waits.
    Late,
    /// It takes a moment, and there is no such log.
    SlowlyGone,
    Exists,
    Sealed,
    /// It answers what is not true: one of several untruths.
    Untrue(usize),
}

impl Spy {
    /// Returns the store itself, which does not fail.
    pub(crate) fn store(&self) -> &MemoryReplyStore {
        &self.0.store
    }

    pub(crate) fn new(store: MemoryReplyStore) -> Self {
        let state = Mutex::default();
        Self(Arc::new(Inner { store, state }))
    }

    pub(crate) fn fail(&self, calls: std::ops::Range<usize>, fault: Fault) {
        self.0.state.lock().unwrap().fails = Some((calls, fault));
    }

    pub(crate) fn fail_all(&self, call: &'static str, fault: Fault) {
        self.0.state.lock().unwrap().fails_all = Some((call, fault));
    }

    /// Returns the number of an untruth.
    fn untruth(&self, name: &str) -> Option<usize> {
        match self.0.state.lock().unwrap().fails_all {
            Some((call, Fault::Untrue(number))) if call == name => Some(number),
            _ => None,
        }
    }

    pub(crate) fn pace(&self, time: Duration) {
        self.0.state.lock().unwrap().pace = time;
    }

    pub(crate) fn last(&self) -> ReplyId {
        self.0.state.lock().unwrap().last.unwrap()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.store.len()
    }

    pub(crate) fn calls(&self) -> Vec<&'static str> {
        self.0.state.lock().unwrap().calls.clone()
    }

    async fn call<T>(
        &self,
        name: &'static str,
        work: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let fault = {
            let mut state = self.0.state.lock().unwrap();
            let number = state.calls.len();
            state.calls.push(name);
            let fails = state.fails.as_ref();
            let fails = fails.filter(|it| it.0.contains(&number)).map(|it| it.1);
            let all = state.fails_all.filter(|(call, _)| *call == name);
            match fails {
                None => all.map(|it| it.1),
                fault => fault,
            }
        };
        let unavailable = || StoreError::Unavailable("away".into());
        match fault {
            None | Some(Fault::Untrue(_)) => work.await,
            Some(Fault::Unavailable) => Err(unavailable()),
            Some(Fault::Forgotten) => work.await.and(Err(unavailable())),
            Some(Fault::Gone) => Err(StoreError::Gone),
            Some(Fault::Full) => Err(StoreError::Full),
            Some(Fault::Exists) => Err(StoreError::Exists),
            Some(Fault::Sealed) => Err(StoreError::Sealed(ReplyEnd::Done)),
            Some(Fault::Late) => {
                let done = work.await;
                tokio::time::sleep(Duration::from_secs(60)).await;
                done
            }
            Some(Fault::SlowlyGone) => {
                tokio::time::sleep(Duration::from_millis(3)).await;
                Err(StoreError::Gone)
            }
            Some(Fault::Hangs) => std::future::pending().await,
            Some(Fault::Panics) => panic!("a test of a panic"),
            Some(Fault::Slow) => {
                tokio::time::sleep(Duration::from_millis(3)).await;
                work.await
            }
        }
    }
}

#[async_trait]
impl ReplyStore for Spy {
    async fn create(&self, id: &ReplyId, meta: &ReplyMeta) -> Result<(), StoreError> {
        self.0.state.lock().unwrap().last = Some(*id);
        self.call("create", self.0.store.create(id, meta)).await
    }

    async fn append(
        &self,
        id: &ReplyId,
        numbers: std::ops::Range<u64>,
        events: Bytes,
    ) -> Result<Duration, StoreError> {
        let time = self.0.state.lock().unwrap().pace;
        let append = self.call("append", self.0.store.append(id, numbers, events));
        append.await.map(|_| time)
    }

    async fn seal(&self, id: &ReplyId, end: ReplyEnd) -> Result<ReplyEnd, StoreError> {
        let sealed = self.call("seal", self.0.store.seal(id, end)).await?;
        Ok(self.untruth("seal").map_or(sealed, |_| ReplyEnd::Cancelled))
    }

    async fn read(&self, id: &ReplyId, from: u64) -> Result<LogPage, StoreError> {
        let page = self.call("read", self.0.store.read(id, from)).await?;
        let untruths = [
            LogPage::new(from..from, Bytes::new(), None),
            LogPage::new(from..u64::MAX, Bytes::new(), None),
            LogPage::new(
                from..from.wrapping_add(1),
                "data: 1\n\ndata: half".into(),
                None,
            ),
            LogPage::new(from..from, "data: 1\n\n".into(), None),
            LogPage::new(from..0, page.events.clone(), page.end),
        ];
        let untruth = self.untruth("read").and_then(|at| untruths.get(at));
        Ok(untruth.cloned().unwrap_or(page))
    }

    async fn state(&self, id: &ReplyId) -> Result<ReplyState, StoreError> {
        let state = self.call("state", self.0.store.state(id)).await?;
        let mut ended = ReplyState::new(u64::MAX);
        ended.end = Some(ReplyEnd::Lost);
        let untruths = [ended, ReplyState::new(0), ReplyState::new(u64::MAX)];
        let untruth = self.untruth("state").and_then(|at| untruths.get(at));
        Ok(untruth.copied().unwrap_or(state))
    }

    async fn note_reader(&self, id: &ReplyId) -> Result<(), StoreError> {
        self.call("note_reader", self.0.store.note_reader(id)).await
    }

    async fn latest(&self, conversation: &ConversationKey) -> Result<Option<ReplyId>, StoreError> {
        let latest = self
            .call("latest", self.0.store.latest(conversation))
            .await?;
        let unknown = Some(ReplyId::from_bytes([9; 32]));
        Ok(self.untruth("latest").map_or(latest, |_| unknown))
    }

    async fn cancel(&self, id: &ReplyId) -> Result<(), StoreError> {
        self.call("cancel", self.0.store.cancel(id)).await
    }

    async fn cancelled(&self, id: &ReplyId) {
        self.0.store.cancelled(id).await;
    }
}
