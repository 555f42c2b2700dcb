//! Skills: instructions that the user wrote in the Workspace.

use crate::json::{Members, Wire};

/// A skill that can be fetched with `get_skill_content`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(never_empty, rename_all = "camelCase")]
pub struct SkillSummary {
    /// The id.
    pub slug: String,
    /// The description.
    pub description: String,
    /// The time of the last change.
    pub updated_at: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// A skill with its content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(never_empty, rename_all = "camelCase")]
pub struct SelectedSkill {
    /// The id.
    pub slug: String,
    /// The description.
    pub description: String,
    /// The instructions.
    pub content_markdown: String,
    /// The origin of the selection: `forced_slash` for the user, `model_selected` for the agent.
    pub source: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}
