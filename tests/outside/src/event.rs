//! The events of the Pager.

use copilot_wire::json::Json;
use copilot_wire::protocol::FrameEvent;

/// An event of the stream.
#[derive(Clone, Debug, PartialEq, Eq, FrameEvent)]
#[event(truncated = "the answer is not complete", named)]
#[event(output = "An event that an agent sends.")]
pub enum Event {
    /// A block begins.
    #[event(member = "block")]
    Start(u64),
    /// Text of a block.
    #[event(text = "text")]
    Delta {
        /// The number of the block.
        block: u64,
        /// The text.
        text: String,
    },
    /// A block ends.
    #[event(member = "block")]
    End(u64),
    /// A note beside the blocks.
    #[event(member = "text", output)]
    Note(String),
    /// A keep-alive.
    Beat,
    /// The answer is complete.
    #[event(last)]
    Done,
    /// The answer failed.
    #[event(member = "message", last)]
    Failed(String),
    /// Any other event.
    #[event(other)]
    Other(Json),
}
