//! The query request.

use bytes::Bytes;
use http::StatusCode;

use crate::json::{JsonError, Kind, Members, Reader};
use crate::protocol::{self, Conversation, Refusal, Role};

/// A query request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueryRequest {
    /// The conversation, oldest message first. Never empty.
    pub messages: Vec<Message>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// One message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// `human`, `ai` or `tool`.
    pub role: String,
    /// The text.
    pub content: String,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl QueryRequest {
    pub(super) fn read(body: &Bytes) -> Result<Self, Refusal> {
        let mut request = Self::default();
        let mut reader = Reader::new(body)?;
        reader.object_keeping(&mut request.unknown, |reader, key| match &*key {
            "messages" if reader.is(Kind::Array) => reader.array(|reader, _| {
                if reader.is(Kind::Object) {
                    request.messages.push(Message::read(reader)?);
                }
                Ok(())
            }),
            _ => Ok(()),
        })?;
        reader.end()?;
        if request.messages.is_empty() {
            let refusal = Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "must not be empty");
            return Err(refusal.at("messages"));
        }
        Ok(request)
    }
}

impl Message {
    fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let mut message = Self::default();
        reader.object_keeping(&mut message.unknown, |reader, key| {
            match &*key {
                "role" => message.role = reader.string()?.unwrap_or_default().into_owned(),
                "content" => message.content = reader.string()?.unwrap_or_default().into_owned(),
                _ => {}
            }
            Ok(())
        })?;
        Ok(message)
    }
}

impl Conversation for QueryRequest {
    fn messages(&self) -> impl Iterator<Item = protocol::Message<'_>> + Send {
        self.messages.iter().map(|message| {
            let role = match message.role.as_str() {
                "human" => Role::User,
                "ai" => Role::Assistant,
                "tool" => Role::Tool,
                _ => Role::Other,
            };
            protocol::Message::new(role, message.content.as_str())
        })
    }
}
