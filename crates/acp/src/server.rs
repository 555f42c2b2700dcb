//! Serving an agent to an editor.

use std::fs::File;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::v1::schema::{
    AvailableCommand, AvailableCommandInput, Implementation, UnstructuredCommandInput,
};
use bytes::Bytes;
use copilot_wire::Agent;
use copilot_wire::conversations::{ConversationStore, MemoryConversationStore, RecordError};
use copilot_wire::protocol::Env;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::Acp;
use crate::connection::Connection;
use crate::editor::QUEUE;
use crate::sessions::Sessions;

/// The time for turns to end, and for the last bytes of the output, once the input has ended.
pub(crate) const LAST: Duration = Duration::from_secs(5);

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Serves an agent to the editor that has started this program, until the editor closes standard input:
/// [`Server::stdio`] with the default settings.
///
/// ```no_run
/// # use copilot_wire::protocol::{AgentError, Conversation, Protocol};
/// # use copilot_wire::{Agent, Reply, Request, async_trait};
/// # struct Echo;
/// # #[async_trait]
/// # impl<P: Protocol> Agent<P> for Echo {
/// #     async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
/// #         Ok(reply.text(request.prompt().unwrap_or_default()).await?)
/// #     }
/// # }
/// fn main() -> std::io::Result<()> {
///     copilot_wire_acp::serve(Echo)
/// }
/// ```
///
/// # Errors
///
/// An error of standard input or output.
pub fn serve(agent: impl Agent<Acp> + 'static) -> io::Result<()> {
    Server::new(agent).stdio()
}

/// An agent with its settings, ready for connections of editors.
pub struct Server<A> {
    agent: Arc<A>,
    settings: Settings,
}

/// The settings that all connections share.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) env: Env,
    pub(crate) info: Implementation,
    pub(crate) models: Vec<(Arc<str>, String)>,
    pub(crate) commands: Vec<AvailableCommand>,
    pub(crate) sessions: Sessions,
}

impl Settings {
    /// Reports a turn that is not stored, on standard error.
    pub(crate) fn complain(&self, error: &RecordError) {
        // Standard error may be closed; there is no other place to report that.
        let _ = writeln!(
            io::stderr(),
            "copilot-wire-acp: a turn is not stored: {error}"
        );
    }
}

