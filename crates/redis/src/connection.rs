//! The connection that all commands of a store share.

use std::fmt;
use std::time::{Duration, Instant};

use copilot_wire::replies::StoreError;
use redis::aio::MultiplexedConnection;
use redis::io::tcp::TcpSettings;
use redis::{
    AsyncConnectionConfig, Client, Cmd, ErrorKind, IntoConnectionInfo, Pipeline, RedisError,
    ScriptInvocation, Value,
};
use tokio::sync::Mutex;

/// The time that Redis is given to answer a command, or to accept a connection.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(2);
/// The time that Redis is given to accept the last connection, and to answer the last command.
const LAST_TIMEOUT: Duration = Duration::from_millis(250);
/// The time for which a failed attempt to connect stands for all that wait for it.
const RETRY_AFTER: Duration = Duration::from_millis(100);

/// One connection, which many tasks use at a time, and which is opened anew after a failure.
pub(crate) struct Connection {
    client: Client,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    open: Option<MultiplexedConnection>,
    /// Counts connections, so that a late failure of an old one does not close its successor.
    number: u64,
    failed: Option<(Instant, Fault)>,
    /// The loss of the connection was reported, and its return was not.
    is_lost: bool,
}

impl Connection {
    /// Creates a connection, which is opened by its first command.
    pub(crate) fn new(client: Client) -> Self {
        let state = Mutex::default();
        Self { client, state }
    }

    /// Runs a script.
    pub(crate) async fn script(&self, script: &ScriptInvocation<'_>) -> Result<Value, Fault> {
        let (mut connection, number) = self.open().await?;
        let answer = script.invoke_async(&mut connection).await;
        self.check(number, answer).await
    }

    /// Sends several commands at once, and returns the answer to each, or the first failure.
    pub(crate) async fn pipeline(&self, pipeline: &Pipeline) -> Result<Vec<Value>, Fault> {
        let (mut connection, number) = self.open().await?;
        let answer = pipeline.query_async(&mut connection).await;
        self.check(number, answer).await
    }

    /// Sends a command over a connection of its own, where no runtime is left. Failures are ignored.
    pub(crate) fn send_blocking(&self, command: &Cmd) {
        let Ok(mut connection) = self.client.get_connection_with_timeout(LAST_TIMEOUT) else {
            return;
        };
        let _ = connection.set_read_timeout(Some(LAST_TIMEOUT));
        let _ = connection.set_write_timeout(Some(LAST_TIMEOUT));
        let _ = command.exec(&mut connection);
    }

    async fn open(&self) -> Result<(MultiplexedConnection, u64), Fault> {
        let mut state = self.state.lock().await;
        if let Some(open) = &state.open {
            return Ok((open.clone(), state.number));
        }
        if let Some((at, fault)) = &state.failed
            && at.elapsed() < RETRY_AFTER
        {
            return Err(fault.clone());
        }
        match connect(&self.client).await {
            Ok(open) => {
                state.number += 1;
                state.failed = None;
                state.open = Some(open.clone());
                state.report(None);
                Ok((open, state.number))
            }
            Err(fault) => {
                state.failed = Some((Instant::now(), fault.clone()));
                state.report(Some(&fault));
                Err(fault)
            }
        }
    }

    /// Closes the connection after a failure of it. A connection that answers too late is closed as well:
    /// nothing else tells it from one whose other end is gone.
    async fn check<T>(&self, number: u64, answer: Result<T, RedisError>) -> Result<T, Fault> {
        let error = match answer {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let fault = Fault::new(&error);
        // A server that has become a replica: the address may lead to its successor by now.
        let is_replica = error.code() == Some("READONLY");
        if error.is_io_error() || error.is_unrecoverable_error() || is_replica {
            let mut state = self.state.lock().await;
            if state.number == number {
                state.open = None;
                state.report(Some(&fault));
            }
        }
        Err(fault)
    }
}

impl State {
    /// Logs that the connection is lost, or back: one line each.
    fn report(&mut self, fault: Option<&Fault>) {
        let was_lost = std::mem::replace(&mut self.is_lost, fault.is_some());
        #[cfg(feature = "tracing")]
        match fault {
            Some(fault) if !was_lost => {
                tracing::warn!("{fault}: replies are not stored until Redis is back");
            }
            None if was_lost => tracing::info!("redis: connected again"),
            _ => {}
        }
        #[cfg(not(feature = "tracing"))]
        let _ = was_lost;
    }
}

/// Opens a connection, unless it leads to a server of a kind that is not supported.
async fn connect(client: &Client) -> Result<MultiplexedConnection, Fault> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(TIMEOUT))
        .set_response_timeout(Some(TIMEOUT));
    let opened = client.get_multiplexed_async_connection_with_config(&config);
    let mut connection = opened.await.map_err(|error| Fault::new(&error))?;
    // Every user may send it, and it changes nothing. What does not know it is not a cluster.
    let hello = redis::cmd("HELLO").query_async(&mut connection).await;
    match hello.map_err(|error| (Fault::new(&error), error)) {
        Ok(hello) => mode(hello).map(|()| connection),
        Err((fault, error)) if fault.is_lasting || error.is_io_error() => Err(fault),
        Err(_) => Ok(connection),
    }
}

