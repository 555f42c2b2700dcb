//! Replies and conversations in a file of SQLite, for one server that restarts: an example of a store of your own.

use std::{ops::Range, path::Path, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use copilot_wire::conversations::{ConversationStore, RecordError, RecordKey};
use copilot_wire::replies::{
    ConversationKey, LogPage, ReplyEnd, ReplyId, ReplyMeta, ReplyState, ReplyStore, StoreError,
};
use rusqlite::{Connection, Error, ErrorCode, Params, Row};
use tokio::{sync::Mutex, task::spawn_blocking, time::sleep};

/// The tables, with times in seconds since 1970, and what happens when rows are added.
///
/// `EXCLUSIVE`: no other process has the file open, so a reply without an end belongs to one that has died. `NORMAL`:
/// what is committed survives the death of the process, and only one commit in some hundreds waits for the disk; where
/// the machine loses its power, the last ones are lost.
///
/// Each row that is added deletes up to eight that have expired, or where nine tenths of the file are full, those that
/// expire first. A log without events stays: it is a mark that something has happened. A record of a user who has too
/// much deletes up to a hundred others of that user.
const SCHEMA: &str = "
    PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
    PRAGMA foreign_keys = ON;
    CREATE TABLE IF NOT EXISTS reply (number INTEGER PRIMARY KEY, id BLOB UNIQUE, chat BLOB,
        expires REAL, retention REAL, next INTEGER DEFAULT 0, ended TEXT, noted REAL DEFAULT 0,
        cancelled INTEGER DEFAULT 0);
    CREATE INDEX IF NOT EXISTS reply_chat ON reply (chat);
    CREATE INDEX IF NOT EXISTS reply_expires ON reply (expires);
    CREATE TABLE IF NOT EXISTS piece (reply INTEGER REFERENCES reply ON DELETE CASCADE,
        first INTEGER, next INTEGER, events BLOB, UNIQUE (reply, next));
    CREATE TABLE IF NOT EXISTS record (number INTEGER PRIMARY KEY, key TEXT UNIQUE, user BLOB,
        expires REAL, size INTEGER, bytes BLOB);
    CREATE INDEX IF NOT EXISTS record_expires ON record (expires);
    CREATE INDEX IF NOT EXISTS record_user ON record (user, expires, number, size);
    CREATE TABLE IF NOT EXISTS user (id BLOB PRIMARY KEY, size INTEGER);
    CREATE TEMP VIEW expired AS SELECT iif(page_count - freelist_count > max_page_count * 0.9,
        9e99, unixepoch('subsec')) AS until
        FROM pragma_page_count, pragma_freelist_count, pragma_max_page_count;
    CREATE TEMP TRIGGER before_reply BEFORE INSERT ON reply BEGIN
        DELETE FROM reply WHERE id = new.id AND expires <= unixepoch('subsec');
        DELETE FROM reply WHERE number IN (SELECT number FROM reply WHERE
            expires <= (SELECT until FROM expired) AND (expires <= unixepoch('subsec')
            OR ended IS NOT NULL AND next > 0) ORDER BY expires LIMIT 8); END;
    CREATE TEMP TRIGGER after_reply AFTER INSERT ON reply BEGIN
        UPDATE reply SET chat = NULL WHERE chat = new.chat AND number <> new.number; END;
    CREATE TEMP TRIGGER after_piece AFTER INSERT ON piece BEGIN
        UPDATE reply SET next = new.next WHERE number = new.reply; END;
    CREATE TEMP TRIGGER before_record BEFORE INSERT ON record BEGIN
        DELETE FROM record WHERE key = new.key AND expires <= unixepoch('subsec');
        DELETE FROM record WHERE number IN (SELECT number FROM record WHERE
            expires <= (SELECT until FROM expired) ORDER BY expires LIMIT 8); END;
    CREATE TEMP TRIGGER after_record AFTER INSERT ON record BEGIN
        INSERT INTO user VALUES (new.user, new.size)
            ON CONFLICT DO UPDATE SET size = size + new.size; END;
    CREATE TEMP TRIGGER full_user AFTER UPDATE ON user WHEN new.size > (SELECT bytes FROM user_limit)
        BEGIN DELETE FROM record WHERE number IN (SELECT number FROM (SELECT number,
            sum(size) OVER (ORDER BY expires, number) - size AS before FROM (SELECT number, size, expires
            FROM record WHERE user = new.id AND number < (SELECT max(number) FROM record)
            ORDER BY expires LIMIT 100)) WHERE before < new.size - (SELECT bytes FROM user_limit)); END;
    CREATE TEMP TRIGGER deleted_record AFTER DELETE ON record BEGIN
        UPDATE user SET size = size - old.size WHERE id = old.user;
        DELETE FROM user WHERE id = old.user AND size = 0; END;
    UPDATE reply SET ended = 'lost', expires = unixepoch('subsec') + retention
        WHERE ended IS NULL;";

/// The size of a record without its bytes, as an estimate.
const OVERHEAD: usize = 512;

/// A number behind all events.
const LAST: u64 = i64::MAX as u64;

/// A store of replies and of conversations in a file of SQLite. Cloning it shares the file.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    db: Arc<Mutex<Connection>>,
    user_limit: usize,
}

