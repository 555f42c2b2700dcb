//! Runs as files.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use async_trait::async_trait;

use super::claim::LocalClaims;
use super::{Claim, Conversation, RunStore, Saved, StoreError};
use crate::digest::hex_digest;
use crate::memory::atomic_file;

/// The number of attempts to read a record that is replaced at the same time.
const TRIES: usize = 100;

/// A store of runs as files, with one folder for each conversation.
///
/// Each revision of a record is a file, created only if it does not exist, so that of two processes
/// with the same expectation one fails. Then the previous revision is removed. A started mark is an
/// empty file, created the same way. Claims exclude users of this store and its clones; between
/// processes the revision decides, and the slower one fails with [`StoreError::Conflict`].
#[derive(Clone, Debug)]
pub struct DiskStore {
    folder: PathBuf,
    claims: LocalClaims,
}

impl DiskStore {
    /// Opens a store in a folder, and creates it if it is missing.
    ///
    /// # Errors
    ///
    /// An error of the file system.
    pub fn new(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let folder = folder.to_owned();
        let claims = LocalClaims::default();
        Ok(Self { folder, claims })
    }

    fn folder(&self, conversation: &Conversation) -> PathBuf {
        self.folder.join(conversation.as_str())
    }

    /// Returns the folder of a conversation, and creates it if it is missing.
    fn make_folder(&self, conversation: &Conversation) -> io::Result<PathBuf> {
        let folder = self.folder(conversation);
        if !folder.is_dir() {
            fs::create_dir_all(&folder)?;
            // The name of the new folder is an entry of its parent.
            atomic_file::sync(&self.folder)?;
        }
        Ok(folder)
    }

    /// Returns the largest revision that has a file, or 0. Ignores other names, links and folders.
    fn latest_revision(folder: &Path) -> io::Result<u64> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(error),
        };
        let mut latest = 0;
        for entry in entries {
            let entry = entry?;
            let found = entry.file_name().to_str().and_then(revision).unwrap_or(0);
            if found > latest && entry.file_type()?.is_file() {
                latest = found;
            }
        }
        Ok(latest)
    }
}

/// Parses the name of a record.
fn revision(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".json")?;
    let revision: u64 = digits.parse().ok()?;
    // Only the canonical form: `01.json` and `1.json` would be two files of one revision.
    (revision.to_string() == digits).then_some(revision)
}

#[async_trait]
impl RunStore for DiskStore {
    async fn claim(&self, conversation: &Conversation) -> Result<Option<Claim>, StoreError> {
        Ok(self.claims.claim(conversation))
    }

    async fn load(&self, conversation: &Conversation) -> Result<Option<Saved>, StoreError> {
        let folder = self.folder(conversation);
        for _ in 0..TRIES {
            let revision = Self::latest_revision(&folder)?;
            if revision == 0 {
                return Ok(None);
            }
            match fs::read_to_string(file(&folder, revision)) {
                Ok(record) => return Ok(Some(Saved::new(revision, record))),
                // The record was replaced in between.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::Error::other("the record is never there").into())
    }

    async fn save(&self, claim: &Claim, expected: u64, record: &str) -> Result<u64, StoreError> {
        let folder = self.make_folder(claim.conversation())?;
        // A first check, for the common case. The decision is made by the name that can be created
        // only once.
        if Self::latest_revision(&folder)? != expected {
            return Err(StoreError::Conflict);
        }
        // From here to `persist_noclobber` another process may save the same revision first.
        let next = expected.checked_add(1);
        let revision = next.ok_or_else(|| io::Error::other("there are no more revisions"))?;
        let new = atomic_file::write(&folder, record.as_bytes())?;
        match new.persist_noclobber(file(&folder, revision)) {
            Ok(_) => {}
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(StoreError::Conflict);
            }
            Err(error) => return Err(error.error.into()),
        }
        // Other processes may have saved this revision and the next and removed this one, so that its name was free
        // again.
        if Self::latest_revision(&folder)? != revision {
            let _ = fs::remove_file(file(&folder, revision));
            return Err(StoreError::Conflict);
        }
        atomic_file::sync(&folder)?;
        if expected > 0 {
            // If this fails, an older revision remains, which is ignored.
            let _ = fs::remove_file(file(&folder, expected));
        }
        Ok(revision)
    }

    async fn start(&self, claim: &Claim, id: &str) -> Result<bool, StoreError> {
        let folder = self.make_folder(claim.conversation())?;
        let mark = folder.join(format!("{}.started", hex_digest(&[id])));
        match OpenOptions::new().write(true).create_new(true).open(mark) {
            Ok(mark) => {
                // Synced before the command starts: if a power failure removed the mark, the command could run twice.
                mark.sync_all()?;
                atomic_file::sync(&folder)?;
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
