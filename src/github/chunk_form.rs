//! The two forms of a text chunk.

/// The form of the text chunks in a reply. The platform accepts both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChunkForm {
    /// The form of GitHub's SDK: only `choices`.
    #[default]
    Short,
    /// The form of GitHub's documentation, which OpenAI clients require: with `id`, `object`,
    /// `created` and `model`. All chunks of a reply have the same id, because github.com attributes
    /// an answer with several ids to Copilot instead of the agent.
    Full,
}
