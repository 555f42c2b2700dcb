//! The connection that all commands share: to one server, to the master that Sentinels name, or to a cluster.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use futures_util::future::{select_ok, try_join_all};
use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::cluster::ClusterClient;
use redis::cluster_async::ClusterConnection;
use redis::sentinel::Sentinel;
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionInfo, Pipeline, RedisError, RedisFuture, Value,
};
use tokio::time::timeout;

use crate::fault::Fault;
use crate::scripts::Call;
use crate::url::{self, Target};

/// The time limit for the answer to a command, and for a new connection.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(2);
/// The time for which a store that is dropped waits for its last command, with the connection for it.
const LAST_TIMEOUT: Duration = Duration::from_millis(500);
/// The time for which later commands get the failure of an attempt to connect, without another attempt.
const RETRY_AFTER: Duration = Duration::from_millis(100);
/// The time without an answer from any server of a cluster after which the connection is opened again.
const SILENCE: Duration = Duration::from_secs(5);

/// A connection that many tasks share, and that is opened again after a failure.
pub(crate) struct Connection {
    target: Target,
    state: tokio::sync::Mutex<State>,
    /// The servers that were connected last: one, or all of a cluster.
    servers: Mutex<Vec<ConnectionInfo>>,
    is_cluster: AtomicBool,
    /// The number of subscriptions so far: each uses the next server of a cluster.
    subscriptions: AtomicUsize,
    created: Instant,
    /// The milliseconds between the creation and the last answer of a cluster.
    answered: AtomicU64,
}

#[derive(Default)]
struct State {
    open: Option<Link>,
    /// Counts connections, so that a late failure of an old one does not close its successor.
    number: u64,
    failed: Option<(Instant, Fault)>,
    /// `true` if the loss of the connection was logged, and its return not yet.
    is_lost: bool,
}

/// An open connection.
#[derive(Clone)]
pub(crate) enum Link {
    One(MultiplexedConnection),
    Cluster(ClusterConnection),
}

impl ConnectionLike for Link {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        match self {
            Self::One(link) => link.req_packed_command(cmd),
            Self::Cluster(link) => link.req_packed_command(cmd),
        }
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        cmd: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        match self {
            Self::One(link) => link.req_packed_commands(cmd, offset, count),
            Self::Cluster(link) => link.req_packed_commands(cmd, offset, count),
        }
    }

    fn get_db(&self) -> i64 {
        match self {
            Self::One(link) => link.get_db(),
            Self::Cluster(link) => link.get_db(),
        }
    }
}

impl Connection {
    /// Creates a connection, which is opened by its first command.
    pub(crate) fn new(target: Target) -> Self {
        Self {
            target,
            state: tokio::sync::Mutex::default(),
            servers: Mutex::default(),
            is_cluster: AtomicBool::new(false),
            subscriptions: AtomicUsize::new(0),
            created: Instant::now(),
            answered: AtomicU64::new(0),
        }
    }

    /// Returns `true` if the servers are known to be a cluster.
    pub(crate) fn is_cluster(&self) -> bool {
        self.is_cluster.load(Ordering::Relaxed)
    }

    /// Runs a script.
    pub(crate) async fn script(&self, call: &Call<'_>) -> Result<Value, Fault> {
        let answer = self.command(&call.by_digest()).await;
        match answer {
            // Sent as text to the server that lacks the script: `SCRIPT LOAD` would need every server of a cluster.
            Err(fault) if fault.is_unknown_script() => self.command(&call.by_text()).await,
            answer => answer,
        }
    }

    /// Sends a command.
    pub(crate) async fn command(&self, command: &Cmd) -> Result<Value, Fault> {
        let (mut link, number) = self.open().await?;
        let answer = command.query_async(&mut link).await;
        self.check(number, answer).await
    }

    /// Sends several commands at once, and returns the answer to each, or the first failure.
    pub(crate) async fn all<const N: usize>(
        &self,
        commands: [Cmd; N],
    ) -> Result<[Value; N], Fault> {
        let answers = self.each(commands.to_vec()).await?;
        answers.try_into().map_err(|_| Fault::unexpected())
    }

