//! The open connections, with those that have become WebSockets.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// The number of open connections.
#[derive(Clone, Default)]
pub(crate) struct Places(Arc<Shared>);

#[derive(Default)]
struct Shared {
    taken: AtomicUsize,
    freed: Notify,
}

/// The place of a connection, free again when the last clone is dropped: the task of the connection has one, and so
/// has that of the WebSocket that it has become.
#[derive(Clone)]
pub(crate) struct Place {
    _taken: Arc<Taken>,
}

struct Taken(Places);

impl Places {
    pub(crate) fn take(&self) -> Place {
        self.0.taken.fetch_add(1, Ordering::Relaxed);
        let _taken = Arc::new(Taken(self.clone()));
        Place { _taken }
    }

    pub(crate) fn taken(&self) -> usize {
        self.0.taken.load(Ordering::Relaxed)
    }

    /// Waits until a place has become free.
    pub(crate) async fn freed(&self) {
        self.0.freed.notified().await;
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.0.0.taken.fetch_sub(1, Ordering::Relaxed);
        self.0.0.freed.notify_one();
    }
}
