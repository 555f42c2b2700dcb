//! Atomic replacement of files: a file gets its name only when it is complete and synced.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// Writes a temporary file in `folder` and syncs it. Only its owner can read it.
pub(crate) fn write(folder: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    // In the folder of its target: a rename is atomic only within one file system.
    let mut aside = NamedTempFile::new_in(folder)?;
    aside.write_all(bytes)?;
    // Before the rename. After a power failure the new name could otherwise have an empty file.
    aside.as_file().sync_all()?;
    Ok(aside)
}

/// Syncs a folder, so that its file names survive a power failure. Does nothing on systems that
/// cannot open a folder as a file.
pub(crate) fn sync(folder: &Path) -> io::Result<()> {
    match cfg!(unix) {
        true => File::open(folder)?.sync_all(),
        false => Ok(()),
    }
}
