//! The two forms of a text chunk.

/// The form of the text chunks in a reply. The platform takes both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChunkForm {
    /// The form of GitHub's SDK: `choices` and nothing else.
    #[default]
    Short,
    /// The form of GitHub's documentation, which ordinary OpenAI clients need: with `id`, `object`,
    /// `created` and `model`. All chunks of a reply have one id, because github.com attributes an
    /// answer with several to Copilot in place of the agent.
    Full,
}
