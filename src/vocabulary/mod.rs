//! The vocabulary of agents: the values that they say and read in every protocol, without clock, I/O or state.

mod answer_options;
mod attachment;
pub(crate) mod base64;
mod capabilities;
mod content;
pub(crate) mod contents;
pub(crate) mod data;
mod delta;
mod error;
mod history;
pub(crate) mod markdown;
mod notice;
mod one_line;
mod part;
pub(crate) mod redacted;
mod refusal;
#[allow(dead_code, reason = "not every protocol has arguments to check")]
pub(crate) mod schema;
mod usage;
mod user;
mod wrapping;

pub use answer_options::{AnswerOptions, ToolChoice};
pub use attachment::{Attachment, AttachmentContent, AttachmentKind};
pub use capabilities::Capabilities;
pub use content::{Content, ContentPart};
pub use contents::Contents;
#[allow(
    unused_imports,
    reason = "not every protocol has types that retain values"
)]
pub(crate) use contents::odd_lines;
pub use delta::{CallDelta, CallForm, Delta, Native, NativeForm};
pub use error::{AgentError, ContextTooLong, EventError, Failure, ModelFault, SendError};
pub use history::{
    AnswerFormat, AnswerSchema, Call, Document, HistoryItem, Message, Purpose, RawMessage, Role,
    Tool, ToolResult,
};
pub use markdown::escape_markdown;
pub use notice::{Cut, Notice};
pub use one_line::OneLine;
pub use part::{
    Chart, ChartKind, Citation, Confirmation, Level, Part, Question, Status, Table, ToolCall,
    ToolRun,
};
pub use redacted::RedactedUrl;
pub(crate) use refusal::MAX_HEADERS;
pub use refusal::Refusal;
pub use usage::Usage;
pub use user::User;
