//! Where a command reads from.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use clap::Args;

use crate::screen::{Screen, plain};
use crate::verdict::Failure;

/// Where a command reads from.
#[derive(Args, Debug)]
pub(crate) struct Input {
    /// Read this file; standard input without one, or with `-`
    file: Option<PathBuf>,
}

impl Input {
    /// The file, unless it is standard input.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.file.as_deref().filter(|file| *file != Path::new("-"))
    }

    /// Opens it.
    pub(crate) fn open(&self) -> Result<Box<dyn Read>, Failure> {
        match self.path() {
            Some(path) => match File::open(path) {
                Ok(file) => Ok(Box::new(file)),
                Err(error) => Err(Failure::new(format!("{}: {error}", path.display()))),
            },
            None => Ok(Box::new(io::stdin().lock())),
        }
    }

    /// Reads all of it.
    pub(crate) fn read(&self) -> Result<Bytes, Failure> {
        let mut bytes = Vec::new();
        self.open()?
            .read_to_end(&mut bytes)
            .map_err(|error| self.failed(&error))?;
        Ok(bytes.into())
    }

    /// Opens it to be read as it arrives, at most `most` bytes at a time.
    pub(crate) fn pieces(&self, most: Option<usize>) -> Result<Pieces<'_>, Failure> {
        let buffer = vec![0; 64 * 1024];
        Ok(Pieces {
            input: self,
            reader: self.open()?,
            most: most.unwrap_or(buffer.len()),
            buffer,
            rest: 0..0,
            count: 0,
            beginning: Vec::new(),
        })
    }

    fn failed(&self, error: &io::Error) -> Failure {
        match self.path() {
            Some(path) => Failure::new(format!("{}: {error}", path.display())),
            None => Failure::new(format!("standard input: {error}")),
        }
    }
}

/// What arrives, piece by piece.
pub(crate) struct Pieces<'a> {
    input: &'a Input,
    reader: Box<dyn Read>,
    most: usize,
    buffer: Vec<u8>,
    /// What of the buffer has not been handed out.
    rest: Range<usize>,
    /// How many bytes there were.
    count: u64,
    /// The first of them.
    beginning: Vec<u8>,
}

/// How much of an input that is something else shows what it is.
const BEGINNING: usize = 80;

impl Pieces<'_> {
    /// The next piece; `None` at the end. Before it has to wait it lets `screen` show what it has.
    pub(crate) fn next(&mut self, screen: &mut Screen) -> Result<Option<&[u8]>, Failure> {
        while self.rest.is_empty() {
            screen.flush()?;
            match self.reader.read(&mut self.buffer) {
                Ok(0) => return Ok(None),
                Ok(count) => self.rest = 0..count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.input.failed(&error)),
            }
        }
        let end = self.rest.end.min(self.rest.start.saturating_add(self.most));
        let piece = self.buffer.get(self.rest.start..end).unwrap_or_default();
        self.rest.start = end;
        self.count += piece.len() as u64;
        let wanted = BEGINNING.saturating_sub(self.beginning.len());
        self.beginning.extend(piece.iter().take(wanted));
        Ok(Some(piece))
    }

    /// Why there was not one event: an error page, say, in the place of a stream. `None` where there
    /// was not a byte either.
    pub(crate) fn no_event(&self) -> Option<String> {
        let beginning = String::from_utf8_lossy(&self.beginning);
        let more = match self.count > BEGINNING as u64 {
            true => "…",
            false => "",
        };
        let plural = if self.count == 1 { "" } else { "s" };
        (self.count > 0).then(|| {
            format!(
                "no event in {} byte{plural}: is this an event stream? it begins with {}{more}",
                self.count,
                plain(&beginning),
            )
        })
    }
}
