//! A whole completion: the answer to a request without `stream`.

use bytes::Bytes;
use serde::{Serialize, Serializer};

use super::chunk::finish_reason;
use super::{ChatMessage, FinishReason, Logprobs, ToolCall, Usage, read};
use crate::json::{Escape, JsonError, Members, Reader, write};

/// A whole completion.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ChatCompletion {
    /// The id of the completion.
    pub id: String,
    /// When it began, in seconds since 1970.
    pub created: u64,
    /// The model that answered.
    pub model: String,
    /// The answers.
    pub choices: Vec<CompletedChoice>,
    /// What they cost.
    pub usage: Option<Usage>,
    /// The configuration that the model ran with.
    pub system_fingerprint: Option<String>,
    /// How the request was served.
    pub service_tier: Option<String>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// One answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CompletedChoice {
    /// Which of the choices.
    pub index: u32,
    /// The answer.
    pub message: ChatMessage,
    /// How likely its tokens were.
    pub logprobs: Option<Logprobs>,
    /// Why it ended; `None` when its stream was cut.
    pub finish_reason: Option<FinishReason>,
    /// Members that this crate does not know.
    #[serde(flatten)]
    pub unknown: Members,
}

impl ChatCompletion {
    /// The first answer.
    #[must_use]
    pub fn message(&self) -> Option<&ChatMessage> {
        self.choices.first().map(|choice| &choice.message)
    }

    /// The calls of the first answer.
    #[must_use]
    pub fn calls(&self) -> &[ToolCall] {
        self.message()
            .map_or(&[], |message| message.tool_calls.as_slice())
    }

    /// Whether every answer came to its end, and there is one.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let mut choices = self.choices.iter();
        !self.choices.is_empty() && choices.all(|choice| choice.finish_reason.is_some())
    }

    /// Reads the body of a response.
    ///
    /// # Errors
    ///
    /// [`JsonError`] when it is not a JSON object. It may be an
    /// [`ErrorObject`](super::ErrorObject): look at the status first.
    pub fn read(body: &Bytes) -> Result<Self, JsonError> {
        let mut completion = Self::default();
        let mut reader = Reader::new(body)?;
        reader.object_keeping(&mut completion.unknown, |reader, key| {
            match &*key {
                "id" => completion.id = read::string(reader)?.unwrap_or_default(),
                // It says nothing, and is written in any case.
                "object" => reader.skip()?,
                "created" => completion.created = read::u64(reader)?.unwrap_or_default(),
                "model" => completion.model = read::string(reader)?.unwrap_or_default(),
                "choices" => {
                    let choices = read::list(reader, CompletedChoice::read)?;
                    completion.choices = choices.unwrap_or_default();
                }
                "usage" => completion.usage = read::object(reader, Usage::read)?,
                "system_fingerprint" => completion.system_fingerprint = read::string(reader)?,
                "service_tier" => completion.service_tier = read::string(reader)?,
                _ => {}
            }
            Ok(())
        })?;
        reader.end()?;
        Ok(completion)
    }

    /// The completion as JSON, for a server to send.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::new();
        // Models of this crate serialise.
        let _ = write(self, Escape::JsonAndSeparators, &mut out);
        out
    }
}

impl Serialize for ChatCompletion {
    /// In the order of the official API, with `object`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Wire<'a> {
            id: &'a str,
            object: &'static str,
            created: u64,
            model: &'a str,
            choices: &'a [CompletedChoice],
            #[serde(skip_serializing_if = "Option::is_none")]
            usage: &'a Option<Usage>,
            #[serde(skip_serializing_if = "Option::is_none")]
            service_tier: &'a Option<String>,
            #[serde(skip_serializing_if = "Option::is_none")]
            system_fingerprint: &'a Option<String>,
            #[serde(flatten)]
            unknown: &'a Members,
        }
        let wire = Wire {
            id: &self.id,
            object: "chat.completion",
            created: self.created,
            model: &self.model,
            choices: &self.choices,
            usage: &self.usage,
            service_tier: &self.service_tier,
            system_fingerprint: &self.system_fingerprint,
            unknown: &self.unknown,
        };
        wire.serialize(serializer)
    }
}

impl CompletedChoice {
    fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let mut choice = Self::default();
        reader.object_keeping(&mut choice.unknown, |reader, key| {
            match &*key {
                "index" => choice.index = read::index(reader)?,
                "message" => {
                    let message = read::object(reader, ChatMessage::read)?;
                    choice.message = message.unwrap_or_default();
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
