//! The chunks of a stream.

use crate::json::{Json, Members};
use crate::payloads;

payloads! {
    {}

    /// The beginning of a reply.
    Start = "start" {
        /// The id of the message; the id of the assistant's last message if the reply continues that message.
        message_id: Option<String>,
        /// Metadata of the message.
        metadata: Option<Json> [name = "messageMetadata"],
    }
    /// The beginning of a step. Pages look for finished tools in the last step only.
    StartStep = "start-step" {}
    /// The beginning of a block of text.
    TextStart = "text-start" {
        /// The id of the block.
        id: String [always],
    }
    /// A piece of text.
    TextDelta = "text-delta" [new = "Creates a piece of text of a block."] {
        /// The id of the block, which is open.
        id: String [always, new],
        /// The piece.
        delta: String [always, hidden, new],
    }
    /// The end of a block of text.
    TextEnd = "text-end" {
        /// The id of the block.
        id: String [always],
    }
    /// The beginning of a block of reasoning.
    ReasoningStart = "reasoning-start" {
        /// The id of the block.
        id: String [always],
    }
    /// A piece of reasoning.
    ReasoningDelta = "reasoning-delta" {
        /// The id of the block, which is open.
        id: String [always],
        /// The piece.
        delta: String [always, hidden],
    }
    /// The end of a block of reasoning.
    ReasoningEnd = "reasoning-end" {
        /// The id of the block.
        id: String [always],
    }
    /// A source with an address.
    SourceUrl = "source-url" [new = "Creates a source with an address."] {
        /// The id of the source.
        source_id: String [always, new],
        /// The address. Pages make it a link: never send an address that is not `http` or `https`.
        url: String [always, hidden, new],
        /// The title.
        title: Option<String> [hidden, set = "Sets the title."],
    }
    /// A source without an address.
    SourceDocument = "source-document" [new = "Creates a source without an address."] {
        /// The id of the source.
        source_id: String [always, new],
        /// The media type.
        media_type: String [always, new],
        /// The title.
        title: String [always, hidden, new],
        /// The file name.
        filename: Option<String> [hidden],
    }
    /// A file in the reply.
    File = "file" [new = "Creates a file from its address and its media type."] {
        /// The URL of the file; it may be a `data:` URL.
        url: String [always, hidden, new],
        /// The media type.
        media_type: String [always, new],
    }
    /// The beginning of a tool call whose input follows.
    ToolInputStart = "tool-input-start" {
        /// The id of the call.
        tool_call_id: String [always],
        /// The tool.
        tool_name: String [always],
        /// `true` if the server runs the tool.
        provider_executed: bool,
        /// `true` if the page has no type for the tool.
        dynamic: bool,
    }
    /// A piece of the input of a tool call, as JSON text.
    ToolInputDelta = "tool-input-delta" {
        /// The id of the call, which has started.
        tool_call_id: String [always],
        /// The piece.
        input_text_delta: String [always, hidden],
    }
    /// A tool call with its complete input.
    ToolInputAvailable = "tool-input-available" [new = "Creates a call of a tool that the page runs."] {
        /// The id of the call.
        tool_call_id: String [always, new],
        /// The tool.
        tool_name: String [always, new],
        /// The input.
        input: Json [always, new],
        /// `true` if the server runs the tool and the page does not.
        provider_executed: bool [set = "Sets that the server runs the tool."],
        /// `true` if the page has no type for the tool.
        dynamic: bool [set = "Sets that the page has no type for the tool."],
    }
    /// A tool call whose input is not valid. `ai` 5.0.0 does not know this chunk, so replies never contain it.
    ToolInputError = "tool-input-error" {
        /// The id of the call.
        tool_call_id: String [always],
        /// The tool.
        tool_name: String [always],
        /// The input.
        input: Json [always],
        /// The error.
        error_text: String [always, hidden],
        /// `true` if the page has no type for the tool.
        dynamic: bool,
    }
    /// The output of a tool call.
    ToolOutputAvailable = "tool-output-available" {
        /// The id of the call.
        tool_call_id: String [always],
        /// The output.
        output: Json [always],
        /// `true` if the server ran the tool.
        provider_executed: bool,
        /// `true` if the page has no type for the tool. The value must be the same as in the call; otherwise `ai` 5.0.0
        /// does not find the call.
        dynamic: bool,
    }
    /// The failure of a tool call.
    ToolOutputError = "tool-output-error" {
        /// The id of the call.
        tool_call_id: String [always],
        /// The error.
        error_text: String [always, hidden],
        /// `true` if the server ran the tool.
        provider_executed: bool,
        /// `true` if the page has no type for the tool.
        dynamic: bool,
    }
    /// A question whether a tool call may run. Known from `ai` 6 on.
    ToolApprovalRequest = "tool-approval-request" {
        /// The id of the question.
        approval_id: String [always],
        /// The id of the call.
        tool_call_id: String [always],
    }
    /// The end of a tool call that the user denied. Known from `ai` 6 on.
    ToolOutputDenied = "tool-output-denied" {
        /// The id of the call.
        tool_call_id: String [always],
    }
    /// Metadata of the message.
    MessageMetadata = "message-metadata" [new = "Creates metadata: a JSON object."] {
        /// The metadata, which the page merges with the message's earlier metadata.
        metadata: Json [name = "messageMetadata", always, new],
    }
    /// The end of a step.
    FinishStep = "finish-step" {}
    /// The end of a complete reply.
    Finish = "finish" {
        /// The reason: `stop`, `length`, `content-filter`, `tool-calls`, `error` or `other`. Versions before 5.0.93
        /// reject it.
        finish_reason: Option<String>,
        /// Metadata of the message.
        metadata: Option<Json> [name = "messageMetadata"],
    }
    /// The end of a failed reply.
    Error = "error" [new = "Creates the end of a reply that failed."] {
        /// A message for the user.
        error_text: String [always, hidden, new],
    }
    /// The end of a cancelled reply.
    Abort = "abort" {}
}

impl ToolInputAvailable {
    /// Creates the output of this call.
    pub fn output(&self, output: Json) -> ToolOutputAvailable {
        ToolOutputAvailable {
            tool_call_id: self.tool_call_id.clone(),
            output,
            provider_executed: self.provider_executed,
            dynamic: self.dynamic,
            unknown: Members::new(),
        }
    }

    /// Creates the failure of this call.
    pub fn failure(&self, error_text: impl Into<String>) -> ToolOutputError {
        ToolOutputError {
            tool_call_id: self.tool_call_id.clone(),
            error_text: error_text.into(),
            provider_executed: self.provider_executed,
            dynamic: self.dynamic,
            unknown: Members::new(),
        }
    }
}
