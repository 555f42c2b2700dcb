//! Connections without a request.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot::{self, Receiver, Sender};
use tokio::time::timeout;

/// The open connections that have not sent a request yet, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Silent(Arc<Mutex<Connections>>);

#[derive(Debug, Default)]
struct Connections {
    /// The number of the newest connection.
    newest: u64,
    /// The signal that closes each of them.
    waiting: BTreeMap<u64, Sender<()>>,
}

/// The entry of one connection, removed on drop.
#[derive(Debug)]
pub(crate) struct Entry {
    number: u64,
    silent: Silent,
}

impl Silent {
    /// Adds a connection. The future is ready when the connection should be closed: it was
    /// [evicted](Self::evict), or its entry still stands after `limit`.
    pub(crate) fn add(&self, limit: Duration) -> (Entry, impl Future<Output = ()> + use<>) {
        let (close, closed) = oneshot::channel();
        let mut connections = self.lock();
        connections.newest += 1;
        let number = connections.newest;
        connections.waiting.insert(number, close);
        let silent = self.clone();
        (Entry { number, silent }, overdue(closed, limit))
    }

    /// Closes the oldest connection; `false` if there is none.
    pub(crate) fn evict(&self) -> bool {
        let oldest = self.lock().waiting.pop_first();
        oldest.is_some_and(|(_, close)| close.send(()).is_ok())
    }

    /// Returns `true` if every open connection has sent a request.
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().waiting.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, Connections> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.silent.lock().waiting.remove(&self.number);
    }
}

async fn overdue(closed: Receiver<()>, limit: Duration) {
    // The sender is gone where the entry is: a request has come.
    if matches!(timeout(limit, closed).await, Ok(Err(_))) {
        pending::<()>().await;
    }
}
