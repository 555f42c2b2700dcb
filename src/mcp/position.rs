//! The ids of events, by which clients resume a stream.

use std::fmt::Write as _;
use std::io::Write as _;

use crate::json::Json;

/// The time in milliseconds after which a client reconnects to resume a stream.
const RETRY: &str = "retry: 300\n";

/// The position of an event: the id of the reply, the number of the event, and the id of the call, which the result of
/// a lost reply needs.
#[derive(Clone, Debug)]
pub(super) struct Position {
    pub(super) reply: String,
    pub(super) next: u64,
    /// The id of the call in hexadecimal digits, because it may contain any character.
    call: String,
}

/// The comment at the start of a stored reply without event ids.
const COMMENT: &str = ": call ";

impl Position {
    pub(super) fn new(reply: &str, call: &Json) -> Self {
        let mut digits = String::new();
        for byte in call.as_bytes() {
            // Writing to a string cannot fail.
            let _ = write!(digits, "{byte:02x}");
        }
        Self {
            reply: reply.to_owned(),
            next: 0,
            call: digits,
        }
    }

    /// Writes the id of the next event, and with the first id the reconnection time.
    pub(super) fn write(&mut self, out: &mut Vec<u8>) {
        // Writing to a vector cannot fail.
        let _ = writeln!(out, "id: {}.{}.{}", self.reply, self.next, self.call);
        if self.next == 0 {
            out.extend_from_slice(RETRY.as_bytes());
        }
        self.next += 1;
    }

    pub(super) fn write_comment(&self, out: &mut Vec<u8>) {
        let _ = write!(out, "{COMMENT}{}\n\n", self.call);
    }

    /// Parses the id of the last event that a client received. `next` becomes the number of the event after it.
    pub(super) fn read(id: &str) -> Option<Self> {
        let (reply, rest) = id.split_once('.')?;
        let (number, call) = rest.split_once('.')?;
        let number: u64 = number.parse().ok()?;
        Some(Self {
            reply: reply.to_owned(),
            next: number.checked_add(1)?,
            call: call.to_owned(),
        })
    }

    /// Returns the id of the call.
    pub(super) fn call(&self) -> Option<Json> {
        call(&self.call)
    }
}

/// Returns the id of the call from `event`, the first event of its reply.
pub(super) fn call_of(event: &[u8]) -> Option<Json> {
    let event = std::str::from_utf8(event).ok()?;
    let line = event.lines().next()?;
    match line.strip_prefix(COMMENT) {
        Some(digits) => call(digits),
        None => Position::read(line.strip_prefix("id: ")?)?.call(),
    }
}

fn call(digits: &str) -> Option<Json> {
    let bytes = (0..digits.len()).step_by(2).map(|at| {
        let pair = digits.get(at..at + 2)?;
        u8::from_str_radix(pair, 16).ok()
    });
    let bytes: Vec<u8> = bytes.collect::<Option<_>>()?;
    let id = Json::parse(bytes).ok()?;
    super::message::is_id(&id).then_some(id)
}
