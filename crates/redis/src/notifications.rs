//! The subscription of a process to messages about changed logs and cancelled replies.
//!
//! Messages are lost when a connection breaks, so they only make changes known sooner: readers read the log once a
//! second while no messages come, and cancelled replies are searched for after each new subscription, and at each
//! renewal of the lease while there is no subscription.
//!
//! In a cluster, messages are published with `PUBLISH`, which every server forwards to all others, and not with
//! `SPUBLISH` (from Redis 7.0 on): one subscription at any server is enough, and neither a moved slot nor a failed
//! master ends it. The cost grows with the number of servers, but only while somebody reads a reply elsewhere.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use copilot_wire::replies::ReplyId;
use futures_util::StreamExt;
use redis::aio::PubSubSink;
use redis::{Msg, RedisResult};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use crate::connection::{Connection, TIMEOUT};
use crate::log::Entry;
use crate::names::{Names, parse};
use crate::tail::Tail;
use crate::writers::Writers;

/// The time between two searches for unused subscriptions, and between two pings.
const TIDY: Duration = Duration::from_secs(5);
/// The time between two attempts to connect.
const RETRY: Duration = Duration::from_millis(250);

/// The notifications that readers and writers in this process wait for.
pub(crate) struct Notifications {
    /// The logs that are read here.
    logs: Mutex<HashMap<ReplyId, Arc<Tail>>>,
    runs: Mutex<HashMap<ReplyId, watch::Sender<bool>>>,
    /// The logs that are written here.
    pub(crate) writers: Writers,
    requests: mpsc::UnboundedSender<ReplyId>,
    /// The number of beginnings and ends of subscriptions: odd while there is a subscription.
    turns: AtomicU64,
    /// The value of `turns` at the last search for cancelled replies.
    searched: AtomicU64,
}

impl Notifications {
    /// Creates the notifications, and the queue of logs to subscribe to.
    pub(crate) fn new() -> (Self, mpsc::UnboundedReceiver<ReplyId>) {
        let (requests, queue) = mpsc::unbounded_channel();
        let (logs, runs) = (Mutex::default(), Mutex::default());
        (
            Self {
                logs,
                runs,
                writers: Writers::default(),
                requests,
                turns: AtomicU64::new(0),
                searched: AtomicU64::new(0),
            },
            queue,
        )
    }

    /// Returns the tail of a log, if this process has subscribed to it.
    pub(crate) fn subscribed(&self, id: &ReplyId) -> Option<Arc<Tail>> {
        lock(&self.logs).get(id).cloned()
    }

    /// Subscribes to a log and returns its tail. The first change means that the subscription has begun, and that
    /// earlier events may have been missed.
    pub(crate) fn subscribe(&self, id: &ReplyId) -> Arc<Tail> {
        let mut logs = lock(&self.logs);
        let tail = logs.entry(*id).or_insert_with(|| {
            // Fails only if the store and its readers are being dropped.
            let _ = self.requests.send(*id);
            Arc::new(Tail::new())
        });
        Arc::clone(tail)
    }

    /// Returns a receiver that becomes `true` once a reply is cancelled.
    pub(crate) fn run(&self, id: &ReplyId) -> watch::Receiver<bool> {
        let mut runs = lock(&self.runs);
        runs.entry(*id)
            .or_insert_with(|| watch::Sender::new(false))
            .subscribe()
    }

    /// Returns the replies that run here and can be cancelled.
    pub(crate) fn runs(&self) -> Vec<ReplyId> {
        let mut runs = lock(&self.runs);
        runs.retain(|_, run| run.receiver_count() > 0);
        runs.keys().copied().collect()
    }

    /// Cancels a reply, if it runs here.
    pub(crate) fn cancel(&self, id: &ReplyId) {
        if let Some(run) = lock(&self.runs).get(id) {
            run.send_replace(true);
        }
    }

    /// Returns the replies whose cancellation may have been missed, and the value for [`searched`](Self::searched)
    /// after the search.
    ///
    /// In a cluster a message between two servers may be lost at any time.
    pub(crate) fn to_search(&self, is_cluster: bool) -> (Vec<ReplyId>, u64) {
        let turns = self.turns.load(Ordering::Acquire);
        let runs = self.runs();
        let is_heard =
            !is_cluster && turns % 2 == 1 && self.searched.load(Ordering::Acquire) == turns;
        (if is_heard { Vec::new() } else { runs }, turns)
    }

    pub(crate) fn searched(&self, turns: u64) {
        self.searched.store(turns, Ordering::Release);
    }

    /// Makes the next search include all replies, after a search that failed.
    pub(crate) fn search_again(&self) {
        // Counts like a new subscription, so that a search that is under way does not cover these replies.
        self.turns.fetch_add(2, Ordering::AcqRel);
    }

