//! The chunks of a stream.

use crate::json::{Json, Members};
use crate::protocol::typed::payloads;

payloads! {
    {}

    /// The beginning of a reply.
    Start = "start" {
        /// The id of the message: that of the assistant's last message if the reply continues it.
        message_id: Option<String> = "messageId",
        /// Metadata of the message.
        metadata: Option<Json> = "messageMetadata",
    }
    /// The beginning of a step. Pages look for finished tools in the last step only.
    StartStep = "start-step" {}
    /// The beginning of a block of text.
    TextStart = "text-start" {
        /// The id of the block.
        id: String = "id" always,
    }
    /// A piece of text.
    TextDelta = "text-delta" {
        /// The id of the block, which is open.
        id: String = "id" always,
        /// The piece.
        delta: String = "delta" always,
    }
    /// The end of a block of text.
    TextEnd = "text-end" {
        /// The id of the block.
        id: String = "id" always,
    }
    /// The beginning of a block of reasoning.
    ReasoningStart = "reasoning-start" {
        /// The id of the block.
        id: String = "id" always,
    }
    /// A piece of reasoning.
    ReasoningDelta = "reasoning-delta" {
        /// The id of the block, which is open.
        id: String = "id" always,
        /// The piece.
        delta: String = "delta" always,
    }
    /// The end of a block of reasoning.
    ReasoningEnd = "reasoning-end" {
        /// The id of the block.
        id: String = "id" always,
    }
    /// A source with an address.
    SourceUrl = "source-url" {
        /// The id of the source.
        source_id: String = "sourceId" always,
        /// The address. Pages make it a link: never pass on one that is not `http` or `https`.
        url: String = "url" always,
        /// The title.
        title: Option<String> = "title",
    }
    /// A source without an address.
    SourceDocument = "source-document" {
        /// The id of the source.
        source_id: String = "sourceId" always,
        /// The media type.
        media_type: String = "mediaType" always,
        /// The title.
        title: String = "title" always,
        /// The file name.
        filename: Option<String> = "filename",
    }
    /// A file that the reply holds.
    File = "file" {
        /// The URL of the file; it may be a `data:` URL.
        url: String = "url" always,
        /// The media type.
        media_type: String = "mediaType" always,
    }
    /// The beginning of a tool call, before its input.
    ToolInputStart = "tool-input-start" {
        /// The id of the call.
        tool_call_id: String = "toolCallId" always,
        /// The tool.
        tool_name: String = "toolName" always,
        /// `true` if the server runs the tool.
        provider_executed: bool = "providerExecuted",
        /// `true` if the page has no type for the tool.
        dynamic: bool = "dynamic",
    }
    /// A piece of the input of a tool call, as JSON text.
    ToolInputDelta = "tool-input-delta" {
        /// The id of the call, which has started.
        tool_call_id: String = "toolCallId" always,
        /// The piece.
        input_text_delta: String = "inputTextDelta" always,
    }
    /// A tool call with all of its input.
    ToolInputAvailable = "tool-input-available" {
        /// The id of the call.
        tool_call_id: String = "toolCallId" always,
        /// The tool.
        tool_name: String = "toolName" always,
        /// The input.
        input: Json = "input" always,
        /// `true` if the server runs the tool and the page does not.
        provider_executed: bool = "providerExecuted",
        /// `true` if the page has no type for the tool.
        dynamic: bool = "dynamic",
    }
    /// A tool call whose input is not valid. `ai` 5.0.0 does not know this chunk, so replies never
    /// hold it.
    ToolInputError = "tool-input-error" {
        /// The id of the call.
        tool_call_id: String = "toolCallId" always,
        /// The tool.
        tool_name: String = "toolName" always,
        /// The input.
        input: Json = "input" always,
        /// The error.
        error_text: String = "errorText" always,
        /// `true` if the page has no type for the tool.
        dynamic: bool = "dynamic",
    }
    /// The output of a tool call.
    ToolOutputAvailable = "tool-output-available" {
        /// The id of the call.
        tool_call_id: String = "toolCallId" always,
        /// The output.
        output: Json = "output" always,
        /// `true` if the server ran the tool.
        provider_executed: bool = "providerExecuted",
        /// `true` if the page has no type for the tool. It must be as in the call: `ai` 5.0.0 does not
        /// find the call otherwise.
        dynamic: bool = "dynamic",
    }
    /// The failure of a tool call.
    ToolOutputError = "tool-output-error" {
        /// The id of the call.
        tool_call_id: String = "toolCallId" always,
        /// The error.
        error_text: String = "errorText" always,
        /// `true` if the server ran the tool.
        provider_executed: bool = "providerExecuted",
        /// `true` if the page has no type for the tool.
        dynamic: bool = "dynamic",
    }
    /// A question whether a tool call may be made. Known from `ai` 6 on.
    ToolApprovalRequest = "tool-approval-request" {
        /// The id of the question.
        approval_id: String = "approvalId" always,
        /// The id of the call.
        tool_call_id: String = "toolCallId" always,
    }
    /// The end of a tool call that the user denied. Known from `ai` 6 on.
    ToolOutputDenied = "tool-output-denied" {
        /// The id of the call.
        tool_call_id: String = "toolCallId" always,
    }
    /// Metadata of the message.
    MessageMetadata = "message-metadata" {
        /// The metadata, which the page merges with what it has.
        metadata: Json = "messageMetadata" always,
    }
    /// The end of a step.
    FinishStep = "finish-step" {}
    /// The end of a reply that is complete.
    Finish = "finish" {
        /// Metadata of the message.
        metadata: Option<Json> = "messageMetadata",
    }
    /// The end of a reply that failed.
    Error = "error" {
        /// A message for the user.
        error_text: String = "errorText" always,
    }
    /// The end of a reply that was cancelled.
    Abort = "abort" {}
}

