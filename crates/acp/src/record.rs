//! The record of a turn: what the user saw, as it is stored and replayed.

use std::borrow::Cow;
use std::collections::HashMap;

use agent_client_protocol::RawJsonRpcResponse;
use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, MessageId, SessionUpdate, ToolCall, ToolCallId, ToolCallStatus,
};
use copilot_wire::protocol::{Call, FrameEvent as _, HistoryItem, Message, Role, ToolResult};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::reply::QUESTION;
use crate::{Event, prompt};

/// The maximum size of a turn's record in bytes. The rest of a longer answer is not recorded.
const LIMIT: usize = 8 * 1024 * 1024;

/// The record of a turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The user's prompt.
    pub(crate) prompt: Vec<ContentBlock>,
    /// Everything that the editor shows of the answer, with the pieces of each message joined.
    pub(crate) updates: Vec<SessionUpdate>,
}

impl Record {
    /// Returns the turn as a part of the conversation.
    pub(crate) fn items(&self) -> impl DoubleEndedIterator<Item = HistoryItem<'_>> + Send {
        let answer = self.updates.iter().flat_map(|update| match update {
            SessionUpdate::AgentMessageChunk(chunk) => vec![said(Role::Assistant, chunk)],
            SessionUpdate::UserMessageChunk(chunk) => vec![said(Role::User, chunk)],
            SessionUpdate::ToolCall(call) => called(call),
            _ => Vec::new(),
        });
        prompt::items(&self.prompt).chain(answer)
    }

    /// Returns the updates that show the turn again.
    pub(crate) fn replay(&self) -> impl Iterator<Item = SessionUpdate> {
        let prompt = self.prompt.iter().cloned();
        let prompt = prompt.map(|block| SessionUpdate::UserMessageChunk(ContentChunk::new(block)));
        prompt.chain(self.updates.iter().cloned())
    }
}

fn said(role: Role, chunk: &ContentChunk) -> HistoryItem<'_> {
    HistoryItem::Message(Message::new(
        role,
        prompt::text(std::slice::from_ref(&chunk.content)),
    ))
}

/// Returns a run of a tool as a call with its result, and a question as a question with its answer.
fn called(call: &ToolCall) -> Vec<HistoryItem<'_>> {
    let id = &*call.tool_call_id.0;
    if id.starts_with(QUESTION) {
        let answer = match call.status {
            ToolCallStatus::Completed => prompt::YES,
            _ => prompt::NO,
        };
        return vec![
            HistoryItem::Message(Message::new(Role::Assistant, &*call.title)),
            HistoryItem::Message(Message::new(Role::User, answer)),
        ];
    }
    let (Some(name), Some(input)) = (&call.name, &call.raw_input) else {
        return Vec::new();
    };
    let output = match &call.raw_output {
        Some(Value::String(text)) => Cow::Borrowed(&**text),
        Some(output) => output.to_string().into(),
        None => Cow::Borrowed(""),
    };
    let mut result = ToolResult::new(&**name, output);
    result.call_id = Some(id.into());
    result.failed = call.status == ToolCallStatus::Failed;
    vec![
        HistoryItem::Call(Call::new(&**name, input.to_string()).id(id)),
        HistoryItem::Result(result),
    ]
}

/// Collects the record of a turn from the bytes of its reply.
pub(crate) struct Recorder {
    record: Record,
    /// The place of each tool call in the record.
    calls: HashMap<ToolCallId, usize>,
    /// The bytes before and after the text of a piece of the last message.
    template: Option<(Vec<u8>, Vec<u8>)>,
    size: usize,
    /// The title that the agent gave the session.
    pub(crate) title: Option<String>,
    has_ended: bool,
    is_refused: bool,
}

impl Recorder {
    pub(crate) fn new(prompt: Vec<ContentBlock>) -> Self {
        Self {
            record: Record {
                prompt,
                updates: Vec::new(),
            },
            calls: HashMap::new(),
            template: None,
            size: 0,
            title: None,
            has_ended: false,
            is_refused: false,
        }
    }