    /// Wakes all readers of a log.
    fn changed(&self, id: &ReplyId) {
        if let Some(tail) = lock(&self.logs).get(id) {
            tail.changed();
        }
    }

    fn logs(&self) -> Vec<ReplyId> {
        lock(&self.logs).keys().copied().collect()
    }

    /// Removes the logs without recent readers, and returns them.
    fn remove_unused(&self) -> Vec<ReplyId> {
        let mut logs = lock(&self.logs);
        let is_unused = |tail: &Arc<Tail>| tail.tidy(TIDY) && Arc::strong_count(tail) == 1;
        logs.extract_if(|_, tail| is_unused(tail))
            .map(|(id, _)| id)
            .collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Subscribes, and subscribes again when the connection breaks. Never returns.
pub(crate) async fn run(
    connection: &Connection,
    names: &Names,
    notifications: &Notifications,
    mut queue: mpsc::UnboundedReceiver<ReplyId>,
) {
    loop {
        let open = async {
            let client = connection.subscriber().await.ok()?;
            within(client.get_async_pubsub()).await
        };
        if let Some(subscription) = open.await {
            let (sink, messages) = subscription.split();
            let mut subscription = Subscription {
                names,
                notifications,
                sink,
            };
            let _ = subscription.serve(messages, &mut queue).await;
            let turns = notifications.turns.load(Ordering::Acquire);
            notifications.turns.fetch_add(turns % 2, Ordering::AcqRel);
        }
        // The next connection subscribes to all logs: unused logs and queued requests need not wait for it.
        notifications.remove_unused();
        while queue.try_recv().is_ok() {}
        tokio::time::sleep(RETRY).await;
    }
}

/// An open subscription.
struct Subscription<'a> {
    names: &'a Names,
    notifications: &'a Notifications,
    sink: PubSubSink,
}

impl Subscription<'_> {
    /// Processes messages until the connection breaks.
    async fn serve(
        &mut self,
        mut messages: impl futures_util::Stream<Item = Msg> + Unpin,
        queue: &mut mpsc::UnboundedReceiver<ReplyId>,
    ) -> Option<()> {
        let own = self.names.channel();
        within(self.sink.subscribe(&own)).await?;
        self.notifications.turns.fetch_add(1, Ordering::AcqRel);
        self.subscribe(&self.notifications.logs()).await?;
        let mut tidy = tokio::time::interval(TIDY);
        let mut requests = Vec::new();
        loop {
            tokio::select! {
                message = messages.next() => self.notify(&message?, &own),
                _ = queue.recv_many(&mut requests, 256) => {
                    self.subscribe(&requests).await?;
                    requests.clear();
                }
                _ = tidy.tick() => {
                    self.unsubscribe(&self.notifications.remove_unused()).await?;
                    within(self.sink.ping::<redis::Value>()).await?;
                }
            }
        }
    }

    fn notify(&self, message: &Msg, own: &str) {
        let channel = message.get_channel_name();
        if channel == own {
            let order = String::from_utf8_lossy(message.get_payload_bytes());
            let order = order.split_once(' ');
            match order.and_then(|(verb, id)| Some((verb, parse(id)?))) {
                Some(("cancel", id)) => self.notifications.cancel(&id),
                Some(("read", id)) => self.notifications.writers.follow(&id),
                _ => {}
            }
        } else if let Some(id) = self.names.log_of_channel(channel) {
            let Some(tail) = self.notifications.subscribed(&id) else {
                return;
            };
            match Entry::parse_message(message.get_payload_bytes()) {
                Some((first, count, events)) => tail.append(first, count, events),
                None => tail.changed(),
            }
        }
    }

    /// Subscribes to logs, and wakes their readers, which may have missed earlier events.
    async fn subscribe(&mut self, logs: &[ReplyId]) -> Option<()> {
        for logs in logs.chunks(256) {
            let channels: Vec<_> = logs.iter().map(|id| self.names.log(id)).collect();
            within(self.sink.subscribe(&channels)).await?;
            logs.iter().for_each(|id| self.notifications.changed(id));
        }
        Some(())
    }

    async fn unsubscribe(&mut self, logs: &[ReplyId]) -> Option<()> {
        for logs in logs.chunks(256) {
            let channels: Vec<_> = logs.iter().map(|id| self.names.log(id)).collect();
            within(self.sink.unsubscribe(&channels)).await?;
        }
        // A log that is read again in the meantime was removed before, and gets a new subscription.
        Some(())
    }
}

/// Returns an answer. `None` if it fails or takes too long.
async fn within<T>(answer: impl Future<Output = RedisResult<T>>) -> Option<T> {
    timeout(TIMEOUT, answer).await.ok()?.ok()
}