impl<A: Agent<Acp> + 'static> Server<A> {
    /// Creates a server. Its name is that of the program.
    pub fn new(agent: A) -> Self {
        let program = std::env::args_os().next().map(std::path::PathBuf::from);
        let name = program.as_deref().and_then(|path| path.file_stem());
        let name = name.unwrap_or_else(|| "agent".as_ref()).to_string_lossy();
        let store = Arc::new(MemoryConversationStore::new());
        Self {
            agent: Arc::new(agent),
            settings: Settings {
                env: Env::default(),
                info: Implementation::new(&*name, env!("CARGO_PKG_VERSION")),
                models: Vec::new(),
                commands: Vec::new(),
                sessions: Sessions::new(store, 30 * DAY),
            },
        }
    }

    /// Sets the name of the agent, the title that editors show, and its version.
    #[must_use]
    pub fn name(mut self, name: &str, title: &str, version: &str) -> Self {
        self.settings.info = Implementation::new(name, version).title(title.to_owned());
        self
    }

    /// Adds a model that the user can choose, with the name that editors show. The first one is the default. The agent
    /// reads the choice from [`Prompt::model`](crate::Prompt::model).
    #[must_use]
    pub fn model(mut self, id: &str, name: &str) -> Self {
        self.settings.models.push((id.into(), name.to_owned()));
        self
    }

    /// Adds a command, which the user begins a prompt with: `/name` and what the hint asks for. The agent reads it in
    /// the prompt.
    #[must_use]
    pub fn command(mut self, name: &str, description: &str, hint: Option<&str>) -> Self {
        let input = hint
            .map(|hint| AvailableCommandInput::Unstructured(UnstructuredCommandInput::new(hint)));
        let command = AvailableCommand::new(name, description);
        self.settings.commands.push(command.input(input));
        self
    }

    /// Sets the store of the sessions. By default they are in memory, and end with the program.
    #[must_use]
    pub fn store(mut self, store: impl ConversationStore + 'static) -> Self {
        self.settings.sessions.store = Arc::new(store);
        self
    }

    /// Sets the time for which a session is kept after it was last used. The default is 30 days.
    #[must_use]
    pub fn keep(mut self, time: Duration) -> Self {
        self.settings.sessions.keep = time;
        self
    }

    /// Sets the environment: the clock, random numbers, and observers of turns.
    #[must_use]
    pub fn env(mut self, env: Env) -> Self {
        self.settings.env = env;
        self
    }

    /// Serves one connection, until the input ends or the output is closed. Turns that run then are cancelled.
    ///
    /// # Errors
    ///
    /// An error of the input.
    pub async fn connect(
        &self,
        input: impl AsyncRead + Unpin,
        output: impl AsyncWrite + Unpin + Send + 'static,
    ) -> io::Result<()> {
        let (to, from) = mpsc::channel(QUEUE);
        let mut writer = JoinSet::new();
        writer.spawn(write(output, from));
        self.run(input, to, writer).await
    }

    /// Serves one connection, whose messages `writer` writes.
    async fn run(
        &self,
        input: impl AsyncRead + Unpin,
        to: mpsc::Sender<Bytes>,
        mut writer: JoinSet<()>,
    ) -> io::Result<()> {
        let settings = Arc::new(self.settings.clone());
        let mut connection = Connection::new(Arc::clone(&self.agent), settings, to);
        let ended = connection.run(input).await;
        let last = async {
            connection.end().await;
            writer.join_next().await
        };
        // Nobody may read any more.
        let _ = tokio::time::timeout(LAST, last).await;
        ended
    }

    /// Serves the editor that has started this program, over standard input and output, until the editor closes
    /// standard input.
    ///
    /// What the agent prints to standard output would be read as messages, so on Unix it goes to standard error from
    /// here on, and programs that the agent starts have an empty standard input. Elsewhere an agent must not print.
    ///
    /// The function creates a runtime of tokio. In a runtime, call [`connect`](Self::connect).
    ///
    /// # Errors
    ///
    /// An error of standard input or output.
    pub fn stdio(self) -> io::Result<()> {
        let (input, output) = take_stdio()?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        let ended = runtime.block_on(async {
            let (to, from) = mpsc::channel(QUEUE);
            let mut writer = JoinSet::new();
            // A thread for all messages: tokio's files use one for each write, which a token would wait for.
            writer.spawn_blocking(move || write_file(&output, from));
            let input = tokio::fs::File::from_std(input);
            self.run(input, to, writer).await
        });
        // The thread that reads standard input may wait for bytes that never come.
        runtime.shutdown_background();
        ended
    }
}

/// Returns standard input and output for the messages, and puts an empty file and standard error in their places.
#[cfg(unix)]
fn take_stdio() -> io::Result<(File, File)> {
    use std::os::fd::AsFd as _;

    let input = io::stdin().as_fd().try_clone_to_owned()?;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok((input.into(), output.into()))
}

#[cfg(windows)]
fn take_stdio() -> io::Result<(File, File)> {
    use std::os::windows::io::AsHandle as _;

    let input = io::stdin().as_handle().try_clone_to_owned()?;
    let output = io::stdout().as_handle().try_clone_to_owned()?;
    Ok((input.into(), output.into()))
}

/// Writes frames until all senders are dropped. Frames that wait are written together.
async fn write(mut output: impl AsyncWrite + Unpin, mut frames: mpsc::Receiver<Bytes>) {
    while let Some(frame) = frames.recv().await {
        let bytes = together(frame, &mut frames);
        if output.write_all(&bytes).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}

/// Does the same as [`write`], on a thread that may wait.
fn write_file(mut output: &File, mut frames: mpsc::Receiver<Bytes>) {
    while let Some(frame) = frames.blocking_recv() {
        if output.write_all(&together(frame, &mut frames)).is_err() {
            return;
        }
    }
}

/// Returns a frame together with those that wait behind it.
fn together(first: Bytes, frames: &mut mpsc::Receiver<Bytes>) -> Bytes {
    const MOST: usize = QUEUE * 1024;
    let Ok(second) = frames.try_recv() else {
        return first;
    };
    let mut bytes = [first, second].concat();
    while bytes.len() < MOST
        && let Ok(frame) = frames.try_recv()
    {
        bytes.extend_from_slice(&frame);
    }
    bytes.into()
}

impl<A> std::fmt::Debug for Server<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("info", &self.settings.info)
            .finish_non_exhaustive()
    }
}
