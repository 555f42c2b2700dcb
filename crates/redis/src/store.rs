//! The store of replies.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use copilot_wire::replies::{
    ConversationKey, LogPage, ReplyEnd, ReplyId, ReplyMeta, ReplyState, ReplyStore, StoreError,
};
use redis::Value;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use crate::connect::{Connect, Redis};
use crate::conversations::RedisConversationStore;
use crate::fault::Fault;
use crate::lease;
use crate::log::{Collector, Entry};
use crate::names::parse;
use crate::notifications::{self, Notifications};
use crate::scripts::END;
use crate::tail::{Found, Tail};

/// The time for which a reader waits for events.
const PATIENCE: Duration = Duration::from_secs(1);
/// The time for which a lease must be missing before its process counts as dead: Redis itself may have been
/// unavailable, and have lost the lease.
const DEAD_AFTER: Duration = Duration::from_secs(3);

/// The time for which a reader counts as present after it was noted.
const ATTENDED: Duration = Duration::from_secs(60);
/// The numbers of entries that are read at a time: few at first, because one may be as large as a page.
const ENTRIES: [usize; 3] = [2, 8, 128];
/// The time for which events gather before they are appended; these are lost if this process is killed.
const PACE: Duration = Duration::from_millis(333);
/// The time for which events gather while somebody reads the log on another server.
const FOLLOWED_PACE: Duration = Duration::from_millis(25);

/// A store of replies in Redis.
///
/// The store has two connections: one that all commands share, and one for notifications. Both are opened again when
/// they break. Dropping the store, or its runtime, gives up its lease: readers of its unfinished replies get a failure
/// within a second. The drop waits for Redis, for half a second at most. A process that is killed keeps its lease for
/// up to 8 seconds.
///
/// # Errors
///
/// The time limit of a command is 2 seconds. A command that takes longer, and every other failure of Redis, is
/// [`StoreError::Unavailable`], whose text names the kind of failure and never a key, an event or a part of the URL.
pub struct RedisReplyStore {
    shared: Arc<Shared>,
    tasks: [JoinHandle<()>; 2],
}

struct Shared {
    redis: Arc<Redis>,
    notifications: Notifications,
}

impl RedisReplyStore {
    /// Connects to the servers at a URL:
    ///
    /// | URL | servers |
    /// |---|---|
    /// | `redis://user:password@host:6379/0` | one server, or a cluster that this server belongs to |
    /// | `redis://user:password@host,host:7001,host` | a cluster: the first of these servers that answers names all others |
    /// | `redis+sentinel://user:password@host:26379,host/name/0` | the master that the Sentinels at these hosts call `name`; with `?sentinel_username=..&sentinel_password=..` if they want a password of their own |
    ///
    /// `rediss://` and `rediss+sentinel://`, for TLS, need the feature `tls`. User, password and number of the
    /// database are optional.
    ///
    /// # Errors
    ///
    /// Awaiting the result fails with [`StoreError::Unavailable`] when the URL is not valid, the password, the rights
    /// or the certificate are wrong, the answer is not one of Redis, or the URL is for another kind of servers. While
    /// the servers are away or full, awaiting succeeds within 4 seconds: the store connects later, and its calls fail
    /// until then.
    pub fn connect(url: impl Into<String>) -> Connect<Self> {
        Connect::new(url.into())
    }

    /// Returns a store of conversations that uses the same connection and prefix. It may outlive this store.
    pub fn conversations(&self) -> RedisConversationStore {
        RedisConversationStore::new(Arc::clone(&self.shared.redis))
    }

