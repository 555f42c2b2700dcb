//! Conversations that calls continue by a handle.

use std::sync::Arc;

use super::CallRequest;
use super::event::Event;
use super::random::random;
use super::request::continuation;
use crate::conversations::{ChainError, Recorder, Recording, TurnRecord, UserConversations};
use crate::json::Json;
use crate::protocol::FrameEvent as _;

/// The prefix of a handle.
const PREFIX: &str = "conv_";

/// The number of hexadecimal digits for the conversation, and for the turn.
const DIGITS: usize = 16;

/// Returns the part of a handle that is the same in all turns of its conversation.
pub(super) fn root(handle: &str) -> Option<&str> {
    let digits = handle.strip_prefix(PREFIX)?;
    let is_handle = digits.len() == 2 * DIGITS && digits.bytes().all(|it| it.is_ascii_hexdigit());
    handle.get(..PREFIX.len() + DIGITS).filter(|_| is_handle)
}

/// Returns that part for a conversation that begins with this call. A call with the answer to a question has the same
/// part as the call that asked it.
pub(super) fn new_root(call: &CallRequest) -> Option<String> {
    let digits = call.nonce().get(..DIGITS)?;
    let is_root = digits.bytes().all(|it| it.is_ascii_hexdigit());
    is_root.then(|| format!("{PREFIX}{digits}"))
}

/// Returns the id of a turn's record, which makes a handle of one tool unknown to the others.
fn id(tool: &str, handle: &str) -> String {
    format!("{tool} {handle}")
}

/// Adds the earlier turns of the conversation to a call, and the handle with which its answer can be continued. Returns
/// the recording of this turn.
pub(super) async fn resume(
    call: &mut CallRequest,
    conversations: UserConversations,
) -> Result<Option<Recording>, ChainError> {
    let tool = call.params.name.clone();
    let previous = call.handle();
    if let Some(previous) = &previous {
        root(previous).ok_or(ChainError::Unknown)?;
        let chain = conversations.chain(&id(&tool, previous)).await?;
        let turns = chain.turns.iter().map(|turn| {
            let text = |name| Some(turn.get(name)?.string()?.into_owned());
            let question = text("question").unwrap_or_default();
            (question, text("answer").unwrap_or_default())
        });
        call.found.turns = turns.collect();
        call.found.chain = chain;
    }
    let question = call.question().unwrap_or_default();
    let new = Json::object(|turn| {
        turn.str("question", &question);
    });
    let root = previous.as_deref().and_then(root).map(str::to_owned);
    let (Some(root), Some(random), true) = (
        root.or_else(|| new_root(call)),
        random(),
        conversations.takes(&new),
    ) else {
        return Ok(None);
    };
    let (turn, _) = random.split_at(DIGITS);
    let handle: Arc<str> = format!("{root}{turn}").into();
    call.found.handle = Some(Arc::clone(&handle));
    let recorder = CallRecorder {
        id: id(&tool, &handle),
        continuation: continuation(&handle),
        question,
    };
    Ok(Some(Recording::new(
        conversations,
        &call.found.chain,
        recorder,
    )))
}

/// Creates the record of a turn: an object with `question` and `answer`.
struct CallRecorder {
    id: String,
    /// The sentence with the handle that follows the agent's answer.
    continuation: String,
    question: String,
}

impl Recorder for CallRecorder {
    fn push(&mut self, bytes: &[u8]) -> Option<TurnRecord> {
        let lines = bytes.split(|byte| *byte == b'\n');
        let mut data = lines.filter_map(|line| line.strip_prefix(b"data: "));
        let result = data.find_map(|data| {
            // Progress messages are skipped.
            let data = std::str::from_utf8(data).ok()?;
            match Event::read(data).ok()?? {
                Event::Result(answer) => Some(answer.result),
                _ => None,
            }
        })?;
        if result.is_error || !result.input_requests.is_empty() {
            return None;
        }
        let answer = result.text().replace(self.continuation.trim(), "");
        let answer = answer.trim();
        let record = Json::object(|turn| {
            turn.str("question", &self.question).str("answer", answer);
        });
        Some(TurnRecord::new(&*self.id, record))
    }
}
