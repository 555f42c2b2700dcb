//! The connection that all commands of a store share.

use std::fmt;
use std::time::{Duration, Instant};

use copilot_wire::replies::StoreError;
use redis::aio::MultiplexedConnection;
use redis::io::tcp::TcpSettings;
use redis::{
    AsyncConnectionConfig, Client, Cmd, IntoConnectionInfo, Pipeline, RedisError, ScriptInvocation,
    Value,
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
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(TIMEOUT))
            .set_response_timeout(Some(TIMEOUT));
        let opened = self
            .client
            .get_multiplexed_async_connection_with_config(&config);
        match opened.await {
            Ok(open) => {
                state.number += 1;
                state.failed = None;
                state.open = Some(open.clone());
                Ok((open, state.number))
            }
            Err(error) => {
                let fault = Fault::new(&error);
                state.failed = Some((Instant::now(), fault.clone()));
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
        // A server that has become a replica: the address may lead to its successor by now.
        let is_replica = error.code() == Some("READONLY");
        if error.is_io_error() || error.is_unrecoverable_error() || is_replica {
            let mut state = self.state.lock().await;
            if state.number == number {
                state.open = None;
            }
        }
        Err(Fault::new(&error))
    }
}

/// Parses the URL of a server.
pub(crate) fn client(url: &str) -> Result<Client, StoreError> {
    if url.starts_with("rediss:") {
        #[cfg(not(feature = "tls"))]
        return Err(StoreError::Unavailable(
            "rediss:// needs the feature `tls`".into(),
        ));
        #[cfg(feature = "tls")]
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            // Without a provider the first connection panics. Fails where another thread was faster.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
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
pub(crate) struct Fault(String);

impl Fault {
    pub(crate) fn new(error: &RedisError) -> Self {
        // An error in a pipeline has the codes of its commands.
        let errors = error.clone().into_server_errors();
        let first = errors.as_deref().and_then(|errors| errors.first());
        Self(
            match first.map(|(_, error)| error.code()).or(error.code()) {
                Some(code) => code.to_owned(),
                None if error.is_timeout() => "timeout".to_owned(),
                // The library has no other sign of it.
                None if error.to_string().contains("invalid peer certificate") => {
                    "invalid certificate".to_owned()
                }
                None if error.is_io_error() => "connection failed".to_owned(),
                None => error.category().to_owned(),
            },
        )
    }

    /// Creates the fault of an answer of a form that this command does not have.
    pub(crate) fn unexpected() -> Self {
        Self("unexpected answer".to_owned())
    }

    /// Returns `true` if Redis understood the command and refused it for what its keys contain.
    pub(crate) fn is_refused(&self) -> bool {
        self.0 == "ERR"
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "redis: {}", self.0)
    }
}

impl std::error::Error for Fault {}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault.0.as_str() {
            "OOM" => Self::Full,
            _ => Self::Unavailable(Box::new(fault)),
        }
    }
}
