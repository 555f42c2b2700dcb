//! The events of a stream, and the endings of a turn.

use super::chunk::{
    Abort, Error, File, Finish, FinishStep, MessageMetadata, ReasoningDelta, ReasoningEnd,
    ReasoningStart, SourceDocument, SourceUrl, Start, StartStep, TextDelta, TextEnd, TextStart,
    ToolApprovalRequest, ToolInputAvailable, ToolInputDelta, ToolInputError, ToolInputStart,
    ToolOutputAvailable, ToolOutputDenied, ToolOutputError,
};
use super::data::Data;
use crate::json::Json;
use crate::protocol::FrameEvent;

/// An event in either direction: one chunk of a stream.
#[derive(Clone, Debug, PartialEq, Eq, FrameEvent)]
#[non_exhaustive]
// The schema of the SDK requires some members: without one of them a page fails the complete reply.
#[event(whole, truncated = "the stream ended without finish")]
#[event(output = "A chunk that an agent sends during a turn. The others are the reply's own.")]
pub enum Event {
    /// The reply begins.
    Start(Start),
    /// A step begins.
    StartStep(StartStep),
    /// A block of text begins.
    TextStart(TextStart),
    /// A piece of text.
    #[event(text = "delta")]
    TextDelta(TextDelta),
    /// A block of text ends.
    TextEnd(TextEnd),
    /// A block of reasoning begins.
    ReasoningStart(ReasoningStart),
    /// A piece of reasoning. Replies write their own block ids.
    #[event(output)]
    ReasoningDelta(ReasoningDelta),
    /// A block of reasoning ends.
    ReasoningEnd(ReasoningEnd),
    /// A source with an address.
    #[event(output)]
    SourceUrl(SourceUrl),
    /// A source without an address.
    #[event(output)]
    SourceDocument(SourceDocument),
    /// A file.
    #[event(output)]
    File(File),
    /// A tool call begins.
    #[event(output)]
    ToolInputStart(ToolInputStart),
    /// A piece of the input of a tool call.
    #[event(output)]
    ToolInputDelta(ToolInputDelta),
    /// A tool call with its input, for a tool that the agent runs: the turn continues.
    #[event(output)]
    ToolInputAvailable(ToolInputAvailable),
    /// A tool call whose input is not valid.
    ToolInputError(ToolInputError),
    /// The output of a tool call, which ends the step.
    #[event(output)]
    ToolOutputAvailable(ToolOutputAvailable),
    /// The failure of a tool call, which ends the step.
    #[event(output)]
    ToolOutputError(ToolOutputError),
    /// A question whether a tool call may run.
    ToolApprovalRequest(ToolApprovalRequest),
    /// The user denied a tool call.
    ToolOutputDenied(ToolOutputDenied),
    /// Metadata of the message.
    #[event(output)]
    MessageMetadata(MessageMetadata),
    /// A step ends.
    FinishStep(FinishStep),
    /// The reply is complete.
    #[event(last)]
    Finish(Finish),
    /// The reply failed.
    #[event(last)]
    Error(Error),
    /// The reply was cancelled.
    #[event(last)]
    Abort(Abort),
    /// Data for a component of the page.
    #[event(prefix = "data-", output)]
    Data(Data),
    /// A chunk of a type that this crate does not know: a JSON object.
    #[event(other)]
    Unknown(Json),
    /// The end of the stream: `[DONE]`. Readers ignore everything after it.
    #[event(data = "[DONE]", last)]
    Done,
}

/// An event that ends a turn, other than a complete answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// Calls of tools that the page runs. Its next request has the results.
    Calls(Vec<ToolInputAvailable>),
    /// The answer failed.
    Error(Error),
}

from! {
    ToolInputAvailable => Ending: |call| Self::Calls(vec![call]),
    Vec<ToolInputAvailable> => Ending: Self::Calls,
    Error => Ending: Self::Error,
}
