//! Steps: progress of the work.

use serde::Serialize;

use super::Artifact;
use super::details::{Filter, detail};
use crate::json::{Json, List, Members, Wire, WriteError};

/// The severity of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum EventType {
    /// An ordinary step.
    #[default]
    #[wire(name = "INFO")]
    Info,
    /// A warning.
    #[wire(name = "WARNING")]
    Warning,
    /// A failure. The Workspace also deletes the latest call and its result from the chat.
    #[wire(name = "ERROR")]
    Error,
    /// A severity that this crate does not know.
    #[wire(other)]
    Other(String),
}

/// A step of the work, displayed beside the answer.
///
/// It closes the current message of the answer: text after it starts a new one.
///
/// ```
/// use copilot_wire::json::Wire as _;
/// use copilot_wire::openbb::StatusUpdate;
/// use serde_json::json;
///
/// // `id` is one of the keys that the Workspace must not see.
/// let step = StatusUpdate::info("Loaded").detail(&json!({"Rows": 3, "id": "x"}))?;
/// assert_eq!(
///     step.to_json(),
///     r#"{"eventType":"INFO","message":"Loaded","group":"reasoning","details":[{"Rows":3}],"hidden":false}"#,
/// );
/// # Ok::<(), copilot_wire::json::WriteError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Wire)]
#[non_exhaustive]
#[wire(rename_all = "camelCase")]
#[must_use]
pub struct StatusUpdate {
    /// The severity of the step.
    #[wire(always)]
    pub event_type: EventType,
    /// A description in a few words.
    #[wire(always)]
    pub message: String,
    /// `reasoning`; the Workspace ignores it.
    #[wire(always)]
    pub group: String,
    /// Details: texts, and objects whose members are displayed as names and values.
    pub details: Option<List<Json>>,
    /// Artifacts to display inside the step.
    pub artifacts: Option<List<Artifact>>,
    /// Set if the step is not displayed.
    #[wire(always, set = "Hides the step.")]
    pub hidden: bool,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl StatusUpdate {
    fn of(event_type: EventType, message: impl Into<String>) -> Self {
        Self {
            event_type,
            message: message.into(),
            group: "reasoning".into(),
            // The official SDK writes an empty array in place of an absent one.
            details: Some(List::new()),
            ..Self::default()
        }
    }

    /// Creates an ordinary step.
    pub fn info(message: impl Into<String>) -> Self {
        Self::of(EventType::Info, message)
    }

    /// Creates a warning.
    pub fn warning(message: impl Into<String>) -> Self {
        Self::of(EventType::Warning, message)
    }

    /// Creates a failure on which the Workspace deletes the latest call and its result from the
    /// chat. It is meant for a context overflow; use [`warning`](Self::warning) for all other
    /// failures.
    pub fn error_deleting_last_call(message: impl Into<String>) -> Self {
        Self::of(EventType::Error, message)
    }

    /// Adds a detail: a text, or an object whose members are displayed as names and values. Keys
    /// that are internal to the Workspace are removed.
    ///
    /// # Errors
    ///
    /// If the detail cannot be serialized as JSON.
    pub fn detail<T: Serialize + ?Sized>(mut self, value: &T) -> Result<Self, WriteError> {
        if let Some(detail) = detail(value, Filter::Status)? {
            self.details.get_or_insert_default().push(detail);
        }
        Ok(self)
    }

    /// Adds an artifact to display inside the step.
    pub fn artifact(mut self, artifact: Artifact) -> Self {
        self.artifacts.get_or_insert_default().push(artifact);
        self
    }
}
