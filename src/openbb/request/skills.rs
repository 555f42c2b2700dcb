//! Skills: instructions that the user wrote in the Workspace.

use crate::json::Members;
use crate::json::model::model;

/// A skill that can be fetched with `get_skill_content`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
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

model!(SkillSummary {
    slug: "slug",
    description: "description",
    updated_at: "updatedAt"
});

/// A skill with its content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
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

model!(SelectedSkill {
    slug: "slug",
    description: "description",
    content_markdown: "contentMarkdown",
    source: "source",
});
