//! Token usage.

use crate::json::{Json, Members, Wire};
use crate::protocol;

/// The token usage of an answer.
///
/// If it is sent with `reply.send(usage)`, it is buffered and written after the finish reasons, if
/// requested. The last one counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent, complete = complete)]
pub struct Usage {
    /// The number of tokens in the request.
    #[wire(always)]
    pub prompt_tokens: u64,
    /// The number of tokens in the answer.
    #[wire(always)]
    pub completion_tokens: u64,
    /// The sum of both.
    #[wire(always)]
    pub total_tokens: u64,
    /// The parts of the tokens in the request, such as `cached_tokens`: an object.
    pub prompt_tokens_details: Option<Json>,
    /// The parts of the tokens in the answer, such as `reasoning_tokens`: an object.
    pub completion_tokens_details: Option<Json>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl Usage {
    /// Creates a usage from the numbers of tokens in the request and in the answer.
    pub fn new(prompt_tokens: u64, completion_tokens: u64) -> Self {
        Self {
            prompt_tokens,
            completion_tokens,
            total_tokens: prompt_tokens.saturating_add(completion_tokens),
            ..Self::default()
        }
    }

    /// Sets the number of tokens in the request that came from a cache.
    #[must_use]
    pub fn cached(mut self, tokens: u64) -> Self {
        add(&mut self.prompt_tokens_details, "cached_tokens", tokens);
        self
    }

    /// Sets the number of tokens in the request that went to a cache.
    #[must_use]
    pub fn cache_written(mut self, tokens: u64) -> Self {
        add(
            &mut self.prompt_tokens_details,
            "cache_write_tokens",
            tokens,
        );
        self
    }

    /// Sets the number of tokens in the answer that were used for reasoning.
    #[must_use]
    pub fn reasoning(mut self, tokens: u64) -> Self {
        add(
            &mut self.completion_tokens_details,
            "reasoning_tokens",
            tokens,
        );
        self
    }

    /// Returns the number of tokens in the request that came from a cache.
    pub fn cached_tokens(&self) -> Option<u64> {
        let details = self.prompt_tokens_details.as_ref()?;
        details.get("cached_tokens")?.as_u64()
    }

    /// Returns the number of tokens in the request that went to a cache.
    pub fn cache_write_tokens(&self) -> Option<u64> {
        let details = self.prompt_tokens_details.as_ref()?;
        details.get("cache_write_tokens")?.as_u64()
    }

    /// Returns the number of tokens in the answer that were used for reasoning.
    pub fn reasoning_tokens(&self) -> Option<u64> {
        let details = self.completion_tokens_details.as_ref()?;
        details.get("reasoning_tokens")?.as_u64()
    }

    /// Sets the sum if a server omitted it.
    fn complete(&mut self) {
        if self.total_tokens == 0 {
            self.total_tokens = self.prompt_tokens.saturating_add(self.completion_tokens);
        }
    }
}

impl From<protocol::Usage> for Usage {
    fn from(usage: protocol::Usage) -> Self {
        let mut all = Self::new(usage.input_tokens, usage.output_tokens);
        if usage.cached_input_tokens > 0 {
            all = all.cached(usage.cached_input_tokens);
        }
        if usage.cache_write_tokens > 0 {
            all = all.cache_written(usage.cache_write_tokens);
        }
        if usage.reasoning_tokens > 0 {
            all = all.reasoning(usage.reasoning_tokens);
        }
        all
    }
}

impl From<&Usage> for protocol::Usage {
    fn from(usage: &Usage) -> Self {
        Self::new(usage.prompt_tokens, usage.completion_tokens)
            .cached_input_tokens(usage.cached_tokens().unwrap_or_default())
            .cache_write_tokens(usage.cache_write_tokens().unwrap_or_default())
            .reasoning_tokens(usage.reasoning_tokens().unwrap_or_default())
    }
}

/// Sets a member of an object of details.
fn add(details: &mut Option<Json>, name: &'static str, tokens: u64) {
    let known = details.iter().flat_map(Json::members);
    let mut members: Members = known.filter(|(key, _)| *key != name).collect();
    members.push(name, tokens.to_raw());
    *details = Some(members.to_raw());
}
