//! One chunk of a streamed completion.

use serde::{Serialize, Serializer};

use super::{Delta, FinishReason, Logprobs, Usage, read};
use crate::json::{JsonError, Members, Reader};

/// One chunk of a streamed completion.
///
/// It is what an agent sends and what a client's decoder hands out. In a reply the reply's own
/// `id`, `created` and `model` are written, whatever the chunk says, so that they stay the same
/// from the first chunk to the last.
///
/// ```
/// use copilot_wire::openai::{ChatCompletionChunk, Delta, Usage};
///
/// let text = ChatCompletionChunk::from(Delta::text("Hello"));
/// assert_eq!(text.text(), Some("Hello"));
/// let usage = ChatCompletionChunk::from(Usage::new(19, 10));
/// assert!(usage.choices.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ChatCompletionChunk {
    /// The id of the completion.
    pub id: Option<String>,
    /// When it began, in seconds since 1970.
    pub created: Option<u64>,
    /// The model that answers.
    pub model: Option<String>,
    /// What is added to each choice. Empty in the chunk with the usage; `null` is read as empty.
    pub choices: Vec<Choice>,
    /// What the answer cost.
    pub usage: Option<Usage>,
    /// The configuration that the model ran with.
    pub system_fingerprint: Option<String>,
    /// How the request was served.
    pub service_tier: Option<String>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl ChatCompletionChunk {
    /// The value of the member `object`.
    pub(super) const OBJECT: &'static str = "chat.completion.chunk";

    /// A chunk that adds to choices.
    #[must_use]
    pub fn new(choices: Vec<Choice>) -> Self {
        Self {
            choices,
            ..Self::default()
        }
    }

    /// The piece of the answer that it adds to the first choice.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        let mut choices = self.choices.iter();
        choices
            .find(|choice| choice.index == 0)?
            .delta
            .content
            .as_deref()
    }

    /// Reads a chunk. What is missing or `null` is left out: `choices`, and the whole head in the
    /// short form that GitHub's SDK writes.
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let mut chunk = Self::default();
        reader.object_keeping(&mut chunk.unknown, |reader, key| {
            match &*key {
                "id" => chunk.id = read::string(reader)?,
                // It says nothing, and is written in any case.
                "object" => reader.skip()?,
                "created" => chunk.created = read::u64(reader)?,
                "model" => chunk.model = read::string(reader)?,
                "choices" => {
                    chunk.choices = read::list(reader, Choice::read)?.unwrap_or_default();
                }
                "usage" => chunk.usage = read::object(reader, Usage::read)?,
                "system_fingerprint" => chunk.system_fingerprint = read::string(reader)?,
                "service_tier" => chunk.service_tier = read::string(reader)?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(chunk)
    }
}

impl From<Delta> for ChatCompletionChunk {
    fn from(delta: Delta) -> Self {
        Choice::new(0, delta).into()
    }
}

impl From<Choice> for ChatCompletionChunk {
    fn from(choice: Choice) -> Self {
        Self::new(vec![choice])
    }
}

impl From<Usage> for ChatCompletionChunk {
    fn from(usage: Usage) -> Self {
        Self {
            usage: Some(usage),
            ..Self::default()
        }
    }
}

impl Serialize for ChatCompletionChunk {
    /// In the order of the official API, with `object`, without what is absent.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Wire<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            id: &'a Option<String>,
            object: &'static str,
            #[serde(skip_serializing_if = "Option::is_none")]
            created: Option<u64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            model: &'a Option<String>,
            #[serde(skip_serializing_if = "Option::is_none")]
            service_tier: &'a Option<String>,
            #[serde(skip_serializing_if = "Option::is_none")]
            system_fingerprint: &'a Option<String>,
            choices: &'a [Choice],
            #[serde(skip_serializing_if = "Option::is_none")]
            usage: &'a Option<Usage>,
            #[serde(flatten)]
            unknown: &'a Members,
        }
        let wire = Wire {
            id: &self.id,
            object: Self::OBJECT,
            created: self.created,
            model: &self.model,
            service_tier: &self.service_tier,
            system_fingerprint: &self.system_fingerprint,
            choices: &self.choices,
            usage: &self.usage,
            unknown: &self.unknown,
        };
        wire.serialize(serializer)
    }
}

/// What a chunk adds to one choice.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Choice {
    /// Which of the choices; they may be interleaved.
    pub index: u32,
    /// What is added.
    pub delta: Delta,
    /// How likely its tokens were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<Logprobs>,
    /// Why the choice ended, in its last chunk. The empty text that some servers send where `null`
    /// belongs is read as none.
    pub finish_reason: Option<FinishReason>,
    /// Members that this crate does not know.
    #[serde(flatten)]
    pub unknown: Members,
}

impl Choice {
    /// An addition to a choice.
    #[must_use]
    pub fn new(index: u32, delta: Delta) -> Self {
        Self {
            index,
            delta,
            ..Self::default()
        }
    }

    /// Ends the choice.
    #[must_use]
    pub fn finish(mut self, reason: FinishReason) -> Self {
        self.finish_reason = Some(reason);
        self
    }

    /// Says how likely the tokens were.
    #[must_use]
    pub fn logprobs(mut self, logprobs: Logprobs) -> Self {
        self.logprobs = Some(logprobs);
        self
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let mut choice = Self::default();
        reader.object_keeping(&mut choice.unknown, |reader, key| {
            match &*key {
                "index" => choice.index = read::index(reader)?,
                "delta" => {
                    choice.delta = read::object(reader, Delta::read)?.unwrap_or_default();
                }
                "logprobs" => choice.logprobs = read::object(reader, Logprobs::read)?,
                "finish_reason" => choice.finish_reason = finish_reason(reader)?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(choice)
    }
}

pub(super) fn finish_reason(reader: &mut Reader<'_>) -> Result<Option<FinishReason>, JsonError> {
    let name = read::string(reader)?;
    Ok(name.and_then(|name| FinishReason::from_name(&name)))
}
