//! An agent that does as it is told, on every front end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use copilot_wire::github::Mount;
use copilot_wire::openbb::Descriptor;
use copilot_wire::protocol::{AgentError, Conversation, Protocol, ToolCall};
use copilot_wire::router::MountError;
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use tokio::sync::Semaphore;

/// Does what the prompt says, and counts what lives and what is written. Clones share the counts.
#[derive(Clone, Debug)]
pub struct Puppet {
    /// The number of running agents.
    pub alive: Arc<AtomicUsize>,
    /// The number of started agents.
    pub started: Arc<AtomicUsize>,
    /// The number of bytes that `flood` has written.
    pub written: Arc<AtomicUsize>,
    /// The semaphore that `steps` waits for before each word.
    pub permits: Arc<Semaphore>,
}

impl Default for Puppet {
    fn default() -> Self {
        Self {
            alive: Arc::default(),
            started: Arc::default(),
            written: Arc::default(),
            permits: Arc::new(Semaphore::new(0)),
        }
    }
}

struct Alive(Arc<AtomicUsize>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The size of one write of `flood`.
pub const PIECE: usize = 4096;

/// Fails half-way.
struct Fails;

impl serde::Serialize for Fails {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::{Error, SerializeMap};
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("half", "an event")?;
        Err(S::Error::custom("half-way"))
    }
}

/// Is nested without end.
struct Endless;

impl serde::Serialize for Endless {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([("deeper", self)])
    }
}

#[async_trait]
impl<P: Protocol> Agent<P> for Puppet {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        self.alive.fetch_add(1, Ordering::SeqCst);
        self.started.fetch_add(1, Ordering::SeqCst);
        let _alive = Alive(Arc::clone(&self.alive));
        match &*request.prompt().unwrap_or_default() {
            "silence" => std::future::pending().await,
            "drip" => loop {
                reply.text("drop").await?;
                tokio::time::sleep(Duration::from_millis(10)).await;
            },
            "brook" => {
                for _ in 0..50 {
                    reply.text("drop").await?;
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Ok(())
            }
            "words" => {
                for _ in 0..20 {
                    reply.text("word ").await?;
                    tokio::task::yield_now().await;
                }
                Ok(())
            }
            "steps" => loop {
                let permit = self.permits.acquire().await?;
                permit.forget();
                reply.text("step").await?;
            },
            "flood" => {
                let piece = "x".repeat(PIECE);
                for _ in 0..(64 << 20) / PIECE {
                    reply.text(&piece).await?;
                    self.written.fetch_add(PIECE, Ordering::SeqCst);
                }
                Ok(())
            }
            "panic" => {
                reply.text("one").await?;
                #[expect(clippy::panic, reason = "that is what it was told to do")]
                {
                    panic!("a bug in the agent");
                }
            }
            "fail" => {
                reply.text("one").await?;
                Err(AgentError::new("gave up"))
            }
            "serialize" => {
                reply.text("one").await?;
                Ok(reply.call(ToolCall::new("get_widget_data", &Fails)?)?)
            }
            "endless" => {
                reply.text("one").await?;
                Ok(reply.call(ToolCall::new("get_widget_data", &Endless)?)?)
            }
            said => Ok(reply.text(said).await?),
        }
    }
}

impl Puppet {
    /// Returns a router with the puppet on every front end.
    ///
    /// # Errors
    ///
    /// Never: no two front ends share a path.
    pub fn mount(&self) -> Result<Router, MountError> {
        self.mount_on(Router::new())
    }

    /// Mounts the puppet on every front end of `router`.
    ///
    /// # Errors
    ///
    /// When `router` has one of the paths.
    pub fn mount_on(&self, router: Router) -> Result<Router, MountError> {
        let descriptor = Descriptor::new("puppet", "Puppet", "Does as it is told");
        router
            .mount(descriptor, self.clone())?
            .mount(Mount::unverified(), self.clone())?
            .mount(copilot_wire::openai::Model::new("puppet"), self.clone())?
            .mount(copilot_wire::meilisearch::Mount::new(), self.clone())
    }

    /// Waits until so many agents are at work, and says how long that took.
    ///
    /// # Panics
    ///
    /// When that takes longer than anybody would wait.
    pub fn wait_for(&self, alive: usize) -> Duration {
        let start = Instant::now();
        while self.alive.load(Ordering::SeqCst) != alive {
            assert!(start.elapsed() < Duration::from_secs(30), "waited in vain");
            std::thread::sleep(Duration::from_millis(1));
        }
        start.elapsed()
    }
}

/// The paths of the puppet.
pub const PATHS: [&str; 4] = [
    "/v1/query",
    "/github",
    "/v1/chat/completions",
    "/chats/main/chat/completions",
];

/// Returns a request to the OpenBB mount with a command for the puppet.
pub fn say(prompt: &str) -> String {
    format!(r#"{{"messages":[{{"role":"human","content":"{prompt}"}}]}}"#)
}

/// Returns a request for a stream to the mount at `path`.
pub fn say_to(path: &str, prompt: &str) -> String {
    if path == "/v1/query" {
        return say(prompt);
    }
    let messages = format!(r#"[{{"role":"user","content":"{prompt}"}}]"#);
    format!(r#"{{"model":"puppet","stream":true,"messages":{messages}}}"#)
}

/// Returns the OpenBB event of a text.
pub fn chunk(text: &str) -> String {
    format!("event: copilotMessageChunk\ndata: {{\"delta\":\"{text}\"}}\n\n")
}

/// The text after a failure without a message.
pub fn sorry() -> String {
    chunk("\\n\\nSorry, something went wrong and the answer is incomplete.")
}
