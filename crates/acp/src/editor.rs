//! The editor, as an agent reaches it.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol::v1::schema::{ClientCapabilities, Implementation};
use agent_client_protocol::{
    Error, JsonRpcRequest, JsonRpcResponse as _, RawJsonRpcId, RawJsonRpcMessage,
};
use bytes::Bytes;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::event;

/// The maximum number of requests that wait for the editor.
const MOST: usize = 1024;

/// The maximum number of messages that wait until the editor reads. Each has at most 16 KiB, or is one event.
pub(crate) const QUEUE: usize = 16;

/// The editor at the other end of the connection: what it can do, and requests to it.
///
/// Clones are the same editor.
#[derive(Clone)]
pub struct Editor(Arc<Inner>);

struct Inner {
    /// `None` for a turn without a connection, as in tests.
    out: Option<mpsc::Sender<Bytes>>,
    last: AtomicU64,
    waiting: Mutex<HashMap<u64, Reply>>,
    hello: Mutex<Arc<Hello>>,
}

type Reply = oneshot::Sender<Result<Value, Error>>;

/// The description that an editor gives of itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hello {
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) info: Option<Implementation>,
}

/// The reason why the editor has not answered a request.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditorError {
    /// The editor has answered with an error.
    #[error("the editor refused the request: {0}")]
    Refused(Error),
    /// The connection is closed, or too many requests wait.
    #[error("the editor cannot be reached")]
    Closed,
}

impl Editor {
    pub(crate) fn new(out: Option<mpsc::Sender<Bytes>>) -> Self {
        Self(Arc::new(Inner {
            out,
            // Some clients take the id 0 for no id.
            last: AtomicU64::new(1),
            waiting: Mutex::default(),
            hello: Mutex::default(),
        }))
    }

    pub(crate) fn greet(&self, hello: Hello) {
        *lock(&self.0.hello) = Arc::new(hello);
    }

    /// Returns what the editor can do, as it has declared.
    pub fn capabilities(&self) -> ClientCapabilities {
        lock(&self.0.hello).capabilities.clone()
    }

    /// Returns the name and the version of the editor, if it has told them.
    pub fn info(&self) -> Option<Implementation> {
        lock(&self.0.hello).info.clone()
    }

    /// Sends a request, such as `ReadTextFileRequest` or `CreateTerminalRequest`, and waits for the response. Check the
    /// [capabilities](Self::capabilities) first.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the response is ignored.
    ///
    /// # Errors
    ///
    /// [`EditorError`].
    pub async fn request<R: JsonRpcRequest>(
        &self,
        request: &R,
    ) -> Result<R::Response, EditorError> {
        let untyped = request.to_untyped_message().map_err(EditorError::Refused)?;
        let (method, params) = untyped.into_parts();
        let waiting = self.wait().ok_or(EditorError::Closed)?;
        let message = RawJsonRpcMessage::request(method.clone(), params, waiting.id());
        let mut line = Vec::new();
        event::line(&message.map_err(EditorError::Refused)?, &mut line);
        line.push(b'\n');
        let out = self.0.out.as_ref().ok_or(EditorError::Closed)?;
        let sent = out.send(line.into()).await;
        sent.map_err(|_| EditorError::Closed)?;
        let response = waiting.response().await.ok_or(EditorError::Closed)?;
        let value = response.map_err(EditorError::Refused)?;
        R::Response::from_json(&method, value).map_err(EditorError::Refused)
    }

    /// Creates the id of a request, whose response can then arrive. `None` without a connection, or if too many
    /// requests wait.
    pub(crate) fn wait(&self) -> Option<Waiting> {
        self.0.out.as_ref()?;
        // Relaxed, because the numbers only have to be unique.
        let number = self.0.last.fetch_add(1, Ordering::Relaxed);
        let (to, from) = oneshot::channel();
        let mut waiting = lock(&self.0.waiting);
        if waiting.len() >= MOST {
            return None;
        }
        waiting.insert(number, to);
        drop(waiting);
        Some(Waiting {
            editor: self.clone(),
            number,
            from,
        })
    }

    /// Passes a response to the request with this id. A response to no request is ignored.
    pub(crate) fn respond(&self, id: &RawJsonRpcId, response: Result<Value, Error>) {
        let RawJsonRpcId::Number(number) = id else {
            return;
        };
        let Ok(number) = u64::try_from(*number) else {
            return;
        };
        let to = lock(&self.0.waiting).remove(&number);
        if let Some(to) = to {
            // The request may have been given up.
            let _ = to.send(response);
        }
    }
}

/// A request whose response has not arrived. Dropping it gives up the request.
pub(crate) struct Waiting {
    editor: Editor,
    number: u64,
    from: oneshot::Receiver<Result<Value, Error>>,
}

impl Waiting {
    pub(crate) fn id(&self) -> RawJsonRpcId {
        RawJsonRpcId::Number(i64::try_from(self.number).unwrap_or(i64::MAX))
    }

    /// Waits for the response. `None` if the connection is closed before.
    pub(crate) async fn response(mut self) -> Option<Result<Value, Error>> {
        (&mut self.from).await.ok()
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        lock(&self.editor.0.waiting).remove(&self.number);
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code that runs under these locks can panic in the middle of a change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Editor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Editor")
            .field("info", &self.info())
            .finish_non_exhaustive()
    }
}