    pub(crate) async fn open(redis: Redis) -> Result<Self, Fault> {
        let redis = Arc::new(redis);
        let (notifications, queue) = Notifications::new();
        let shared = Arc::new(Shared {
            redis: Arc::clone(&redis),
            notifications,
        });
        let renewed = lease::renew(&redis.connection, &redis.names, &shared.notifications).await;
        if let Err(fault) = renewed
            && fault.is_lasting
        {
            return Err(fault);
        }
        let (one, two) = (Arc::clone(&shared), Arc::clone(&shared));
        let tasks = [
            tokio::spawn(async move {
                let Redis {
                    connection, names, ..
                } = &*one.redis;
                lease::run(connection, names, &one.notifications).await;
            }),
            tokio::spawn(async move {
                let Redis {
                    connection, names, ..
                } = &*two.redis;
                notifications::run(connection, names, &two.notifications, queue).await;
            }),
        ];
        Ok(Self { shared, tasks })
    }
}

#[async_trait]
impl ReplyStore for RedisReplyStore {
    async fn create(&self, id: &ReplyId, meta: &ReplyMeta) -> Result<(), StoreError> {
        let Redis {
            connection,
            names,
            scripts,
        } = &*self.shared.redis;
        let script = scripts.create.on([names.log(id)]).arg(names.process());
        let script = script
            .arg(millis(meta.lifetime))
            .arg(millis(meta.retention));
        let latest = meta.conversation.as_ref().map(|it| names.latest(it));
        let script = script.arg(latest.as_deref().unwrap_or_default());
        done(connection.script(&script).await?)?;
        if let Some(key) = latest {
            // The key does not expire before the log, which `latest` finds by it.
            let longest = meta.lifetime.saturating_add(meta.retention);
            let mut latest = redis::cmd("SET");
            latest.arg(key).arg(id.to_string());
            connection
                .command(latest.arg("PX").arg(millis(longest)))
                .await?;
        }
        self.shared.notifications.writers.set_next(id, 0);
        Ok(())
    }

    async fn append(
        &self,
        id: &ReplyId,
        numbers: Range<u64>,
        events: Bytes,
    ) -> Result<Duration, StoreError> {
        let first = numbers.start;
        let count = numbers.end.saturating_sub(first);
        let writers = &self.shared.notifications.writers;
        if !events.is_empty() {
            // The next number is unknown during an append and after a failure: then a script finds it in Redis.
            let is_next = writers.take_next(id) == Some(first);
            if !is_next || !self.shared.append(id, first, count, &events).await? {
                self.shared
                    .append_checked(id, first, count, &events)
                    .await?;
            }
        }
        Ok(match writers.is_followed(id) {
            true => FOLLOWED_PACE,
            false => PACE,
        })
    }

    async fn seal(&self, id: &ReplyId, end: ReplyEnd) -> Result<ReplyEnd, StoreError> {
        self.shared.notifications.writers.remove(id);
        self.shared.seal(id, end).await
    }

    async fn read(&self, id: &ReplyId, from: u64) -> Result<LogPage, StoreError> {
        let deadline = Instant::now() + PATIENCE;
        let tail = match self.shared.notifications.subscribed(id) {
            Some(tail) => tail,
            None => {
                // A reply that has ended needs no subscription.
                let Look { page, .. } = self.shared.look(id, from).await?;
                if is_news(&page) {
                    return Ok(page);
                }
                self.shared.notifications.subscribe(id)
            }
        };
        let mut changes = tail.changes();
        let mut is_silent = false;
        loop {
            changes.mark_unchanged();
            // The check also tells the writer of the log about this reader: again after every silence, even if events
            // were appended in the meantime, because then their messages are missing.
            let is_cluster = self.shared.redis.connection.is_cluster();
            if tail.claim_check(is_silent, is_cluster) && self.shared.is_lost(&tail, id).await? {
                self.shared.seal(id, ReplyEnd::Lost).await?;
                return Ok(self.shared.look(id, from).await?.page);
            }
            if let Some(page) = self.shared.find(&tail, id, from).await? {
                return Ok(page);
            }
            if is_silent {
                return Ok(LogPage::new(from..from, Bytes::new(), None));
            }
            is_silent = timeout_at(deadline, changes.changed()).await.is_err();
        }
    }

