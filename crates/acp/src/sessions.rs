//! Sessions in a store of conversations.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agent_client_protocol::v1::schema::SessionInfo;
use bytes::Bytes;
use copilot_wire::conversations::{ConversationStore, RecordError, RecordKey};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::record::Record;
use crate::workspace::Workspace;

/// The number of records that are read at once.
const BATCH: usize = 64;

/// The maximum number of sessions in the list, and of turns that are loaded.
const MOST: usize = 10_000;

/// The time limit of a call of the store.
const ANSWER: Duration = Duration::from_secs(5);

/// The sessions of a user, in a store.
///
/// | key | record |
/// |---|---|
/// | `list/N` | the id of the session that was created as the Nth one |
/// | `ID/folders` | the folders of the session; without them, it does not exist |
/// | `ID/info` | its title, and the time of its last turn |
/// | `ID/N` | its Nth turn |
#[derive(Clone)]
pub(crate) struct Sessions {
    pub(crate) store: Arc<dyn ConversationStore>,
    pub(crate) keep: Duration,
    /// No session of the list is before this one, or it was there when this process looked.
    end: Arc<AtomicUsize>,
}

/// The folders of a session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Folders {
    cwd: PathBuf,
    additional: Vec<PathBuf>,
}

/// The title of a session, and the time of its last turn.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Info {
    pub(crate) title: String,
    pub(crate) updated: String,
}

impl Sessions {
    pub(crate) fn new(store: Arc<dyn ConversationStore>, keep: Duration) -> Self {
        Self {
            store,
            keep,
            end: Arc::default(),
        }
    }

    async fn ask<T>(
        &self,
        call: impl Future<Output = Result<T, RecordError>>,
    ) -> Result<T, RecordError> {
        let answer = tokio::time::timeout(ANSWER, call).await;
        answer.unwrap_or_else(|_| Err(RecordError::Unavailable("no answer".into())))
    }

    async fn put<T: Serialize>(&self, key: &str, record: &T) -> Result<bool, RecordError> {
        let record = serde_json::to_vec(record);
        let record = record.map_err(|error| RecordError::Unavailable(error.into()))?;
        self.ask(self.store.put(&self::key(key), record.into(), self.keep))
            .await
    }

    /// Reads records. Those that are missing are `None`, and those of another form too.
    async fn get<T: DeserializeOwned>(
        &self,
        keys: impl Iterator<Item = String>,
    ) -> Result<Vec<Option<T>>, RecordError> {
        let keys: Vec<_> = keys.map(|id| key(&id)).collect();
        let mut found = Vec::with_capacity(keys.len());
        for keys in keys.chunks(BATCH) {
            let records = self.ask(self.store.get(keys, self.keep)).await?;
            let read = |record: Bytes| serde_json::from_slice(&record).ok();
            found.extend(records.into_iter().map(|record| record.and_then(read)));
        }
        Ok(found)
    }

    /// Reads records whose keys are numbered, up to the first that is missing.
    async fn series<T: DeserializeOwned>(
        &self,
        name: impl Fn(usize) -> String,
    ) -> Result<Vec<T>, RecordError> {
        let mut all = Vec::new();
        while all.len() < MOST {
            let from = all.len();
            let records = self.get((from..from + BATCH).map(&name)).await?;
            all.extend(records.into_iter().map_while(|record| record));
            if all.len() < from + BATCH {
                break;
            }
        }
        Ok(all)
    }

    /// Stores a new session.
    pub(crate) async fn create(&self, id: &str, workspace: &Workspace) -> Result<(), RecordError> {
        let folders = Folders {
            cwd: workspace.cwd.clone(),
            additional: workspace.additional_directories.clone(),
        };
        self.put(&format!("{id}/folders"), &folders).await?;
        if self.end.load(Ordering::Relaxed) == 0 {
            let ids: Vec<String> = self.series(|number| format!("list/{number}")).await?;
            self.end.store(ids.len(), Ordering::Relaxed);
        }
        while self.end.load(Ordering::Relaxed) < MOST {
            // Another process may have taken the place.
            let number = self.end.fetch_add(1, Ordering::Relaxed);
            if self.put(&format!("list/{number}"), &id).await? {
                return Ok(());
            }
        }
        Err(RecordError::Full)
    }

    /// Stores a turn, and what the list shows of the session.
    pub(crate) async fn add(
        &self,
        id: &str,
        mut number: usize,
        record: &Record,
        info: &Info,
    ) -> Result<(), RecordError> {
        // Another process may have stored a turn of the same session.
        while !self.put(&format!("{id}/{number}"), record).await? {
            number += 1;
            if number >= MOST {
                return Err(RecordError::Full);
            }
        }
        let key = format!("{id}/info");
        self.ask(self.store.delete(&self::key(&key))).await?;
        self.put(&key, info).await?;
        Ok(())
    }

    async fn exists(&self, id: &str) -> Result<bool, RecordError> {
        let folders = self.get::<Folders>([format!("{id}/folders")].into_iter());
        Ok(folders.await?.into_iter().flatten().next().is_some())
    }

    /// Returns the turns of a session. `None` if there is no such session.
    pub(crate) async fn load(&self, id: &str) -> Result<Option<Loaded>, RecordError> {
        if !self.exists(id).await? {
            return Ok(None);
        }
        let info = self.get([format!("{id}/info")].into_iter()).await?;
        let turns = self.series(|number| format!("{id}/{number}")).await?;
        Ok(Some((info.into_iter().flatten().next(), turns)))
    }

    /// Returns all sessions, the newest first.
    pub(crate) async fn list(&self) -> Result<Vec<SessionInfo>, RecordError> {
        let ids: Vec<String> = self.series(|number| format!("list/{number}")).await?;
        let folders = self.get::<Folders>(ids.iter().map(|id| format!("{id}/folders")));
        let folders = folders.await?;
        let infos = self.get::<Info>(ids.iter().map(|id| format!("{id}/info")));
        let infos = infos.await?;
        let all = ids.into_iter().zip(folders).zip(infos);
        let found = all.filter_map(|((id, folders), info)| {
            let folders = folders?;
            let session = SessionInfo::new(id, folders.cwd);
            let session = session.additional_directories(folders.additional);
            Some(match info {
                Some(info) => session.title(info.title).updated_at(info.updated),
                None => session,
            })
        });
        let mut found: Vec<_> = found.collect();
        found.reverse();
        Ok(found)
    }

    /// Deletes a session. Returns `false` if there is none with this id.
    pub(crate) async fn delete(&self, id: &str) -> Result<bool, RecordError> {
        if !self.exists(id).await? {
            return Ok(false);
        }
        let delete = async |name: String| self.ask(self.store.delete(&key(&name))).await;
        delete(format!("{id}/info")).await?;
        for number in 0..MOST {
            if !delete(format!("{id}/{number}")).await? {
                break;
            }
        }
        // Last, so that a deletion that fails can be repeated.
        delete(format!("{id}/folders")).await
    }
}

/// The entry of a session in the list, and its turns.
type Loaded = (Option<Info>, Vec<Record>);

fn key(id: &str) -> RecordKey {
    RecordKey::new("", "acp", id)
}
