//! The events of the Pager.

/// An event of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A block begins.
    Start(u64),
    /// Text of a block.
    Delta {
        /// The number of the block.
        block: u64,
        /// The text.
        text: String,
    },
    /// A block ends.
    End(u64),
    /// A note beside the blocks.
    Note(Note),
    /// A keep-alive, with its number.
    Beat(u64),
    /// The answer is complete.
    Done,
    /// The answer failed.
    Failed(String),
}

/// A note beside the blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note(pub String);