impl TextDelta {
    /// Creates a piece of text of a block.
    #[must_use]
    pub fn new(id: impl Into<String>, delta: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            delta: delta.into(),
            ..Self::default()
        }
    }
}

impl SourceUrl {
    /// Creates a source with an address.
    #[must_use]
    pub fn new(source_id: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            source_id: source_id.into(),
            url: url.into(),
            ..Self::default()
        }
    }

    /// Sets the title.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }
}

impl SourceDocument {
    /// Creates a source without an address.
    #[must_use]
    pub fn new(
        source_id: impl Into<String>,
        media_type: impl Into<String>,
        title: impl Into<String>,
    ) -> Self {
        Self {
            source_id: source_id.into(),
            media_type: media_type.into(),
            title: title.into(),
            ..Self::default()
        }
    }
}

impl File {
    /// Creates a file from its address and its media type.
    #[must_use]
    pub fn new(url: impl Into<String>, media_type: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            media_type: media_type.into(),
            ..Self::default()
        }
    }
}

impl ToolInputAvailable {
    /// Creates a call of a tool that the page runs.
    #[must_use]
    pub fn new(tool_call_id: impl Into<String>, tool_name: impl Into<String>, input: Json) -> Self {
        Self {
            tool_call_id: tool_call_id.into(),
            tool_name: tool_name.into(),
            input,
            ..Self::default()
        }
    }

    /// Sets that the server runs the tool.
    #[must_use]
    pub fn provider_executed(mut self) -> Self {
        self.provider_executed = true;
        self
    }

    /// Sets that the page has no type for the tool.
    #[must_use]
    pub fn dynamic(mut self) -> Self {
        self.dynamic = true;
        self
    }

    /// Creates the output of this call.
    #[must_use]
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
    #[must_use]
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

impl MessageMetadata {
    /// Creates metadata: a JSON object.
    #[must_use]
    pub fn new(metadata: Json) -> Self {
        Self {
            metadata,
            unknown: Members::new(),
        }
    }
}

impl Error {
    /// Creates the end of a reply that failed.
    #[must_use]
    pub fn new(error_text: impl Into<String>) -> Self {
        Self {
            error_text: error_text.into(),
            unknown: Members::new(),
        }
    }
}
