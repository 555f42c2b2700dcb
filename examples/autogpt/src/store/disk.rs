use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use async_trait::async_trait;

use super::{Conversation, RunStore, Saved, StoreError};
use crate::aside;
use crate::digest::hex_digest;

/// How often a record is looked for again that somebody replaces at the same time.
const TRIES: usize = 100;

/// Runs as files: one folder for each conversation.
///
/// A record is a file of its own for each revision, made only if there is none yet, so that of two
/// processes with the same expectation one fails. The older revision is removed afterwards. A started
/// mark is an empty file, made the same way.
#[derive(Clone, Debug)]
pub struct DiskStore {
    folder: PathBuf,
}

impl DiskStore {
    /// The store in a folder, which is made if it is missing.
    ///
    /// # Errors
    ///
    /// An error of the file system.
    pub fn new(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let folder = folder.to_owned();
        Ok(Self { folder })
    }

    fn folder(&self, conversation: &Conversation) -> PathBuf {
        self.folder.join(conversation.as_str())
    }

    /// The folder of a conversation, which is made if it is missing.
    fn make_folder(&self, conversation: &Conversation) -> io::Result<PathBuf> {
        let folder = self.folder(conversation);
        if !folder.is_dir() {
            fs::create_dir_all(&folder)?;
            aside::sync(&self.folder)?;
        }
        Ok(folder)
    }

    /// The largest revision that has a file. Names that the store never gives are not its files, and
    /// neither are links and folders.
    fn newest(folder: &Path) -> io::Result<u64> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(error),
        };
        let mut newest = 0;
        for entry in entries {
            let entry = entry?;
            let found = entry.file_name().to_str().and_then(revision).unwrap_or(0);
            if found > newest && entry.file_type()?.is_file() {
                newest = found;
            }
        }
        Ok(newest)
    }
}

/// The revision that a file is named after.
fn revision(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".json")?;
    let revision: u64 = digits.parse().ok()?;
    (revision.to_string() == digits).then_some(revision)
}

#[async_trait]
impl RunStore for DiskStore {
    async fn load(&self, conversation: &Conversation) -> Result<Option<Saved>, StoreError> {
        let folder = self.folder(conversation);
        for _ in 0..TRIES {
            let revision = Self::newest(&folder)?;
            if revision == 0 {
                return Ok(None);
            }
            match fs::read_to_string(file(&folder, revision)) {
                Ok(record) => return Ok(Some(Saved::new(revision, record))),
                // A newer one took its place in between.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::Error::other("the record is never there").into())
    }

    async fn save(
        &self,
        conversation: &Conversation,
        expected: u64,
        record: &str,
    ) -> Result<u64, StoreError> {
        let folder = self.make_folder(conversation)?;
        if Self::newest(&folder)? != expected {
            return Err(StoreError::Conflict);
        }
        let next = expected.checked_add(1);
        let revision = next.ok_or_else(|| io::Error::other("there are no more revisions"))?;
        let new = aside::write(&folder, record.as_bytes())?;
        match new.persist_noclobber(file(&folder, revision)) {
            Ok(_) => {}
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(StoreError::Conflict);
            }
            Err(error) => return Err(error.error.into()),
        }
        // While it was written others may have saved this revision and the next, and have removed this
        // one, whose name was free again.
        if Self::newest(&folder)? != revision {
            let _ = fs::remove_file(file(&folder, revision));
            return Err(StoreError::Conflict);
        }
        aside::sync(&folder)?;
        if expected > 0 {
            // If it stays, it is only older.
            let _ = fs::remove_file(file(&folder, expected));
        }
        Ok(revision)
    }

    async fn start(&self, conversation: &Conversation, id: &str) -> Result<bool, StoreError> {
        let folder = self.make_folder(conversation)?;
        let mark = folder.join(format!("{}.started", hex_digest(&[id])));
        match OpenOptions::new().write(true).create_new(true).open(mark) {
            Ok(mark) => {
                mark.sync_all()?;
                aside::sync(&folder)?;
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

fn file(folder: &Path, revision: u64) -> PathBuf {
    folder.join(format!("{revision}.json"))
}