    async fn state(&self, id: &ReplyId) -> Result<ReplyState, StoreError> {
        let Redis {
            connection,
            names,
            scripts,
        } = &*self.shared.redis;
        let script = scripts.state.on([names.log(id), names.readers(id)]);
        let answer = word(connection.script(&script.arg(END)).await?)?;
        match parse_state(&answer) {
            Some(state) => Ok(state),
            None if answer == "gone" => Err(StoreError::Gone),
            None => Err(Fault::unexpected().into()),
        }
    }

    async fn note_reader(&self, id: &ReplyId) -> Result<(), StoreError> {
        let Redis {
            connection,
            names,
            scripts,
        } = &*self.shared.redis;
        let script = scripts.note.on([names.log(id), names.readers(id)]);
        done(connection.script(&script.arg(millis(ATTENDED))).await?)
    }

    async fn latest(&self, conversation: &ConversationKey) -> Result<Option<ReplyId>, StoreError> {
        let Redis {
            connection, names, ..
        } = &*self.shared.redis;
        let mut latest = redis::cmd("GET");
        let latest = latest.arg(names.latest(conversation));
        let id = match connection.command(latest).await.map_err(StoreError::from) {
            Err(StoreError::Gone) | Ok(Value::Nil) => return Ok(None),
            id => word(id?)?,
        };
        let Some(id) = parse(&id) else {
            return Ok(None);
        };
        let mut exists = redis::cmd("EXISTS");
        let exists = connection.command(exists.arg(names.log(&id))).await?;
        Ok((exists == Value::Int(1)).then_some(id))
    }

    async fn cancel(&self, id: &ReplyId) -> Result<(), StoreError> {
        let Redis {
            connection,
            names,
            scripts,
        } = &*self.shared.redis;
        let script = scripts.cancel.on([names.log(id), names.cancelled(id)]);
        let script = script.arg(END).arg(id.to_string()).arg(names.processes());
        done(connection.script(&script).await?)
    }

    async fn cancelled(&self, id: &ReplyId) {
        // From now on, messages and lease renewals report a cancellation; the mark shows an earlier one.
        let mut cancelled = self.shared.notifications.run(id);
        let Redis {
            connection, names, ..
        } = &*self.shared.redis;
        let mut mark = redis::cmd("EXISTS");
        match connection.command(mark.arg(names.cancelled(id))).await {
            Ok(Value::Int(1)) => return,
            Ok(_) => {}
            Err(_) => self.shared.notifications.search_again(),
        }
        if cancelled.wait_for(|cancelled| *cancelled).await.is_err() {
            // The sender is removed only if nobody waits.
            std::future::pending::<()>().await;
        }
    }
}

impl Shared {
    /// Appends events to a log that has all events before `first`, and publishes them if there are readers elsewhere.
    /// Returns `false` if Redis refuses the events.
    async fn append(
        &self,
        id: &ReplyId,
        first: u64,
        count: u64,
        events: &Bytes,
    ) -> Result<bool, StoreError> {
        let Redis {
            connection, names, ..
        } = &*self.redis;
        let (log, writers) = (names.log(id), &self.notifications.writers);
        let entry = entry(first, count);
        let mut add = redis::cmd("XADD");
        let add = add.arg(&log).arg("NOMKSTREAM").arg(&entry);
        let added = match connection.command(add.arg("d").arg(&**events)).await {
            Ok(added) => added,
            Err(fault) if fault.is_refused() => return Ok(false),
            Err(fault) => return Err(fault.into()),
        };
        if added == Value::Nil {
            return Err(StoreError::Gone);
        }
        writers.set_next(id, first.saturating_add(count));
        if writers.is_followed(id) {
            // After the append: readers must not get events that the log has refused.
            let mut publish = redis::cmd("PUBLISH");
            let publish = publish.arg(&log).arg(Entry::message(&entry, events));
            // The number of processes that have got the message, in a cluster only those at this server. If the
            // command fails, readers read the log a second later.
            if let Ok(Value::Int(1..)) = connection.command(publish).await {
                writers.follow(id);
            }
        }
        Ok(true)
    }