impl SqliteStore {
    /// Opens or creates a file of at most `limit` bytes, of which the conversations of one user have at most
    /// `user_limit`. Waits for up to ten seconds while another process has it open.
    ///
    /// # Errors
    ///
    /// When the file cannot be opened, read or written, is no database, or another process goes on to use it.
    pub fn open(file: impl AsRef<Path>, limit: usize, user_limit: usize) -> Result<Self, Error> {
        let db = Connection::open(file)?;
        db.busy_timeout(Duration::from_secs(10))?;
        db.execute_batch(&format!(
            "PRAGMA max_page_count = {}; {SCHEMA}
            CREATE TEMP VIEW user_limit AS SELECT {user_limit} AS bytes",
            limit / 4096
        ))?;
        let db = Arc::new(Mutex::new(db));
        Ok(Self { db, user_limit })
    }

    /// Executes a statement, which happens as a whole or not at all, and returns its rows. Calls are done one after the
    /// other, in a thread for what blocks; one whose future is dropped before is not done.
    async fn call<T>(
        &self,
        sql: &'static str,
        values: impl Params + Send + 'static,
    ) -> Result<Vec<T>, StoreError>
    where
        T: for<'a> TryFrom<&'a Row<'a>, Error = Error> + Send + 'static,
    {
        let db = Arc::clone(&self.db).lock_owned().await;
        let work = spawn_blocking(move || {
            let mut statement = db.prepare_cached(sql)?;
            statement.query_map(values, |row| row.try_into())?.collect()
        });
        let done: Result<_, Error> = work
            .await
            .map_err(|error| StoreError::Unavailable(error.into()))?;
        done.map_err(|error| match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreError::Full,
            _ => StoreError::Unavailable(error.into()),
        })
    }

    /// Returns the number of rows that a statement returns, which are those that it has changed.
    async fn count(
        &self,
        sql: &'static str,
        values: impl Params + Send + 'static,
    ) -> Result<usize, StoreError> {
        Ok(self.call::<(u8,)>(sql, values).await?.len())
    }
}

#[async_trait]
impl ReplyStore for SqliteStore {
    async fn create(&self, id: &ReplyId, meta: &ReplyMeta) -> Result<(), StoreError> {
        let sql = "INSERT INTO reply (id, chat, expires, retention)
            VALUES (?1, ?2, unixepoch('subsec') + ?3, ?4) ON CONFLICT DO NOTHING RETURNING 1";
        let chat = meta.conversation.map(|chat| *chat.as_bytes());
        let (lifetime, retention) = (meta.lifetime.as_secs_f64(), meta.retention.as_secs_f64());
        let values = (*id.as_bytes(), chat, lifetime, retention);
        match self.count(sql, values).await? {
            0 => Err(StoreError::Exists),
            _ => Ok(()),
        }
    }

