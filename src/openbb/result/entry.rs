//! The kinds of entry in a result.

use super::Item;
use crate::json::model::{Field, model};
use crate::json::{Json, List, Members};
use crate::openbb::Citation;
use crate::openbb::request::SelectedSkill;

/// Data: texts, tables and files.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Items {
    /// The items.
    pub items: List<Item>,
    /// Citations for the agent to pass on.
    pub extra_citations: List<Citation>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(Items {
    items: "items",
    extra_citations: "extra_citations"
});

/// A failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorResult {
    /// Its kind: `not_found`, `gateway_error`, `unexpected_error`, or another one.
    pub error_type: String,
    /// What went wrong.
    pub content: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(ErrorResult {
    error_type: "error_type",
    content: "content"
});

/// What became of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandResult {
    /// `success`, `error` or `warning`.
    pub status: String,
    /// More about it.
    pub message: String,
    /// What the command gave.
    pub data: Option<Json>,
    /// Members that this crate does not know or cannot read, such as `widget_uuid`.
    pub unknown: Members,
}

model!(CommandResult {
    status: "status",
    message: "message",
    data: "data"
});

impl CommandResult {
    /// The result of the newest front ends that is nested in this one.
    #[must_use]
    pub fn bridge(&self) -> Option<BridgeResult> {
        let data = self.data.as_ref()?;
        let is_bridge = data.get("ok").is_some() && data.get("command").is_some();
        is_bridge.then(|| BridgeResult::from_raw(data)).flatten()
    }

    /// The skill that `get_skill_content` fetched.
    #[must_use]
    pub fn skill(&self) -> Option<SelectedSkill> {
        SelectedSkill::from_raw(&self.data.as_ref()?.get("skill")?)
    }

    /// The widget that was made, for `add_generative_widget` and `add_widget_to_dashboard`.
    #[must_use]
    pub fn widget_uuid(&self) -> Option<String> {
        let inside = |json: &Json| json.get("widget_uuid");
        let own = self.unknown.get("widget_uuid").cloned();
        let found = own
            .or_else(|| inside(self.data.as_ref()?))
            .or_else(|| inside(&self.bridge()?.data?))?;
        found.string().map(Into::into)
    }
}

/// What became of a command, in the words of the newest front ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BridgeResult {
    /// Whether it went well.
    pub ok: bool,
    /// The command.
    pub command: String,
    /// The id of the request, where there is one.
    pub request_id: String,
    /// More about it.
    pub message: String,
    /// What the command gave.
    pub data: Option<Json>,
    /// Why it failed.
    pub error: Option<BridgeError>,
    /// Things to know.
    pub warnings: List<Json>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(BridgeResult {
    ok: "ok",
    command: "command",
    request_id: "request_id",
    message: "message",
    data: "data",
    error: "error",
    warnings: "warnings",
});

/// Why a command failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BridgeError {
    /// A short name of the failure.
    pub code: String,
    /// What went wrong.
    pub message: String,
    /// More about it.
    pub details: Option<Json>,
    /// Whether to try again.
    pub retryable: bool,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(BridgeError {
    code: "code",
    message: "message",
    details: "details",
    retryable: "retryable",
});