    /// Sends any number of commands at once, as [`all`](Self::all) does.
    pub(crate) async fn each(&self, commands: Vec<Cmd>) -> Result<Vec<Value>, Fault> {
        let (mut link, number) = self.open().await?;
        let answer = match &link {
            Link::One(_) => {
                let mut pipeline = Pipeline::with_capacity(commands.len());
                for command in commands {
                    pipeline.add_command(command);
                }
                pipeline.query_async(&mut link).await
            }
            // One by one: the client sends a pipeline to one server only, and when a slot moves, only the first
            // command of a pipeline is redirected.
            Link::Cluster(_) => {
                let links = commands.into_iter().map(|command| (command, link.clone()));
                try_join_all(
                    links.map(async |(command, mut link)| command.query_async(&mut link).await),
                )
                .await
            }
        };
        self.check(number, answer).await
    }

    /// Returns a server to subscribe at.
    pub(crate) async fn subscriber(&self) -> Result<Client, Fault> {
        if self.target.master.is_some() {
            return timeout(TIMEOUT, self.master())
                .await
                .map_err(|_| Fault::passing("timeout"))?;
        }
        let (link, number) = self.open().await?;
        if let Link::Cluster(mut link) = link {
            // The servers of a cluster may have changed.
            let like = self.like()?;
            let servers = self
                .check(number, slots().query_async(&mut link).await)
                .await;
            self.learn(addresses(servers?, &like));
        }
        let turn = self.subscriptions.fetch_add(1, Ordering::Relaxed);
        let servers = lock(&self.servers);
        let server = servers.iter().cycle().nth(turn % servers.len().max(1));
        let server = server.cloned().ok_or_else(Fault::unexpected)?;
        Client::open(server).map_err(|error| Fault::new(&error))
    }

    /// Sends a command over a separate, blocking connection, for use without a runtime, and waits for
    /// [`LAST_TIMEOUT`] at most. Failures are ignored.
    pub(crate) fn send_blocking(&self, command: Cmd) {
        let mut server = lock(&self.servers).first().cloned();
        let (is_running, end) = mpsc::channel::<()>();
        // In a thread, because the timeouts of sockets limit single reads, and no lookup of a name.
        let thread = thread::Builder::new().spawn(move || {
            // Dropped at the end, or with this closure if there is no thread: both end the wait.
            let _is_running = is_running;
            // In a cluster, the first server redirects to the server of the key.
            for _ in 0..2 {
                let Some(to) = server.take() else { return };
                if let Err(error) = send_blocking(&to, &command) {
                    let node = error.redirect_node();
                    let node = node.and_then(|(node, _)| node.rsplit_once(':'));
                    server =
                        node.and_then(|(host, port)| Some(url::at(&to, host, port.parse().ok()?)));
                }
            }
        });
        drop(thread);
        let _ = end.recv_timeout(LAST_TIMEOUT);
    }

    /// Opens the connection. Only a lasting failure is an error.
    pub(crate) async fn try_open(&self) -> Result<(), Fault> {
        match self.open().await {
            Err(fault) if fault.is_lasting => Err(fault),
            _ => Ok(()),
        }
    }

    pub(crate) async fn open(&self) -> Result<(Link, u64), Fault> {
        let mut state = self.state.lock().await;
        if let Some(open) = &state.open {
            return Ok((open.clone(), state.number));
        }
        if let Some((at, fault)) = &state.failed
            && at.elapsed() < RETRY_AFTER
        {
            return Err(fault.clone());
        }
        let opened = timeout(TIMEOUT, self.connect()).await;
        match opened.unwrap_or_else(|_| Err(Fault::passing("timeout"))) {
            Ok(open) => {
                state.number += 1;
                state.failed = None;
                state.open = Some(open.clone());
                state.report(None);
                self.note_answer();
                Ok((open, state.number))
            }
            Err(fault) => {
                state.failed = Some((Instant::now(), fault.clone()));
                state.report(Some(&fault));
                Err(fault)
            }
        }
    }

