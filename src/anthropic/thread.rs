//! Threads: conversations that the server stores, and requests that continue them.

use http::StatusCode;

use super::request::{no_threads, previous};
use super::{
    Anthropic, Content, ContentBlock, ErrorObject, Event, Message, MessageParam, MessagesRequest,
    Tool,
};
use crate::conversations::{Chain, ChainError, Recorder, Recording, TurnRecord, UserConversations};
use crate::json::{Json, List, Wire};
use crate::protocol::{Completion, EventDecoder, Refusal};

/// Completes a request that continues a thread. Returns the recorder of the new turn if the request belongs to a
/// thread.
pub(super) async fn resume(
    request: &mut MessagesRequest,
    conversations: UserConversations,
) -> Result<Option<Recording>, Refusal> {
    let Some(thread) = request.thread() else {
        return Ok(None);
    };
    let kind = thread.get("type");
    let kind = kind.as_ref().and_then(Json::string).unwrap_or_default();
    let previous = match (&*kind, previous(thread)) {
        ("create", _) => None,
        ("continue", Some(id)) => Some(id),
        _ => {
            let message = "must create a thread, or continue one with a `previous_message_id`";
            return Err(Refusal::new(StatusCode::BAD_REQUEST, message).at("thread"));
        }
    };
    // The member `thread` is removed, because the agent receives the whole conversation, and so does a server to which
    // it sends the request.
    request.unknown.retain(|name| name != "thread");
    let new = request.messages.to_raw();
    if !conversations.takes(&new) {
        return Err(no_threads("the messages are too long for a thread"));
    }
    let (chain, settings) = match previous {
        Some(id) => {
            let chain = conversations.chain(&id).await.map_err(refused)?;
            complete(request, &chain)?;
            (chain, None)
        }
        None => (Chain::default(), Some(settings(request))),
    };
    let recorder = MessageRecorder {
        messages: new,
        settings,
        decoder: EventDecoder::new(),
        answer: Some(Completion::new()),
    };
    Ok(Some(Recording::new(conversations, &chain, recorder)))
}

fn refused(error: ChainError) -> Refusal {
    match error {
        ChainError::Unknown => {
            let message = "no such thread: send the whole conversation";
            let refusal = Refusal::new(StatusCode::NOT_FOUND, message);
            let refusal = refusal.at("thread.previous_message_id");
            refusal.code(ErrorObject::NO_SUCH_THREAD)
        }
        ChainError::TooLong => no_threads("the thread is too long"),
        ChainError::Store(error) => error.into(),
    }
}

/// Returns the members of a request that the thread it creates stores.
fn settings(request: &MessagesRequest) -> Json {
    Json::object(|kept| {
        kept.raw("system", &request.system.to_raw())
            .raw("tools", &request.tools.to_raw());
    })
}

/// Inserts the messages of a thread before those of a request, and sets the system prompt and the tools of the thread.
fn complete(request: &mut MessagesRequest, chain: &Chain) -> Result<(), Refusal> {
    let first = chain.turns.first().cloned().unwrap_or_default();
    let kept = first.get("settings").unwrap_or_default();
    let member = |name| kept.get(name).unwrap_or_default();
    let system = Content::from_raw(&member("system")).unwrap_or_default();
    let tools = List::<Tool>::from_raw(&member("tools")).unwrap_or_default();
    let refuse = |name: &str| {
        let message =
            "differs from the one of the thread: send the whole conversation in a new one";
        let refusal = Refusal::new(StatusCode::BAD_REQUEST, message);
        Err(refusal.at(name).code(ErrorObject::OTHER_THREAD))
    };
    if !request.system.is_null() && request.system != system {
        return refuse("system");
    }
    if !request.tools.is_empty() && request.tools != tools {
        return refuse("tools");
    }
    (request.system, request.tools) = (system, tools);
    let mut messages = List::new();
    for turn in &chain.turns {
        let said = turn.get("messages").unwrap_or_default();
        let answer = turn.get("answer").unwrap_or_default();
        let said = List::<MessageParam>::from_raw(&said).unwrap_or_default();
        for message in said {
            messages.push(message);
        }
        let answer = List::<ContentBlock>::from_raw(&answer).unwrap_or_default();
        messages.push(MessageParam::assistant(Content::Parts(answer)));
    }
    for message in std::mem::take(&mut request.messages) {
        messages.push(message);
    }
    request.messages = messages;
    Ok(())
}

/// Records a message from the bytes of its answer.
struct MessageRecorder {
    /// The new messages of the request.
    messages: Json,
    /// The members of the request that the thread stores; only in its first turn.
    settings: Option<Json>,
    decoder: EventDecoder<Anthropic>,
    /// The message so far; `None` if the message shall not be recorded.
    answer: Option<Completion>,
}

impl MessageRecorder {
    /// Returns the message if these bytes contain its end.
    fn whole(&mut self, mut bytes: &[u8]) -> Option<Message> {
        let mut answer = self.answer.take()?;
        if bytes.starts_with(b"{") {
            let message = Json::parse(bytes.to_vec()).ok()?;
            // An error has no id and no role.
            let message = Message::from_raw(&message)?;
            return (!message.role.is_empty()).then_some(message);
        }
        while let Some(event) = self.decoder.next(&mut bytes).ok()? {
            match event {
                Event::Error(_) => return None,
                event => answer.push_event::<Anthropic>(event).ok()?,
            }
        }
        if answer.is_complete() {
            return Some(answer.into());
        }
        self.answer = Some(answer);
        None
    }
}

impl Recorder for MessageRecorder {
    fn push(&mut self, bytes: &[u8]) -> Option<TurnRecord> {
        let message = self.whole(bytes)?;
        let turn = Json::object(|turn| {
            turn.raw("messages", &self.messages)
                .opt_raw("settings", self.settings.as_ref())
                .raw("answer", &message.content.to_raw());
        });
        Some(TurnRecord::new(message.id, turn))
    }
}
