//! A server that speaks as a recorded Meilisearch did, over loopback.
//!
//! It is what the example answers from when there is no search engine, and what its tests break in
//! every way in which a search engine can break.

mod connection;
mod recordings;

pub use recordings::Recordings;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use copilot_wire::meilisearch::{ApiError, ChatRequest};
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinHandle;

/// One step of an answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Step {
    /// Bytes of the body, sent as they are in one piece of the transfer.
    Send(Bytes),
    /// Silence for a while.
    Pause(Duration),
    /// Silence until the client leaves.
    Stall,
    /// The connection breaks in the middle of the body.
    Break,
}

/// Decides what is answered.
pub trait Script: Send + Sync + 'static {
    /// Returns the steps of the answer to a request with this key.
    ///
    /// # Errors
    ///
    /// A refusal, which is sent in the place of a stream.
    fn answer(&self, key: &str, chat: &ChatRequest) -> Result<Vec<Step>, ApiError>;

    /// Returns `true` if this key may search outside of a chat. By default every key may.
    fn may_search(&self, key: &str) -> bool {
        let _ = key;
        true
    }
}

impl<F> Script for F
where
    F: Fn(&ChatRequest) -> Result<Vec<Step>, ApiError> + Send + Sync + 'static,
{
    fn answer(&self, _: &str, chat: &ChatRequest) -> Result<Vec<Step>, ApiError> {
        self(chat)
    }
}

/// A running replay server. Dropping it stops it.
#[derive(Debug)]
pub struct Replay {
    address: SocketAddr,
    accepting: JoinHandle<()>,
    hang_ups: Mutex<mpsc::UnboundedReceiver<Instant>>,
}

impl Replay {
    /// Starts a server on a port of its own.
    ///
    /// # Errors
    ///
    /// When there is no port to listen on.
    pub async fn start(script: impl Script) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let script: Arc<dyn Script> = Arc::new(script);
        let (hang_up, hang_ups) = mpsc::unbounded_channel();
        let accepting = tokio::spawn(async move {
            loop {
                let Ok((socket, _)) = listener.accept().await else {
                    // Out of file descriptors, say. Let others finish.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                };
                let (script, hang_up) = (Arc::clone(&script), hang_up.clone());
                tokio::spawn(async move {
                    // A client that breaks off is no fault of the server.
                    let _ = connection::serve(socket, &*script, &hang_up).await;
                });
            }
        });
        Ok(Self {
            address,
            accepting,
            hang_ups: Mutex::new(hang_ups),
        })
    }

    /// Returns the address that it listens on.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits until a client leaves in the middle of an answer; says when it was noticed.
    pub async fn hang_up(&self) -> Option<Instant> {
        self.hang_ups.lock().await.recv().await
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}