    async fn connect(&self) -> Result<Link, Fault> {
        if self.target.master.is_some() {
            let master = self.master().await?;
            let (link, _) = greet(master.get_connection_info().clone()).await?;
            self.learn(vec![master.get_connection_info().clone()]);
            return Ok(Link::One(link));
        }
        if !self.is_cluster() {
            let hosts = self.target.hosts.iter().cloned();
            let greeted = select_ok(hosts.map(|host| Box::pin(greet_as(host)))).await;
            let ((host, mut link, mode), _) = greeted?;
            match mode {
                Mode::Cluster => {
                    let servers = slots().query_async(&mut link).await;
                    let servers = servers.map_err(|error| Fault::new(&error))?;
                    self.learn(addresses(servers, &host));
                    self.is_cluster.store(true, Ordering::Relaxed);
                }
                Mode::Sentinel => {
                    let text = "this is a Sentinel: the URL is redis+sentinel://HOST/NAME";
                    return Err(Fault::lasting(text));
                }
                Mode::One if self.target.hosts.len() > 1 => {
                    return Err(Fault::lasting("several servers that are no cluster"));
                }
                Mode::One => {
                    self.learn(vec![host]);
                    return Ok(Link::One(link));
                }
            }
        }
        // The servers of the URL are tried too: their names may have new addresses by now.
        let mut servers = lock(&self.servers).clone();
        servers.extend(self.target.hosts.iter().cloned());
        let client = ClusterClient::builder(servers)
            .connection_timeout(TIMEOUT / 2)
            .response_timeout(TIMEOUT)
            .tcp_settings(self.like()?.tcp_settings().clone())
            .build()
            .map_err(|error| Fault::new(&error))?;
        let opened = client.get_async_connection().await;
        opened
            .map(Link::Cluster)
            .map_err(|error| Fault::new(&error))
    }

    /// Asks the Sentinels for the master.
    async fn master(&self) -> Result<Client, Fault> {
        let fault = |error| Fault::new(&error);
        let Some(master) = &self.target.master else {
            return Err(Fault::unexpected());
        };
        let mut sentinels = Sentinel::build(self.target.hosts.clone()).map_err(fault)?;
        let client = sentinels.async_master_for(&master.name, Some(&master.node));
        client.await.map_err(fault)
    }

    /// Returns a server with the settings that all share.
    pub(crate) fn like(&self) -> Result<ConnectionInfo, Fault> {
        self.target
            .hosts
            .first()
            .cloned()
            .ok_or_else(Fault::unexpected)
    }

    fn learn(&self, servers: Vec<ConnectionInfo>) {
        if !servers.is_empty() {
            *lock(&self.servers) = servers;
        }
    }