    /// Appends to a log whose number of events is not known.
    async fn append_checked(
        &self,
        id: &ReplyId,
        first: u64,
        count: u64,
        events: &Bytes,
    ) -> Result<(), StoreError> {
        let Redis {
            connection,
            names,
            scripts,
        } = &*self.redis;
        let script = scripts.append.on([names.log(id)]).arg(first);
        let script = script.arg(entry(first, count)).arg(&**events).arg(END);
        let answer = word(connection.script(&script).await?)?;
        if let Ok(next) = answer.parse() {
            self.notifications.writers.set_next(id, next);
            return Ok(());
        }
        match answer.parse() {
            Ok(end) => Err(StoreError::Sealed(end)),
            Err(_) if answer == "gone" => Err(StoreError::Gone),
            Err(_) => Err(Fault::unexpected().into()),
        }
    }

    async fn seal(&self, id: &ReplyId, end: ReplyEnd) -> Result<ReplyEnd, StoreError> {
        let Redis {
            connection,
            names,
            scripts,
        } = &*self.redis;
        let keys = [names.log(id), names.cancelled(id), names.readers(id)];
        let script = scripts.seal.on(keys).arg(END).arg(end.as_str());
        let answer = word(connection.script(&script.arg(names.log(id))).await?)?;
        let mut words = answer.splitn(3, ' ');
        let answer = words.next().unwrap_or_default();
        if let (Some(retention), Some(latest)) = (words.next(), words.next()) {
            // The key may be in another slot of a cluster. If the call fails, the key expires later.
            let retain = scripts.retain.on([latest.to_owned()]);
            let _ = connection
                .script(&retain.arg(id.to_string()).arg(retention))
                .await;
        }
        match answer.parse() {
            Ok(end) => Ok(end),
            Err(_) if answer == "gone" => Err(StoreError::Gone),
            Err(_) => Err(Fault::unexpected().into()),
        }
    }

    /// Returns events from `from` on, which one reader reads for all that need them. `None` if there are none yet.
    async fn find(
        &self,
        tail: &Tail,
        id: &ReplyId,
        from: u64,
    ) -> Result<Option<LogPage>, StoreError> {
        let start = std::time::Instant::now();
        let mut turn = None;
        loop {
            match (tail.find(from), &turn) {
                (Found::Page(page), _) => return Ok(Some(page)),
                (Found::Nothing, _) => return Ok(None),
                (Found::Apart, _) => {
                    drop(turn);
                    let Look { page, .. } = self.look(id, from).await?;
                    return Ok(is_news(&page).then_some(page));
                }
                (Found::Look, None) => turn = Some(tail.turn.lock().await),
                (Found::Look, Some(_)) => break,
            }
        }
        if tail.has_failed_since(start) {
            // Otherwise the waiting readers would wait for an answer one after the other.
            return Err(StoreError::Unavailable(
                "no answer to another reader".into(),
            ));
        }
        let changes = tail.count();
        let look = match self.look(id, from).await {
            Err(error @ StoreError::Unavailable(_)) => {
                tail.fail();
                return Err(error);
            }
            looked => looked?,
        };
        tail.add(look.from, &look.page, look.is_all.then_some(changes));
        Ok(is_news(&look.page).then_some(look.page))
    }

