//! The entries of a log, as Redis returns them.

use bytes::Bytes;
use copilot_wire::replies::{LogPage, ReplyEnd};
use redis::Value;

use crate::fault::Fault;
use crate::scripts::END;

/// The size in bytes at which a page is full.
const PAGE: usize = 64 * 1024;

/// An entry of a log.
pub(crate) enum Entry {
    Head,
    Events {
        first: u64,
        count: u64,
        events: Vec<u8>,
    },
    End(ReplyEnd),
}

impl Entry {
    /// Parses an entry: its id, and a list of fields and values.
    fn parse(entry: Value) -> Result<Self, Fault> {
        let Value::Array(parts) = entry else {
            return Err(Fault::unexpected());
        };
        let Ok([Value::BulkString(id), Value::Array(fields)]) = <[Value; 2]>::try_from(parts)
        else {
            return Err(Fault::unexpected());
        };
        let id = std::str::from_utf8(&id).map_err(|_| Fault::unexpected())?;
        let Some(Value::BulkString(value)) = fields.into_iter().nth(1) else {
            return Err(Fault::unexpected());
        };
        if id == END {
            let word = std::str::from_utf8(&value).ok();
            let end = word
                .and_then(|word| word.parse().ok())
                .ok_or_else(Fault::unexpected)?;
            return Ok(Self::End(end));
        }
        match numbers(id) {
            Some((0, _)) => Ok(Self::Head),
            Some((first, count)) => Ok(Self::Events {
                first: first - 1,
                count,
                events: value,
            }),
            None => Err(Fault::unexpected()),
        }
    }

    /// Creates a message with the id and the events of an entry.
    pub(crate) fn message(id: &str, events: &[u8]) -> Vec<u8> {
        [id.as_bytes(), b"\n", events].concat()
    }

    /// Parses a message with events. `None` for others, which only say that the log has changed.
    pub(crate) fn parse_message(message: &[u8]) -> Option<(u64, u64, Bytes)> {
        let line = message.iter().position(|byte| *byte == b'\n')?;
        let (id, events) = (message.get(..line)?, message.get(line + 1..)?);
        match numbers(std::str::from_utf8(id).ok()?)? {
            (0, _) | (_, 0) => None,
            (first, count) => Some((first - 1, count, Bytes::copy_from_slice(events))),
        }
    }

    /// Parses a list of entries.
    pub(crate) fn parse_all(entries: Value) -> Result<Vec<Self>, Fault> {
        match entries {
            Value::Array(entries) => entries.into_iter().map(Self::parse).collect(),
            _ => Err(Fault::unexpected()),
        }
    }
}

/// Parses the id of an entry, which is two numbers.
fn numbers(id: &str) -> Option<(u64, u64)> {
    let (first, count) = id.split_once('-')?;
    Some((first.parse().ok()?, count.parse().ok()?))
}

/// The error for a log in which an event is missing.
pub(crate) struct Gap;

/// A page under construction, to which entries are added until it is full.
pub(crate) struct Collector {
    /// The number of the first event.
    first: u64,
    next: u64,
    /// The number after the last event of the log that was added, which may be before `next`.
    last: u64,
    events: Vec<u8>,
    end: Option<ReplyEnd>,
    is_full: bool,
}

impl Collector {
    /// Creates an empty page from event `from` on.
    pub(crate) fn new(from: u64) -> Self {
        Self {
            first: from,
            next: from,
            last: 0,
            events: Vec::new(),
            end: None,
            is_full: false,
        }
    }

    /// Adds the entry that follows the entries added before.
    pub(crate) fn add(&mut self, entry: Entry) -> Result<(), Gap> {
        match entry {
            _ if self.is_full => {}
            Entry::Head => {}
            Entry::End(end) => self.end = Some(end),
            Entry::Events { first, .. } if first > self.next => return Err(Gap),
            Entry::Events {
                first,
                count,
                events,
            } => {
                self.last = first.saturating_add(count);
                if self.last <= self.next {
                    // The entry only shows that the log has no gap.
                } else if self.events.is_empty() {
                    // The usual case, without a copy.
                    (self.first, self.next) = (first, self.last);
                    self.events = events;
                    self.is_full = self.events.len() >= PAGE;
                } else if self.events.len() + events.len() > PAGE {
                    self.is_full = true;
                } else {
                    self.events.extend_from_slice(&events);
                    self.next = self.last;
                }
            }
        }
        Ok(())
    }

    /// Returns the number of the next event.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Returns the number of the next event, or the number after the last event of the log if that is lower.
    pub(crate) fn clamped(&self) -> u64 {
        self.next.min(self.last)
    }

    /// Returns `true` if nothing can be added: there is no space, or the log has ended.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full || self.end.is_some()
    }

    /// Returns the page.
    pub(crate) fn finish(self) -> LogPage {
        LogPage::new(self.first..self.next, Bytes::from(self.events), self.end)
    }
}