    fn note_answer(&self) {
        let now = u64::try_from(self.created.elapsed().as_millis());
        self.answered
            .store(now.unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Returns `true` if no server of a cluster has answered for a while.
    fn is_silent(&self) -> bool {
        let answered = Duration::from_millis(self.answered.load(Ordering::Relaxed));
        self.created.elapsed() > answered + SILENCE
    }

    /// Closes the connection if it has failed. A timeout closes it too: nothing else shows that the server is gone. A
    /// connection to a cluster reconnects to single servers by itself.
    pub(crate) async fn note<T>(&self, number: u64, answer: &Result<T, RedisError>) {
        let Err(error) = answer else {
            return self.note_answer();
        };
        // The server has become a replica: its address may lead to the new master by now.
        let is_replica = error.code() == Some("READONLY");
        let is_broken = error.is_io_error() || error.is_unrecoverable_error() || is_replica;
        if !is_broken {
            self.note_answer();
        } else if !self.is_cluster() || self.is_silent() {
            let mut state = self.state.lock().await;
            if state.number == number {
                state.open = None;
                state.report(Some(&Fault::new(error)));
            }
        }
    }

    async fn check<T>(&self, number: u64, answer: Result<T, RedisError>) -> Result<T, Fault> {
        self.note(number, &answer).await;
        answer.map_err(|error| Fault::new(&error))
    }
}

impl State {
    /// Logs the loss of the connection, and its return, once each.
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn send_blocking(to: &ConnectionInfo, command: &Cmd) -> Result<(), RedisError> {
    let client = Client::open(to.clone())?;
    let mut connection = client.get_connection_with_timeout(LAST_TIMEOUT)?;
    connection.set_read_timeout(Some(LAST_TIMEOUT))?;
    connection.set_write_timeout(Some(LAST_TIMEOUT))?;
    command.exec(&mut connection)
}

/// The mode of a server.
enum Mode {
    One,
    Cluster,
    Sentinel,
}

/// Connects to a server, and asks for its mode.
async fn greet(server: ConnectionInfo) -> Result<(MultiplexedConnection, Mode), Fault> {
    let client = Client::open(server).map_err(|error| Fault::new(&error))?;
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(TIMEOUT))
        .set_response_timeout(Some(TIMEOUT));
    let opened = client.get_multiplexed_async_connection_with_config(&config);
    let mut connection = opened.await.map_err(|error| Fault::new(&error))?;
    // Every user may send `HELLO`, and it changes nothing. A server without this command is not a cluster.
    let hello = redis::cmd("HELLO").query_async(&mut connection).await;
    match hello.map_err(|error| (Fault::new(&error), error)) {
        Ok(hello) => Ok((connection, mode(hello))),
        Err((fault, error)) if fault.is_lasting || error.is_io_error() => Err(fault),
        Err(_) => Ok((connection, Mode::One)),
    }
}

async fn greet_as(
    server: ConnectionInfo,
) -> Result<(ConnectionInfo, MultiplexedConnection, Mode), Fault> {
    let (connection, mode) = greet(server.clone()).await?;
    Ok((server, connection, mode))
}

/// Returns the mode in an answer to `HELLO`, a list of alternating names and values.
fn mode(hello: Value) -> Mode {
    let Value::Array(hello) = hello else {
        return Mode::One;
    };
    let at = hello
        .iter()
        .position(|it| text(it).as_deref() == Some("mode"));
    match at.and_then(|at| text(hello.get(at + 1)?)).as_deref() {
        Some("cluster") => Mode::Cluster,
        Some("sentinel") => Mode::Sentinel,
        _ => Mode::One,
    }
}

fn text(value: &Value) -> Option<String> {
    redis::from_redis_value_ref(value).ok()
}

/// Returns the command that lists the servers of a cluster.
fn slots() -> Cmd {
    let mut slots = redis::cmd("CLUSTER");
    slots.arg("SLOTS");
    slots
}

/// Returns the servers in an answer to `CLUSTER SLOTS`, masters first. It lists ranges of slots, each with a master
/// and replicas.
fn addresses(slots: Value, like: &ConnectionInfo) -> Vec<ConnectionInfo> {
    let items = |value| match value {
        Value::Array(items) => items,
        _ => Vec::new(),
    };
    let (mut masters, mut replicas) = (Vec::new(), Vec::new());
    for range in items(slots) {
        for (number, server) in items(range).into_iter().skip(2).enumerate() {
            let server = items(server);
            let host = server.first().and_then(text);
            let port = server
                .get(1)
                .and_then(|port| redis::from_redis_value_ref(port).ok());
            // A server that does not know its own name leaves it out.
            if let (Some(host), Some(port)) = (host.filter(|host| !host.is_empty()), port) {
                let list = if number == 0 {
                    &mut masters
                } else {
                    &mut replicas
                };
                let server = url::at(like, &host, port);
                if !list
                    .iter()
                    .any(|it: &ConnectionInfo| it.addr() == server.addr())
                {
                    list.push(server);
                }
            }
        }
    }
    masters.append(&mut replicas);
    masters
}