    async fn append(
        &self,
        id: &ReplyId,
        numbers: Range<u64>,
        events: Bytes,
    ) -> Result<Duration, StoreError> {
        let sql = "INSERT INTO piece SELECT number, ?2, ?3, ?4 FROM reply WHERE id = ?1
            AND expires > unixepoch('subsec') AND ended IS NULL AND next = ?2 RETURNING 1";
        let (first, next) = (numbers.start.min(LAST), numbers.end.min(LAST));
        let values = (*id.as_bytes(), first, next, events.to_vec());
        if self.count(sql, values).await? == 0 {
            match self.state(id).await? {
                ReplyState { end: Some(end), .. } => return Err(StoreError::Sealed(end)),
                ReplyState { next, .. } if next < numbers.start => return Err(StoreError::Gone),
                _ => {}
            }
        }
        // What gathers is lost if this process is killed.
        Ok(Duration::from_millis(100))
    }

    async fn seal(&self, id: &ReplyId, end: ReplyEnd) -> Result<ReplyEnd, StoreError> {
        let sql = "UPDATE reply SET ended = coalesce(ended, ?2), expires = iif(ended IS NULL,
            unixepoch('subsec') + retention, expires)
            WHERE id = ?1 AND expires > unixepoch('subsec') RETURNING ended";
        let mut ends: Vec<(String,)> = self.call(sql, (*id.as_bytes(), end.as_str())).await?;
        ends.pop().ok_or(StoreError::Gone)?.0.parse()
    }

    async fn read(&self, id: &ReplyId, from: u64) -> Result<LogPage, StoreError> {
        let sql = "SELECT first, next, events FROM (SELECT *, row_number() OVER (ORDER BY next) AS at,
            sum(length(events)) OVER (ORDER BY next) AS size FROM (SELECT piece.* FROM piece JOIN reply
            ON reply = number WHERE id = ?1 AND piece.next > ?2 ORDER BY piece.next LIMIT 16))
            WHERE size <= 65536 OR at = 1 ORDER BY next";
        // Whoever reads the reply while it runs is served from memory, so few wait here, and not often.
        for _ in 0..20 {
            let state = self.state(id).await?;
            let pieces: Vec<(u64, u64, Vec<u8>)> =
                self.call(sql, (*id.as_bytes(), from.min(LAST))).await?;
            let numbers = match (pieces.first(), pieces.last()) {
                (Some((first, ..)), Some((_, next, _))) => *first..*next,
                _ if state.end.is_none() => {
                    sleep(Duration::from_millis(50)).await;
                    continue;
                }
                _ => from..from,
            };
            let end = state.end.filter(|_| numbers.end >= state.next);
            let events: Vec<_> = pieces.into_iter().map(|(.., events)| events).collect();
            return Ok(LogPage::new(numbers, events.concat().into(), end));
        }
        Ok(LogPage::new(from..from, Bytes::new(), None))
    }

    async fn state(&self, id: &ReplyId) -> Result<ReplyState, StoreError> {
        let sql = "SELECT next, ended, noted > unixepoch('subsec') - 60 FROM reply
            WHERE id = ?1 AND expires > unixepoch('subsec')";
        let mut rows = self
            .call::<(u64, Option<String>, bool)>(sql, [*id.as_bytes()])
            .await?;
        let (next, end, attended) = rows.pop().ok_or(StoreError::Gone)?;
        let mut state = ReplyState::new(next);
        state.end = end.map(|end| end.parse()).transpose()?;
        state.attended = attended;
        Ok(state)
    }

    async fn note_reader(&self, id: &ReplyId) -> Result<(), StoreError> {
        let sql = "UPDATE reply SET noted = unixepoch('subsec') WHERE id = ?1 RETURNING 1";
        self.count(sql, [*id.as_bytes()]).await?;
        self.state(id).await.map(drop)
    }

    async fn latest(&self, conversation: &ConversationKey) -> Result<Option<ReplyId>, StoreError> {
        let sql = "SELECT id FROM reply WHERE chat = ?1 AND expires > unixepoch('subsec')";
        let mut ids = self.call(sql, [*conversation.as_bytes()]).await?;
        Ok(ids.pop().map(|(id,)| ReplyId::from_bytes(id)))
    }

    async fn cancel(&self, id: &ReplyId) -> Result<(), StoreError> {
        let sql = "UPDATE reply SET cancelled = 1 WHERE id = ?1 AND ended IS NULL RETURNING 1";
        self.count(sql, [*id.as_bytes()]).await?;
        self.state(id).await.map(drop)
    }

    async fn cancelled(&self, id: &ReplyId) {
        let sql = "SELECT 1 FROM reply WHERE id = ?1 AND cancelled";
        // A reply that runs here is also cancelled without the store, and at once.
        while !matches!(self.count(sql, [*id.as_bytes()]).await, Ok(1)) {
            sleep(Duration::from_secs(1)).await;
        }
    }
}

