//! An open session.

use std::sync::{Arc, Mutex};

use agent_client_protocol::RawJsonRpcId;
use tokio::time::timeout;

use crate::editor::lock;
use crate::prompt::{Cancelled, Turn};
use crate::record::{Record, Recorder};
use crate::server::{LAST, Settings};
use crate::sessions::Info;
use crate::workspace::Workspace;

/// An open session.
pub(crate) struct Session {
    pub(crate) id: Arc<str>,
    /// Locked while a turn runs, until the turn is stored.
    pub(crate) turn: Arc<tokio::sync::Mutex<()>>,
    pub(crate) state: Mutex<State>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) model: Option<Arc<str>>,
    pub(crate) history: Vec<Arc<Record>>,
    pub(crate) info: Info,
    pub(crate) running: Option<Running>,
    /// Nothing is stored any more, also by a turn that does not end in time.
    pub(crate) is_deleted: bool,
}

/// Cancels a turn.
type Cancel = Arc<dyn Fn() + Send + Sync>;

/// A turn that runs.
pub(crate) struct Running {
    pub(crate) id: RawJsonRpcId,
    pub(crate) turn: Arc<Turn>,
    pub(crate) cancel: Cancel,
}

impl Session {
    /// Cancels the turn that runs, if there is one that `is_meant`.
    pub(crate) fn cancel(&self, how: Cancelled, is_meant: impl Fn(&Running) -> bool) -> bool {
        let state = lock(&self.state);
        let Some(running) = state.running.as_ref().filter(|running| is_meant(running)) else {
            return false;
        };
        running.turn.cancel(how);
        let cancel = Arc::clone(&running.cancel);
        drop(state);
        cancel();
        true
    }

    /// Cancels the turn that runs, and waits until it is stored.
    pub(crate) async fn stop(&self) {
        self.cancel(Cancelled::Session, |_| true);
        // An agent may block its thread.
        let _ = timeout(LAST, self.turn.lock()).await;
    }

    /// Adds a turn to the conversation, and stores it.
    pub(crate) async fn record(&self, settings: &Settings, mut recorder: Recorder) {
        let title = recorder.title.take();
        let Some(record) = recorder.finish() else {
            return;
        };
        let record = Arc::new(record);
        let (number, info) = {
            let mut state = lock(&self.state);
            if state.is_deleted {
                return;
            }
            if let Some(title) = title {
                state.info.title = title;
            }
            state.history.push(Arc::clone(&record));
            (state.history.len() - 1, state.info.clone())
        };
        let stored = settings.sessions.add(&self.id, number, &record, &info);
        if let Err(error) = stored.await {
            settings.complain(&error);
        }
    }
}
