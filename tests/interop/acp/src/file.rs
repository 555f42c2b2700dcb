//! A store of conversations in a folder, a file for each record.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use std::{fs, io};

use bytes::Bytes;
use copilot_wire::async_trait;
use copilot_wire::conversations::{ConversationStore, RecordError, RecordKey};

#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(path: OsString) -> Self {
        Self(path.into())
    }

    fn path(&self, key: &RecordKey) -> PathBuf {
        self.0.join(key.to_string().replace(':', "-"))
    }
}

fn failed(error: io::Error) -> RecordError {
    RecordError::Unavailable(Box::new(error))
}

#[async_trait]
impl ConversationStore for Folder {
    async fn put(&self, key: &RecordKey, record: Bytes, _: Duration) -> Result<bool, RecordError> {
        let path = self.path(key);
        if path.exists() {
            return Ok(false);
        }
        fs::write(path, record).map_err(failed)?;
        Ok(true)
    }

    async fn get(
        &self,
        keys: &[RecordKey],
        _: Duration,
    ) -> Result<Vec<Option<Bytes>>, RecordError> {
        let read = |key| fs::read(self.path(key)).ok().map(Bytes::from);
        Ok(keys.iter().map(read).collect())
    }

    async fn delete(&self, key: &RecordKey) -> Result<bool, RecordError> {
        Ok(fs::remove_file(self.path(key)).is_ok())
    }
}
