//! The names of keys and channels.
//!
//! The part of a name in braces determines the slot of a key in a cluster: all keys of a reply are in one slot, so
//! that one script can use them.

use copilot_wire::replies::{ConversationKey, ReplyId};

use crate::fault::Fault;

/// The names of the keys and channels of a store.
#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) prefix: String,
    /// The id of the process: 32 hexadecimal digits.
    process: String,
}

impl Names {
    /// Creates the names for a new process.
    pub(crate) fn new(prefix: String) -> Result<Self, Fault> {
        if prefix.contains(['{', '}']) {
            return Err(Fault::lasting("a prefix cannot have braces"));
        }
        let random = || getrandom::u64().map_err(|_| Fault::passing("no random numbers"));
        let process = u128::from(random()?) << 64 | u128::from(random()?);
        Ok(Self {
            prefix,
            process: format!("{process:032x}"),
        })
    }

    pub(crate) fn process(&self) -> &str {
        &self.process
    }

    /// Returns the key of a log, which is the name of its channel as well.
    pub(crate) fn log(&self, id: &ReplyId) -> String {
        format!("{}reply:{{{id}}}", self.prefix)
    }

    /// Returns the log of a channel, if it has one.
    pub(crate) fn log_of_channel(&self, channel: &str) -> Option<ReplyId> {
        let id = channel
            .strip_prefix(&*self.prefix)?
            .strip_prefix("reply:{")?;
        parse(id.strip_suffix('}')?)
    }

    /// Returns the key of the mark of a cancelled reply.
    pub(crate) fn cancelled(&self, id: &ReplyId) -> String {
        format!("{}cancelled:{{{id}}}", self.prefix)
    }

    /// Returns the key of the mark that a log has readers.
    pub(crate) fn readers(&self, id: &ReplyId) -> String {
        format!("{}readers:{{{id}}}", self.prefix)
    }

    /// Returns the key of the latest reply of a conversation.
    pub(crate) fn latest(&self, conversation: &ConversationKey) -> String {
        format!("{}latest:{conversation}", self.prefix)
    }

    /// Returns the key of the lease of a process.
    pub(crate) fn lease(&self, process: &str) -> String {
        format!("{}alive:{process}", self.prefix)
    }

    /// Returns the keys of a user's records, and of the times at which they expire.
    pub(crate) fn records(&self, user: &[u8; 16]) -> [String; 2] {
        let user = u128::from_be_bytes(*user);
        ["turns", "expiry"].map(|kind| format!("{}{kind}:{{{user:032x}}}", self.prefix))
    }

    /// Returns the prefix of the channels of processes, which get messages about the replies that they run.
    pub(crate) fn processes(&self) -> String {
        format!("{}process:", self.prefix)
    }

    /// Returns the channel of this process.
    pub(crate) fn channel(&self) -> String {
        format!("{}process:{}", self.prefix, self.process)
    }
}

/// Parses an id of 64 hexadecimal digits.
pub(crate) fn parse(id: &str) -> Option<ReplyId> {
    let mut bytes = [0; 32];
    if id.len() != 64 || !id.is_ascii() {
        return None;
    }
    for (byte, at) in bytes.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(id.get(at..at + 2)?, 16).ok()?;
    }
    Some(ReplyId::from_bytes(bytes))
}
