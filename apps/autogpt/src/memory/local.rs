//! Memories in files, or in this process.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use super::rows::{NOT_STORED, checked_vector, most_relevant};
use super::{Embedder, Memories, Memory, MemoryError};
use crate::digest::hex_digest;
use crate::memory::atomic_file;

/// A memory in one JSON file, in the format of the original.
///
/// The file is `{"texts":[...],"embeddings":[[...],...]}` in compact form. Each addition replaces
/// the whole file atomically.
#[derive(Debug)]
pub struct LocalMemory {
    /// `None` for a memory that ends with the process.
    file: Option<PathBuf>,
    embedder: Arc<dyn Embedder>,
    rows: Mutex<Rows>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Rows {
    texts: Vec<String>,
    embeddings: Vec<Vec<f32>>,
}

impl LocalMemory {
    /// Opens a memory file; a missing one is an empty memory.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Damaged`] if the file is not a memory of this embedder's dimension.
    pub fn open(file: &Path, embedder: Arc<dyn Embedder>) -> Result<Self, MemoryError> {
        let rows = match fs::read(file) {
            Ok(bytes) => Rows::read(&bytes, embedder.dimension())?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Rows::default(),
            Err(error) => return Err(error.into()),
        };
        Ok(Self {
            file: Some(file.to_owned()),
            embedder,
            rows: Mutex::new(rows),
        })
    }

    /// Creates an empty memory without a file.
    pub fn volatile(embedder: Arc<dyn Embedder>) -> Self {
        Self {
            file: None,
            embedder,
            rows: Mutex::default(),
        }
    }
}

#[async_trait]
impl Memory for LocalMemory {
    async fn add(&self, text: &str) -> Result<String, MemoryError> {
        if text.contains(NOT_STORED) {
            return Ok(String::new());
        }
        // Embedded before the lock is taken: the call may take seconds.
        let embedding = checked_vector(&*self.embedder, text).await?;
        let mut rows = self.rows.lock().await;
        rows.texts.push(text.to_owned());
        rows.embeddings.push(embedding);
        if let Some(file) = &self.file {
            let bytes = serde_json::to_vec(&*rows).map_err(io::Error::from)?;
            replace(file, &bytes)?;
        }
        Ok(text.to_owned())
    }

    async fn relevant(&self, query: &str, count: usize) -> Result<Vec<String>, MemoryError> {
        let query = checked_vector(&*self.embedder, query).await?;
        let rows = self.rows.lock().await;
        let best = most_relevant(rows.embeddings.iter().map(Vec::as_slice), &query, count);
        let texts = best.into_iter().filter_map(|row| rows.texts.get(row));
        Ok(texts.cloned().collect())
    }
}

impl Rows {
    fn read(bytes: &[u8], dimension: usize) -> Result<Self, MemoryError> {
        let rows: Self =
            serde_json::from_slice(bytes).map_err(|_| MemoryError::Damaged("not a memory file"))?;
        if rows.texts.len() != rows.embeddings.len() {
            return Err(MemoryError::Damaged("texts and rows differ in number"));
        }
        if rows.embeddings.iter().any(|row| row.len() != dimension) {
            return Err(MemoryError::Damaged("a row has another width"));
        }
        Ok(rows)
    }
}

/// Replaces a file atomically.
fn replace(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        // The parent of a bare file name is the empty path, which is no folder.
        _ => Path::new("."),
    };
    atomic_file::write(folder, bytes)?.persist(file)?;
    atomic_file::sync(folder)
}

/// The lifetime of an unused memory without a file, and the number of such memories: the same as
/// for runs without a file.
const EXPIRY: Duration = Duration::from_secs(24 * 60 * 60);
const CAPACITY: usize = 1000;

/// The memory files of all conversations, in one folder.
///
/// Without a folder, a memory ends with its run, after a day without use, or when it is the least
/// recently used of more than 1000.
#[derive(Debug)]
pub struct LocalMemories {
    /// `None` for memories that end with the process.
    folder: Option<PathBuf>,
    embedder: Arc<dyn Embedder>,
    open: Mutex<HashMap<String, Open>>,
}

#[derive(Debug)]
struct Open {
    memory: Arc<LocalMemory>,
    used: Instant,
}

impl Open {
    /// Returns `true` if nobody else uses the memory at the moment.
    fn is_idle(&self) -> bool {
        Arc::strong_count(&self.memory) == 1
    }
}

impl LocalMemories {
    /// Opens a folder of memory files, and creates it if it is missing.
    ///
    /// # Errors
    ///
    /// An error of the file system.
    pub fn new(folder: &Path, embedder: Arc<dyn Embedder>) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self {
            folder: Some(folder.to_owned()),
            embedder,
            open: Mutex::default(),
        })
    }

    /// Creates memories without files.
    pub fn volatile(embedder: Arc<dyn Embedder>) -> Self {
        Self {
            folder: None,
            embedder,
            open: Mutex::default(),
        }
    }

    /// Drops memories that are not in use, to make room for one more. A memory with a file is read again when it is
    /// needed.
    fn drop_unused(&self, open: &mut HashMap<String, Open>) {
        // The lock on `open` is held, so no idle memory can be returned to a caller meanwhile.
        let in_files = self.folder.is_some();
        open.retain(|_, it| !it.is_idle() || (!in_files && it.used.elapsed() < EXPIRY));
        if open.len() >= CAPACITY {
            let idle = open.iter().filter(|(_, it)| it.is_idle());
            let oldest = idle.min_by_key(|(_, it)| it.used);
            let oldest = oldest.map(|(name, _)| name.clone());
            oldest.and_then(|name| open.remove(&name));
        }
    }
}

#[async_trait]
impl Memories for LocalMemories {
    async fn of(&self, conversation: &str) -> Result<Arc<dyn Memory>, MemoryError> {
        // The conversation id is untrusted, so the file is named after its digest.
        let name = hex_digest(&[conversation]);
        let mut open = self.open.lock().await;
        if let Some(found) = open.get_mut(&name) {
            found.used = Instant::now();
            // The same object is returned, because two objects for one file would overwrite each other's additions.
            return Ok(Arc::<LocalMemory>::clone(&found.memory));
        }
        self.drop_unused(&mut open);
        let embedder = Arc::clone(&self.embedder);
        let memory = Arc::new(match &self.folder {
            Some(folder) => LocalMemory::open(&folder.join(format!("{name}.json")), embedder)?,
            None => LocalMemory::volatile(embedder),
        });
        let used = Instant::now();
        let shared = Arc::clone(&memory);
        open.insert(
            name,
            Open {
                memory: shared,
                used,
            },
        );
        Ok(memory)
    }

    async fn release(&self, conversation: &str) {
        let name = hex_digest(&[conversation]);
        self.open.lock().await.remove(&name);
    }
}
