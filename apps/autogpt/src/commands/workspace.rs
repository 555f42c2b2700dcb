//! The folder that file commands can access.
//!
//! The folder is opened once, and `cap-std` resolves every path from this handle, component by component (on Linux the
//! kernel does): no absolute path, no `..`, no symbolic link and no race with another program leads out of it. In
//! addition, names that have another meaning on another system are refused on all systems, so that a workspace is
//! portable.
//!
//! A hard link inside the folder cannot be distinguished from a file of the folder. Whoever can create hard links there
//! can already access the file.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};

/// The size limit of a file that is read or written, in bytes.
const FILE_BYTES: u64 = 4 * 1024 * 1024;

/// The limits of a search: files, and depth of folders.
const SEARCH_FILES: usize = 2000;
const SEARCH_DEPTH: usize = 32;

/// Names of devices on Windows, whatever their extension.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// A folder that file commands cannot escape.
#[derive(Debug)]
pub struct Workspace {
    dir: Dir,
    path: PathBuf,
}

/// An error of a path or of a file operation.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// The path leads out of the workspace, or could on another system.
    #[error("the path is outside of the workspace; use names inside it, such as notes/plan.txt")]
    Outside,
    /// The file is too large.
    #[error("the file is larger than {FILE_BYTES} bytes")]
    TooLarge,
    /// The file operation failed.
    #[error("'{path}': {}", in_words(source))]
    Io {
        /// The path inside the workspace.
        path: String,
        /// The cause.
        source: io::Error,
    },
}

