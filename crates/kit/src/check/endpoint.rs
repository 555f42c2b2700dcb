//! Endpoints that can be checked.

use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use futures_core::Stream;
use http::{Request, Response};

use copilot_wire::agent::Body;
use copilot_wire::router::Router;

/// An agent endpoint: a [`Router`] in process, or a server behind an HTTP client.
#[async_trait]
pub trait Endpoint: Send + Sync {
    /// Sends a request and waits for the head of its response.
    ///
    /// The request's URI is a path relative to the root of the endpoint, which may itself be below a path of its
    /// server; or an absolute URL, if a document of the endpoint contains one. Redirects are not followed, and nothing
    /// is decompressed. Dropping the body closes the connection, as a client that disconnects does.
    ///
    /// # Errors
    ///
    /// When there is no response.
    async fn call(&self, request: Request<Bytes>) -> Result<Response<EndpointBody>, EndpointError>;

    /// Waits for `duration`. Checks use this for their timeouts.
    async fn sleep(&self, duration: Duration);
}

/// The body of a response as a stream of pieces.
pub type EndpointBody = Pin<Box<dyn Stream<Item = Result<Bytes, EndpointError>> + Send>>;

/// An error of receiving a response.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct EndpointError(#[source] Box<dyn Error + Send + Sync>);

impl EndpointError {
    /// Creates an error of the transport.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into())
    }
}

/// A router in process needs no runtime: a parked thread is the timer.
#[async_trait]
impl Endpoint for Router {
    async fn call(&self, request: Request<Bytes>) -> Result<Response<EndpointBody>, EndpointError> {
        let request = request.map(Body::full);
        let response = self.handle(request).await;
        Ok(response.map(|body| Box::pin(Frames(body)) as EndpointBody))
    }

    async fn sleep(&self, duration: Duration) {
        Sleep::new(duration).await;
    }
}

/// The body of a router.
struct Frames(Body);

impl Stream for Frames {
    type Item = Result<Bytes, EndpointError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let frame = Pin::new(&mut self.0).poll_next(cx);
        frame.map(|frame| frame.map(|frame| frame.map_err(EndpointError::new)))
    }
}

/// A timer on a thread, which ends when the timer is dropped.
struct Sleep {
    state: Arc<Mutex<State>>,
    thread: Option<std::thread::Thread>,
}

#[derive(Default)]
struct State {
    over: bool,
    waker: Option<Waker>,
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sleep {
    fn new(duration: Duration) -> Self {
        let state = Arc::<Mutex<State>>::default();
        let shared = Arc::clone(&state);
        let end = Instant::now() + duration;
        let timer = move || loop {
            let mut state = lock(&shared);
            // `park_timeout` may return early, so its return does not mean that the time is over.
            let left = end.saturating_duration_since(Instant::now());
            if state.over || left.is_zero() {
                state.over = true;
                // The flag is set and the waker is woken under one lock: a waker that a poll stored in between would
                // never be woken.
                if let Some(waker) = state.waker.take() {
                    waker.wake();
                }
                return;
            }
            drop(state);
            // The thread parks without the lock. An `unpark` between the release and the call is not lost: the token
            // makes `park_timeout` return at once.
            std::thread::park_timeout(left);
        };
        let thread = std::thread::Builder::new().name("check-timer".to_owned());
        let handle = thread.spawn(timer).ok();
        // If no thread can be started, the timer is ready at once: a check then ends early rather
        // than never.
        lock(&state).over |= handle.is_none();
        let thread = handle.map(|handle| handle.thread().clone());
        Self { state, thread }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = lock(&self.state);
        if state.over {
            return Poll::Ready(());
        }
        // The future may have moved to another task since the last poll, so the newest waker is stored.
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        let mut state = lock(&self.state);
        state.over = true;
        // The thread runs a little longer than the timer: it must not wake a task that no longer waits.
        state.waker = None;
        drop(state);
        if let Some(thread) = &self.thread {
            thread.unpark();
        }
    }
}
