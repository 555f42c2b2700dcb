//! Settings of an answer that requests to models have in common.

use std::borrow::Cow;

use crate::json::Json;

/// The settings of an answer that a request to a model may contain, named as the model dialects name them.
///
/// Requests of most front ends contain none: only clients of models send settings. An agent that calls a model passes
/// them on; other agents ignore them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnswerOptions<'a> {
    /// The choice among the offered tools.
    pub tool_choice: ToolChoice<'a>,
    /// `false` if the model may make at most one call in an answer.
    pub parallel_calls: Option<bool>,
    /// The maximum number of tokens in the answer.
    pub max_tokens: Option<u64>,
    /// The temperature: a number.
    pub temperature: Option<Json>,
    /// The probability mass of nucleus sampling: a number.
    pub top_p: Option<Json>,
    /// The number of tokens to sample from.
    pub top_k: Option<Json>,
    /// The seed of the sampling.
    pub seed: Option<Json>,
    /// The penalty for tokens that have occurred in the text so far: a number.
    pub presence_penalty: Option<Json>,
    /// The penalty for tokens in proportion to how often they have occurred: a number.
    pub frequency_penalty: Option<Json>,
    /// The texts at which the answer ends.
    pub stop: Vec<Cow<'a, str>>,
    /// The effort of reasoning, such as `low`.
    pub effort: Option<Cow<'a, str>>,
    /// An opaque name of the user, by which the provider detects misuse.
    pub user: Option<Cow<'a, str>>,
    /// Names and values that the provider stores with the request: an object.
    pub metadata: Option<Json>,
}

/// The choice among the tools that a request offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice<'a> {
    /// The model decides.
    #[default]
    Auto,
    /// No tool may be called.
    None,
    /// At least one tool must be called.
    Required,
    /// The tool of this name must be called.
    Tool(Cow<'a, str>),
}

impl AnswerOptions<'_> {
    /// Returns the name of the user, unless it is longer than the 64 characters that all providers accept.
    pub fn user_id(&self) -> Option<&str> {
        self.user.as_deref().filter(|user| user.len() <= 64)
    }

    /// Returns the names of the settings that are present, in the order of the fields.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        [
            (self.tool_choice != ToolChoice::Auto, "tool_choice"),
            (self.parallel_calls.is_some(), "parallel_calls"),
            (self.max_tokens.is_some(), "max_tokens"),
            (self.temperature.is_some(), "temperature"),
            (self.top_p.is_some(), "top_p"),
            (self.top_k.is_some(), "top_k"),
            (self.seed.is_some(), "seed"),
            (self.presence_penalty.is_some(), "presence_penalty"),
            (self.frequency_penalty.is_some(), "frequency_penalty"),
            (!self.stop.is_empty(), "stop"),
            (self.effort.is_some(), "effort"),
            (self.user.is_some(), "user"),
            (self.metadata.is_some(), "metadata"),
        ]
        .into_iter()
        .filter_map(|(is_present, name)| is_present.then_some(name))
    }
}