impl Workspace {
    /// Opens a folder, and creates it if it is missing.
    ///
    /// # Errors
    ///
    /// An error of the file system.
    pub fn open(path: &Path) -> io::Result<Self> {
        fs::create_dir_all(path)?;
        let path = path.canonicalize()?;
        let dir = Dir::open_ambient_dir(&path, ambient_authority())?;
        Ok(Self { dir, path })
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads a file. Bytes that are not UTF-8 are replaced.
    ///
    /// # Errors
    ///
    /// [`PathError`]
    pub fn read(&self, name: &str) -> Result<String, PathError> {
        let path = inside(name)?;
        let file = self.regular(&path, OpenOptions::new().read(true));
        let file = file.map_err(in_file(&path))?;
        let mut bytes = Vec::new();
        // Limited while reading, because the file may grow after its size was read.
        let mut limited = file.take(FILE_BYTES + 1);
        limited.read_to_end(&mut bytes).map_err(in_file(&path))?;
        if bytes.len() as u64 > FILE_BYTES {
            return Err(PathError::TooLarge);
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Writes a file, and creates its folders if they are missing.
    ///
    /// # Errors
    ///
    /// [`PathError`]
    pub fn write(&self, name: &str, text: &str) -> Result<(), PathError> {
        let path = inside(name)?;
        if text.len() as u64 > FILE_BYTES {
            return Err(PathError::TooLarge);
        }
        if let Some((folder, _)) = path.rsplit_once('/') {
            self.dir.create_dir_all(folder).map_err(in_file(&path))?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        let file = self.regular(&path, &mut options);
        let mut file = file.map_err(in_file(&path))?;
        file.write_all(text.as_bytes()).map_err(in_file(&path))
    }

    /// Appends to a file, and creates it if it is missing, but not its folder.
    ///
    /// # Errors
    ///
    /// [`PathError`]
    pub fn append(&self, name: &str, text: &str) -> Result<(), PathError> {
        let path = inside(name)?;
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        let file = self.regular(&path, &mut options);
        let mut file = file.map_err(in_file(&path))?;
        let length = file.metadata().map_err(in_file(&path))?.len();
        if length + text.len() as u64 > FILE_BYTES {
            return Err(PathError::TooLarge);
        }
        file.write_all(text.as_bytes()).map_err(in_file(&path))
    }

    /// Deletes a file.
    ///
    /// # Errors
    ///
    /// [`PathError`]
    pub fn delete(&self, name: &str) -> Result<(), PathError> {
        let path = inside(name)?;
        self.dir.remove_file(&path).map_err(in_file(&path))
    }

    /// Returns the files in a folder and below, sorted, with paths relative to the workspace. Names
    /// that start with a dot, and links, are left out; a missing folder is empty. `""` and `/` mean
    /// the whole workspace.
    ///
    /// # Errors
    ///
    /// [`PathError`]
    pub fn search(&self, folder: &str) -> Result<Vec<String>, PathError> {
        let folder = match folder {
            "" | "/" | "." | "./" => String::new(),
            folder => inside(folder)?,
        };
        let mut found = Vec::new();
        let dir = match folder.as_str() {
            "" => self.dir.try_clone(),
            folder => self.dir.open_dir(folder),
        };
        match dir {
            Ok(dir) => walk(&dir, &folder, SEARCH_DEPTH, &mut found).map_err(in_file(&folder))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(in_file(&folder)(error)),
        }
        found.sort();
        Ok(found)
    }

    /// Opens a file for a child process to read.
    ///
    /// # Errors
    ///
    /// [`PathError`]
    pub fn open_file(&self, name: &str) -> Result<fs::File, PathError> {
        let path = inside(name)?;
        let file = self.regular(&path, OpenOptions::new().read(true));
        Ok(file.map_err(in_file(&path))?.into_std())
    }

    /// Opens a regular file. Opening a pipe would wait for its other end, and opening a device can
    /// have effects, so the type is checked before, and again afterwards because it may have
    /// changed in between.
    fn regular(&self, path: &str, options: &mut OpenOptions) -> io::Result<File> {
        match self.dir.metadata(path) {
            Ok(metadata) => is_regular(&metadata)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        without_waiting(options);
        let file = self.dir.open_with(path, options)?;
        is_regular(&file.metadata()?)?;
        Ok(file)
    }
}

fn is_regular(metadata: &Metadata) -> io::Result<()> {
    match (metadata.is_file(), metadata.is_dir()) {
        (true, _) => Ok(()),
        (_, true) => Err(io::ErrorKind::IsADirectory.into()),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// Sets the flag that keeps the opening of a pipe from blocking.
#[cfg(unix)]
fn without_waiting(options: &mut OpenOptions) {
    use cap_std::fs::OpenOptionsExt;

    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
}

#[cfg(not(unix))]
fn without_waiting(_: &mut OpenOptions) {}

fn walk(dir: &Dir, prefix: &str, depth: usize, found: &mut Vec<String>) -> io::Result<()> {
    for entry in dir.entries()? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') || found.len() >= SEARCH_FILES {
            continue;
        }
        let path = match prefix {
            "" => name.into_owned(),
            prefix => format!("{prefix}/{name}"),
        };
        // The type of the entry itself: a link is neither file nor folder, so it is not followed.
        let kind = entry.file_type()?;
        if kind.is_file() {
            found.push(path);
        } else if kind.is_dir() && depth > 0 {
            walk(&entry.open_dir()?, &path, depth - 1, found)?;
        }
    }
    Ok(())
}

/// Returns the components of a name joined by slashes, or [`PathError::Outside`].
///
/// `..` is resolved by name, and may not lead above the workspace. As in the original, a path may leave the workspace
/// if its next component is the name of the original's folder (`a/../../auto_gpt_workspace/b`): it then is inside
/// again.
fn inside(name: &str) -> Result<String, PathError> {
    let mut parts: Vec<&str> = Vec::new();
    let mut above = false;
    // Refused instead of read as relative to the workspace, because elsewhere it means the root of the system.
    if name.starts_with('/') {
        return Err(PathError::Outside);
    }
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_some() => {}
            ".." if !above => above = true,
            "auto_gpt_workspace" if above => above = false,
            _ if above || part == ".." || !portable(part) => return Err(PathError::Outside),
            part => parts.push(part),
        }
    }
    if above || parts.is_empty() {
        return Err(PathError::Outside);
    }
    Ok(parts.join("/"))
}

/// Returns `true` if a name means the same file on every system: no drive, stream, device, share or
/// control character.
fn portable(part: &str) -> bool {
    let strange =
        |c: char| c.is_control() || matches!(c, '\\' | ':' | '<' | '>' | '"' | '|' | '?' | '*');
    if part.contains(strange) || part.ends_with(['.', ' ']) {
        return false;
    }
    // A device's name keeps its meaning with any extension.
    let stem = part.split('.').next().unwrap_or_default();
    let stem = stem.trim_end().to_lowercase();
    // Windows takes `com1` and `lpt1` for devices, also with superscript digits.
    let numbered = |device: &str| {
        let number = stem.strip_prefix(device);
        number.is_some_and(|n| n.chars().count() == 1 && n.contains(|c: char| c.is_numeric()))
    };
    !DEVICES.contains(&stem.as_str()) && !numbered("com") && !numbered("lpt")
}

fn in_file(path: &str) -> impl Fn(io::Error) -> PathError {
    move |source| match source.kind() {
        // The error with which cap-std rejects a path that leads out.
        io::ErrorKind::PermissionDenied if source.raw_os_error().is_none() => PathError::Outside,
        _ => PathError::Io {
            path: path.to_owned(),
            source,
        },
    }
}

fn in_words(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file",
        io::ErrorKind::IsADirectory => "this is a folder",
        io::ErrorKind::NotADirectory => "a part of the path is a file",
        io::ErrorKind::InvalidInput => "this is not a file",
        io::ErrorKind::PermissionDenied => "there is no permission",
        _ => "the operation failed",
    }
}
