//! The entries of a result.

use super::ResultItem;
use crate::json::{Json, List, Members, Wire};
use crate::openbb::Citation;
use crate::openbb::workspace::SelectedSkill;

/// Data: texts, tables and files.
#[derive(Clone, Debug, Default, PartialEq, Wire)]
#[non_exhaustive]
pub struct Items {
    /// The items.
    pub items: List<ResultItem>,
    /// Citations for the agent to pass on.
    pub extra_citations: List<Citation>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// The result of a call that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct ErrorResult {
    /// The type: `not_found`, `gateway_error`, `unexpected_error`, or another one.
    pub error_type: String,
    /// The message.
    pub content: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// The result of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct CommandResult {
    /// The status: `success`, `error` or `warning`.
    pub status: String,
    /// The message.
    pub message: String,
    /// The data that the command returned.
    pub data: Option<Json>,
    /// Members that this crate does not know or cannot read, such as `widget_uuid`.
    pub unknown: Members,
}

impl CommandResult {
    /// Returns the nested result of front ends since July 2026, if there is one.
    pub fn bridge(&self) -> Option<BridgeResult> {
        let data = self.data.as_ref()?;
        let is_bridge = data.get("ok").is_some() && data.get("command").is_some();
        is_bridge.then(|| BridgeResult::from_raw(data)).flatten()
    }

    /// Returns the skill that `get_skill_content` fetched.
    pub fn skill(&self) -> Option<SelectedSkill> {
        SelectedSkill::from_raw(&self.data.as_ref()?.get("skill")?)
    }

    /// Returns the id of the new widget, for `add_generative_widget` and `add_widget_to_dashboard`.
    pub fn widget_uuid(&self) -> Option<String> {
        let inside = |json: &Json| json.get("widget_uuid");
        // Front ends differ in the object that contains the id.
        let own = self.unknown.get("widget_uuid").cloned();
        let found = own
            .or_else(|| inside(self.data.as_ref()?))
            .or_else(|| inside(&self.bridge()?.data?))?;
        found.string().map(Into::into)
    }
}

/// The result of a command, in the form of front ends since July 2026.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct BridgeResult {
    /// Set if the command succeeded.
    pub ok: bool,
    /// The command.
    pub command: String,
    /// The id of the request; empty if there is none.
    pub request_id: String,
    /// The message.
    pub message: String,
    /// The data that the command returned.
    pub data: Option<Json>,
    /// The error of a failed command.
    pub error: Option<BridgeError>,
    /// Warnings.
    pub warnings: List<Json>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// The error of a failed command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct BridgeError {
    /// The code of the error.
    pub code: String,
    /// The message.
    pub message: String,
    /// Details in any form.
    pub details: Option<Json>,
    /// Set if a retry may succeed.
    pub retryable: bool,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}
