//! The input of a command.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use clap::Args;

use crate::screen::{Screen, plain};
use crate::verdict::Failure;

/// The input of a command.
#[derive(Args, Debug)]
pub(crate) struct Input {
    /// The file to read; standard input by default, or with `-`
    file: Option<PathBuf>,
}

impl Input {
    /// Returns the file, unless the input is standard input.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.file.as_deref().filter(|file| *file != Path::new("-"))
    }

    /// Opens the input.
    pub(crate) fn open(&self) -> Result<Box<dyn Read>, Failure> {
        match self.path() {
            Some(path) => match File::open(path) {
                Ok(file) => Ok(Box::new(file)),
                Err(error) => Err(Failure::new(format!("{}: {error}", path.display()))),
            },
            None => Ok(Box::new(io::stdin().lock())),
        }
    }

    /// Reads the complete input.
    pub(crate) fn read(&self) -> Result<Bytes, Failure> {
        let mut bytes = Vec::new();
        self.open()?
            .read_to_end(&mut bytes)
            .map_err(|error| self.failed(&error))?;
        Ok(bytes.into())
    }

    /// Opens the input for reading in pieces of at most `most` bytes.
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

/// An input that is read in pieces.
pub(crate) struct Pieces<'a> {
    input: &'a Input,
    reader: Box<dyn Read>,
    most: usize,
    buffer: Vec<u8>,
    /// The range of unread bytes in the buffer.
    rest: Range<usize>,
    /// The number of bytes read.
    count: u64,
    /// The first bytes of the input.
    beginning: Vec<u8>,
}

/// The number of first bytes that are shown if an input has no events.
const BEGINNING: usize = 80;

impl Pieces<'_> {
    /// Returns the next piece; `None` at the end. Flushes `screen` before it waits.
    pub(crate) fn next(&mut self, screen: &mut Screen) -> Result<Option<&[u8]>, Failure> {
        while self.rest.is_empty() {
            // A stream may pause for a long time, so everything read so far is shown before.
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

    /// Returns the reason why an input has no events, such as an error page; `None` for an empty input.
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
