//! What an answer cost.

use serde::Serialize;

use super::{kept, read};
use crate::json::{Json, JsonError, Members, ObjectWriter, Reader};

/// How many tokens an answer took.
///
/// Sent with `reply.send(usage)`, it is kept and written behind the finish chunk, if the request
/// asked for it; the last one sent counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens of the request.
    pub prompt_tokens: u64,
    /// Tokens of the answer.
    pub completion_tokens: u64,
    /// Both together.
    pub total_tokens: u64,
    /// What the tokens of the request were, such as `cached_tokens`. An object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_tokens_details: Option<Json>,
    /// What the tokens of the answer were, such as `reasoning_tokens`. An object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_tokens_details: Option<Json>,
    /// Members that this crate does not know.
    #[serde(flatten)]
    pub unknown: Members,
}

impl Usage {
    /// The tokens of the request and of the answer.
    #[must_use]
    pub fn new(prompt_tokens: u64, completion_tokens: u64) -> Self {
        Self {
            prompt_tokens,
            completion_tokens,
            total_tokens: prompt_tokens.saturating_add(completion_tokens),
            ..Self::default()
        }
    }

    /// Sets how many tokens of the request came out of a cache.
    #[must_use]
    pub fn cached(mut self, tokens: u64) -> Self {
        self.prompt_tokens_details = Some(detail("cached_tokens", tokens));
        self
    }

    /// Sets how many tokens of the answer were spent on reasoning.
    #[must_use]
    pub fn reasoning(mut self, tokens: u64) -> Self {
        self.completion_tokens_details = Some(detail("reasoning_tokens", tokens));
        self
    }

    /// How many tokens of the request came out of a cache.
    #[must_use]
    pub fn cached_tokens(&self) -> Option<u64> {
        let details = self.prompt_tokens_details.as_ref()?;
        details.get("cached_tokens")?.as_u64()
    }

    /// How many tokens of the answer were spent on reasoning.
    #[must_use]
    pub fn reasoning_tokens(&self) -> Option<u64> {
        let details = self.completion_tokens_details.as_ref()?;
        details.get("reasoning_tokens")?.as_u64()
    }

    /// A copy that keeps nothing of its event.
    pub(super) fn detached(&self) -> Self {
        let mut usage = self.clone();
        kept::detach(&mut usage.unknown);
        for details in [
            &mut usage.prompt_tokens_details,
            &mut usage.completion_tokens_details,
        ] {
            *details = details.as_ref().map(kept::own);
        }
        usage
    }

    /// About how much memory it takes.
    pub(super) fn weight(&self) -> usize {
        let details = [&self.prompt_tokens_details, &self.completion_tokens_details];
        let details = details.into_iter().flatten();
        size_of::<Self>()
            + kept::weigh(&self.unknown)
            + details.map(|json| json.as_bytes().len()).sum::<usize>()
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let mut usage = Self::default();
        let mut total = None;
        reader.object_keeping(&mut usage.unknown, |reader, key| {
            match &*key {
                "prompt_tokens" => {
                    usage.prompt_tokens = read::u64(reader)?.unwrap_or_default();
                }
                "completion_tokens" => {
                    usage.completion_tokens = read::u64(reader)?.unwrap_or_default();
                }
                "total_tokens" => total = read::u64(reader)?,
                "prompt_tokens_details" => {
                    usage.prompt_tokens_details = read::object(reader, Reader::value)?;
                }
                "completion_tokens_details" => {
                    usage.completion_tokens_details = read::object(reader, Reader::value)?;
                }
                _ => {}
            }
            Ok(())
        })?;
        let sum = usage.prompt_tokens.saturating_add(usage.completion_tokens);
        usage.total_tokens = total.unwrap_or(sum);
        Ok(usage)
    }
}

fn detail(name: &'static str, tokens: u64) -> Json {
    let mut out = Vec::new();
    let mut details = ObjectWriter::new(&mut out, crate::json::Escape::Json);
    details.u64(name, tokens);
    details.finish();
    // An object with one number is JSON.
    Json::parse(out).unwrap_or_default()
}
