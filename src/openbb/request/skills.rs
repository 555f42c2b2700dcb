//! Skills: written instructions that the user keeps in the Workspace.

use crate::json::Members;
use crate::json::model::model;

/// A skill that can be fetched with `get_skill_content`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillSummary {
    /// Its id.
    pub slug: String,
    /// What it is for.
    pub description: String,
    /// When it was changed last.
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
    /// Its id.
    pub slug: String,
    /// What it is for.
    pub description: String,
    /// The instructions.
    pub content_markdown: String,
    /// Who picked it: `forced_slash` the user, `model_selected` the agent.
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