#[async_trait]
impl ConversationStore for SqliteStore {
    async fn put(
        &self,
        key: &RecordKey,
        record: Bytes,
        keep: Duration,
    ) -> Result<bool, RecordError> {
        let sql = "INSERT INTO record (key, user, expires, size, bytes) VALUES (?1, ?2,
            unixepoch('subsec') + ?3 * 1.1, ?4, ?5) ON CONFLICT DO NOTHING RETURNING 1";
        let size = record.len() + OVERHEAD;
        if size > self.user_limit {
            return Err(RecordError::Full);
        }
        let values = (
            key.to_string(),
            *key.user(),
            keep.as_secs_f64(),
            size,
            record.to_vec(),
        );
        Ok(self.count(sql, values).await.map_err(fault)? > 0)
    }

    async fn get(
        &self,
        keys: &[RecordKey],
        keep: Duration,
    ) -> Result<Vec<Option<Bytes>>, RecordError> {
        let keys: Vec<_> = keys.iter().map(RecordKey::to_string).collect();
        let (keys, keep) = (format!("{keys:?}"), keep.as_secs_f64());
        // A tenth longer than asked for, so that not every turn writes all of them.
        let sql = "UPDATE record SET expires = unixepoch('subsec') + ?2 * 1.1
            WHERE key IN (SELECT value FROM json_each(?1)) AND
            expires BETWEEN unixepoch('subsec') AND unixepoch('subsec') + ?2 RETURNING 1";
        self.count(sql, (keys.clone(), keep)).await.map_err(fault)?;
        let sql = "SELECT bytes FROM json_each(?1) AS list LEFT JOIN record
            ON record.key = value AND expires > unixepoch('subsec') ORDER BY list.key";
        let records: Vec<(Option<Vec<u8>>,)> = self.call(sql, [keys]).await.map_err(fault)?;
        Ok(records
            .into_iter()
            .map(|(record,)| record.map(Bytes::from))
            .collect())
    }

    async fn delete(&self, key: &RecordKey) -> Result<bool, RecordError> {
        let sql = "DELETE FROM record WHERE key = ?1 AND expires > unixepoch('subsec') RETURNING 1";
        Ok(self.count(sql, [key.to_string()]).await.map_err(fault)? > 0)
    }
}

fn fault(error: StoreError) -> RecordError {
    match error {
        StoreError::Full => RecordError::Full,
        StoreError::Unavailable(error) => RecordError::Unavailable(error),
        error => RecordError::Unavailable(error.into()),
    }
}