    /// Reads a part of a log from event `from` on.
    async fn look(&self, id: &ReplyId, from: u64) -> Result<Look, StoreError> {
        let Redis {
            connection, names, ..
        } = &*self.redis;
        let log = names.log(id);
        let mut page = Collector::new(from);
        let mut is_all = false;
        for count in ENTRIES {
            let start = format!("{}-0", page.next().saturating_add(1));
            // The entry before the start, which always exists: it may contain the event.
            let mut before = redis::cmd("XREVRANGE");
            before.arg(&log).arg(&start).arg("-").arg("COUNT").arg(1);
            let mut after = redis::cmd("XRANGE");
            after.arg(&log).arg(&start).arg("+").arg("COUNT").arg(count);
            let mut entries = Vec::new();
            for answer in connection.all([before, after]).await? {
                entries.push(Entry::parse_all(answer)?);
            }
            let found = entries.get(1).map_or(0, Vec::len);
            if found == 0 && entries.first().is_none_or(Vec::is_empty) {
                return Err(StoreError::Gone);
            }
            for entry in entries.into_iter().flatten() {
                page.add(entry).map_err(|_| StoreError::Gone)?;
            }
            is_all = found < count && !page.is_full();
            if found < count || page.is_full() {
                break;
            }
        }
        Ok(Look {
            from: page.clamped().min(from),
            page: page.finish(),
            is_all,
        })
    }

    /// Returns `true` if the process that writes a log has been dead for a while.
    async fn is_lost(&self, tail: &Tail, id: &ReplyId) -> Result<bool, StoreError> {
        let Redis {
            connection,
            names,
            scripts,
        } = &*self.redis;
        let script = scripts.follow.on([names.log(id)]);
        let script = script.arg(names.processes()).arg(id.to_string());
        let process = word(connection.script(&script).await?)?;
        if process == "gone" {
            return Err(StoreError::Gone);
        }
        let mut lease = redis::cmd("GET");
        let lease = connection.command(lease.arg(names.lease(&process))).await;
        let since = tail.note_producer(lease.as_ref().is_ok_and(|lease| *lease == Value::Nil));
        match lease {
            Ok(Value::Nil) => Ok(since >= DEAD_AFTER),
            Ok(lease) => Ok(word(lease)? == lease::GIVEN_UP),
            // In a cluster, the lease may be on another server than the log, which can be read.
            Err(_) => Ok(false),
        }
    }
}

/// A part of a log, as Redis has returned it.
struct Look {
    /// The number of the first event, or of the next event of the log if the log does not reach the event of the
    /// reader.
    from: u64,
    page: LogPage,
    /// `true` if the log had no more entries.
    is_all: bool,
}

impl Drop for RedisReplyStore {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl fmt::Debug for RedisReplyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = &self.shared.redis.names;
        f.debug_tuple("RedisReplyStore").field(names).finish()
    }
}

/// Returns `true` if a page has events or the end.
fn is_news(page: &LogPage) -> bool {
    !page.events.is_empty() || page.end.is_some()
}

/// Returns the id of an entry with events.
fn entry(first: u64, count: u64) -> String {
    format!("{}-{count}", first.saturating_add(1))
}

pub(crate) fn millis(time: Duration) -> u64 {
    // Redis refuses zero, and numbers beyond its own clock.
    u64::try_from(time.as_millis())
        .unwrap_or(u64::MAX)
        .clamp(1, 1 << 50)
}

/// Returns the text that a script answers with.
pub(crate) fn word(answer: Value) -> Result<String, Fault> {
    match answer {
        Value::BulkString(word) => String::from_utf8(word).map_err(|_| Fault::unexpected()),
        _ => Err(Fault::unexpected()),
    }
}

/// Parses the answer of a script that returns no data.
fn done(answer: Value) -> Result<(), StoreError> {
    match &*word(answer)? {
        "ok" => Ok(()),
        "exists" => Err(StoreError::Exists),
        "gone" => Err(StoreError::Gone),
        _ => Err(Fault::unexpected().into()),
    }
}

/// Parses three words: the number of events, the end or `-`, and 1 if a reader is present, else 0.
fn parse_state(answer: &str) -> Option<ReplyState> {
    let mut words = answer.split(' ');
    let mut state = ReplyState::new(words.next()?.parse().ok()?);
    state.end = words.next()?.parse().ok();
    state.attended = words.next()? == "1";
    Some(state)
}