    /// Reads the next bytes: whole lines, as a reply has no others. Returns `true` once the turn has ended.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> bool {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            let line = bytes.get(start..=end).unwrap_or_default();
            start = end + 1;
            self.size += line.len();
            if !self.same(line) {
                self.line(line);
            }
        }
        self.has_ended
    }

    /// Adds a piece that differs from the previous one only in its text, which needs no parser.
    fn same(&mut self, line: &[u8]) -> bool {
        let Some((head, tail)) = &self.template else {
            return false;
        };
        let text = line.strip_prefix(&**head);
        let Some(text) = text.and_then(|text| text.strip_suffix(&**tail)) else {
            return false;
        };
        let borrowed = serde_json::from_slice::<&str>(text).map(Cow::Borrowed);
        // With escapes.
        let text = borrowed.or_else(|_| serde_json::from_slice(text).map(Cow::Owned));
        let Ok(text) = text else {
            return false;
        };
        let Some((_, last)) = self.record.updates.last_mut().and_then(text_of) else {
            return false;
        };
        if last.len() + text.len() <= LIMIT {
            last.push_str(&text);
        }
        true
    }

    fn line(&mut self, line: &[u8]) {
        let text = std::str::from_utf8(line).unwrap_or_default();
        if let Ok(Some(event)) = Event::read(text) {
            self.event(event, line);
        }
    }

    fn event(&mut self, event: Event, line: &[u8]) {
        let update = match event {
            Event::Update(update) => update.update,
            Event::End(response) => {
                self.has_ended = true;
                // The editor takes a refused prompt and its answer out of the conversation.
                self.is_refused = matches!(
                    &response,
                    RawJsonRpcResponse::Result { result, .. }
                        if result.get("stopReason").is_some_and(|it| it == "refusal")
                );
                return;
            }
            _ => return,
        };
        self.template = None;
        let updates = &mut self.record.updates;
        match update {
            _ if self.size > LIMIT => {}
            SessionUpdate::AgentMessageChunk(_) | SessionUpdate::AgentThoughtChunk(_) => {
                if let Some((_, text)) = piece(&update) {
                    self.template = template(line, text);
                }
                match (updates.last_mut().and_then(text_of), piece(&update)) {
                    (Some((id, last)), Some((next, text))) if id == next => last.push_str(text),
                    _ => updates.push(update),
                }
            }
            SessionUpdate::ToolCall(call) => {
                self.calls.insert(call.tool_call_id.clone(), updates.len());
                updates.push(SessionUpdate::ToolCall(call));
            }
            SessionUpdate::ToolCallUpdate(change) => {
                let at = self.calls.get(&change.tool_call_id);
                match at.and_then(|at| updates.get_mut(*at)) {
                    Some(SessionUpdate::ToolCall(call)) => call.update(change.fields),
                    _ => {
                        let title = change.fields.title.clone().unwrap_or_default();
                        let mut call = ToolCall::new(change.tool_call_id, title);
                        call.update(change.fields);
                        self.calls.insert(call.tool_call_id.clone(), updates.len());
                        updates.push(SessionUpdate::ToolCall(call));
                    }
                }
            }
            // A plan replaces the previous one.
            SessionUpdate::Plan(_) => {
                let is_plan = |it: &&mut _| matches!(it, SessionUpdate::Plan(_));
                match updates.iter_mut().find(is_plan) {
                    Some(plan) => *plan = update,
                    None => updates.push(update),
                }
            }
            SessionUpdate::UserMessageChunk(_) => updates.push(update),
            SessionUpdate::SessionInfoUpdate(info) => {
                self.title = info.title.take().or_else(|| self.title.take());
            }
            // About the session, or about no turn.
            _ => {}
        }
    }

    /// Returns the record. `None` for a turn that is no part of the conversation.
    pub(crate) fn finish(self) -> Option<Record> {
        (!self.is_refused).then_some(self.record)
    }
}

/// Returns the message and the text of a piece.
fn piece(update: &SessionUpdate) -> Option<(Option<MessageId>, &str)> {
    match update {
        SessionUpdate::AgentMessageChunk(chunk) | SessionUpdate::AgentThoughtChunk(chunk) => {
            match &chunk.content {
                ContentBlock::Text(text) => Some((chunk.message_id.clone(), &text.text)),
                _ => None,
            }
        }
        _ => None,
    }
}

fn text_of(update: &mut SessionUpdate) -> Option<(Option<MessageId>, &mut String)> {
    match update {
        SessionUpdate::AgentMessageChunk(chunk) | SessionUpdate::AgentThoughtChunk(chunk) => {
            match &mut chunk.content {
                ContentBlock::Text(text) => Some((chunk.message_id.clone(), &mut text.text)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns the bytes of a line before and after its text.
fn template(line: &[u8], text: &str) -> Option<(Vec<u8>, Vec<u8>)> {
    let key = b"\"text\":";
    let at = line.windows(key.len()).position(|bytes| bytes == key)? + key.len();
    let mut values = serde_json::Deserializer::from_slice(line.get(at..)?).into_iter::<String>();
    let found = values.next()?.ok()?;
    let end = at + values.byte_offset();
    // Another member may have this name too.
    (found == text).then_some(())?;
    Some((line.get(..at)?.to_vec(), line.get(end..)?.to_vec()))
}
