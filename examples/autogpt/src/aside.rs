//! Files that are written aside and then get their name: one that is half written never has it.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// Writes a file that has no name yet, in the folder that it is for. Only its owner can read it.
pub(crate) fn write(folder: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let mut aside = NamedTempFile::new_in(folder)?;
    aside.write_all(bytes)?;
    aside.as_file().sync_all()?;
    Ok(aside)
}

/// Makes the names in a folder survive a loss of power, where a folder can be opened like a file.
pub(crate) fn sync(folder: &Path) -> io::Result<()> {
    match cfg!(unix) {
        true => File::open(folder)?.sync_all(),
        false => Ok(()),
    }
}
