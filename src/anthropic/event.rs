//! The events of a stream, and the endings of a turn.

use super::{
    ContentBlock, ErrorObject, Message, MessageDelta, Stop, StopReason, ToolUseBlock, Usage,
};
use crate::json::{Json, Wire};
use crate::protocol::FrameEvent;

/// An event of a stream, for writing and reading.
#[derive(Clone, Debug, PartialEq, Eq, FrameEvent)]
#[non_exhaustive]
// Some compatible servers end with the `[DONE]` of OpenAI's protocol.
#[event(
    named,
    ignored = "[DONE]",
    truncated = "the stream ended without message_stop"
)]
pub enum Event {
    /// `message_start`: the message, without content.
    #[event(member = "message")]
    MessageStart(Message),
    /// `content_block_start`: the start of a block.
    ContentBlockStart {
        /// The index of the block.
        index: u32,
        /// The block, without content.
        content_block: ContentBlock,
    },
    /// `content_block_delta`: a piece of a block.
    #[event(text = "delta.text", text_in = Delta::Text)]
    ContentBlockDelta {
        /// The index of the block.
        index: u32,
        /// The piece.
        delta: Delta,
    },
    /// `content_block_stop`: the end of a block.
    ContentBlockStop {
        /// The index of the block.
        index: u32,
    },
    /// `message_delta`: the end of the message, or new token counts.
    MessageDelta(MessageDelta),
    /// `message_stop`: the end of the stream.
    #[event(last)]
    MessageStop,
    /// `ping`: a keep-alive.
    Ping,
    /// `error`: the answer failed. It is the last event.
    #[event(last, member = "error")]
    Error(ErrorObject),
    /// An event of any other type. It is read, and never written.
    #[event(other)]
    Other(Json),
}

/// A piece of a block.
#[derive(Clone, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(tag = "type")]
pub enum Delta {
    /// `text_delta`: text.
    #[wire(name = "text_delta", member = "text", content)]
    Text(String),
    /// `thinking_delta`: reasoning.
    #[wire(name = "thinking_delta", member = "thinking", content)]
    Thinking(String),
    /// `signature_delta`: the signature of a thinking block.
    #[wire(name = "signature_delta", member = "signature", content)]
    Signature(String),
    /// `input_json_delta`: a piece of the JSON text of a call's arguments.
    #[wire(name = "input_json_delta", member = "partial_json", content)]
    InputJson(String),
    /// `citations_delta`: a source of the text, an object with a `type`.
    #[wire(name = "citations_delta", member = "citation")]
    Citation(Json),
    /// A piece of any other type.
    #[wire(other)]
    Other(Json),
}

/// An event that an agent of this protocol sends besides the shared parts. The reply numbers the
/// blocks.
///
/// A call is buffered until the answer is complete, because Claude Code runs a call even if an
/// error follows it. Other blocks are written one by one, in the order in which they are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output {
    /// Starts a block.
    Start(ContentBlock),
    /// Adds a piece to the block.
    Delta(Delta),
    /// Ends the block.
    Stop,
    /// Sets the end of the message and the token counts, which are written at the end.
    Message(MessageDelta),
}

from! {
    Usage => Output: |usage| Self::Message(usage.into()),
    ToolUseBlock => Ending: |call| Self::Calls(vec![call]),
    StopReason => Ending: |reason| Self::Stop(reason.into()),
}

/// An end of a turn other than a complete answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// The client should run tools and send their results. The calls are not checked against the
    /// tools of the request.
    Calls(Vec<ToolUseBlock>),
    /// The message ends for this reason.
    Stop(Stop),
    /// The answer failed.
    Error(ErrorObject),
}

crate::from_values!(Output { Delta(Delta) });

crate::from_values!(Ending { Calls(Vec<ToolUseBlock>), Stop(Stop), Error(ErrorObject) });