/// Refuses the mode of a server that is not one for itself, from its answer to HELLO: names and values in turns.
fn mode(hello: Value) -> Result<(), Fault> {
    let Value::Array(hello) = hello else {
        return Ok(());
    };
    let text = |value: &Value| redis::from_redis_value_ref::<String>(value).ok();
    let at = hello
        .iter()
        .position(|it| text(it).as_deref() == Some("mode"));
    let mode = at.and_then(|at| text(hello.get(at + 1)?));
    let unsupported = |what| Err(Fault::lasting(what));
    match mode.as_deref() {
        Some("cluster") => {
            unsupported("Redis Cluster is not supported, only one server and its replicas")
        }
        Some("sentinel") => {
            unsupported("Redis Sentinel is not supported: connect to the server itself")
        }
        _ => Ok(()),
    }
}

/// Parses the URL of a server.
pub(crate) fn client(url: &str) -> Result<Client, StoreError> {
    let scheme = url.split(':').next().unwrap_or_default();
    for what in ["sentinel", "cluster"] {
        if scheme.to_ascii_lowercase().contains(what) {
            let message =
                format!("a URL of a {what} is not supported, only redis:// and rediss://");
            return Err(StoreError::Unavailable(message.into()));
        }
    }
    #[cfg(not(feature = "tls"))]
    if scheme.eq_ignore_ascii_case("rediss") {
        return Err(StoreError::Unavailable(
            "rediss:// needs the feature `tls`".into(),
        ));
    }
    #[cfg(feature = "tls")]
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Without a provider the first connection with TLS panics. Fails where another thread was faster.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
    // Errors of the parser may show a part of the URL, which has the password.
    let invalid = |_| StoreError::Unavailable("invalid Redis URL".into());
    let settings = TcpSettings::default().set_nodelay(true);
    let info = url
        .into_connection_info()
        .map_err(invalid)?
        .set_tcp_settings(settings);
    Client::open(info).map_err(invalid)
}

/// The failure of a command. It contains neither the command nor the server's message, which may
/// repeat the command.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    text: String,
    /// It lasts until somebody changes the URL, the user's rights or the server.
    pub(crate) is_lasting: bool,
}

impl Fault {
    pub(crate) fn new(error: &RedisError) -> Self {
        // An error in a pipeline has the codes of its commands.
        let errors = error.clone().into_server_errors();
        let first = errors.as_deref().and_then(|errors| errors.first());
        let code = first
            .map(|(_, error)| error.code())
            .or_else(|| error.code());
        let message = error.to_string();
        let has = |text| message.contains(text);
        match code {
            // The library has no other sign of these.
            _ if has("refused to switch database") => Self::lasting("no such database"),
            _ if has("invalid peer certificate") => Self::lasting("invalid certificate"),
            Some(code @ ("WRONGPASS" | "NOAUTH" | "NOPERM")) => Self::lasting(code),
            Some(code) => Self::passing(code),
            None => match error.kind() {
                ErrorKind::AuthenticationFailed => Self::lasting(error.category()),
                ErrorKind::Parse => Self::lasting("not an answer of Redis"),
                _ if error.is_timeout() => Self::passing("timeout"),
                _ if error.is_io_error() => Self::passing("connection failed"),
                _ => Self::passing(error.category()),
            },
        }
    }

    fn passing(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            is_lasting: false,
        }
    }

    fn lasting(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            is_lasting: true,
        }
    }

    /// Creates the fault of an answer of a form that this command does not have.
    pub(crate) fn unexpected() -> Self {
        Self::passing("unexpected answer")
    }

    /// Returns `true` if Redis understood the command and refused it for what its keys contain.
    pub(crate) fn is_refused(&self) -> bool {
        self.text == "ERR"
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "redis: {}", self.text)
    }
}

impl std::error::Error for Fault {}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault.text.as_str() {
            "OOM" => Self::Full,
            // The key has something that is no log.
            "WRONGTYPE" => Self::Gone,
            _ => Self::Unavailable(Box::new(fault)),
        }
    }
}
