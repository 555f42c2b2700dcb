//! The request: a prompt in its session.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex};

use agent_client_protocol::v1::schema::{
    ContentBlock, CreateElicitationResponse, ElicitationAction, ElicitationContentValue,
    EmbeddedResourceResource, Meta, PromptRequest, RequestPermissionOutcome,
    RequestPermissionResponse, SessionId,
};
use agent_client_protocol::{Error, RawJsonRpcId, RawJsonRpcMessage, TransportFrame};
use copilot_wire::json::Json;
use copilot_wire::protocol::{
    Answered, Attachment, AttachmentContent, Conversation, Decision, Document, HistoryItem,
    Message, RawMessage, Refusal, Role, Verdict,
};
use http::StatusCode;
use serde_json::Value;

use crate::editor::{Editor, Waiting, lock};
use crate::record::Record;
use crate::workspace::Workspace;

/// The values of the answers yes and no.
pub(crate) const YES: &str = "yes";
pub(crate) const NO: &str = "no";

/// A prompt of the user, with everything that its session knows: the earlier turns, the folders and the editor.
#[derive(Clone)]
pub struct Prompt {
    /// The session.
    pub session_id: SessionId,
    /// The content, as the user has composed it.
    pub prompt: Vec<ContentBlock>,
    /// The extensions of the message.
    pub meta: Option<Meta>,
    /// The folders of the session, and the servers that its agent may use.
    pub workspace: Arc<Workspace>,
    /// The model that the user has chosen, of those that the [server](crate::Server::model) offers.
    pub model: Option<Arc<str>>,
    pub(crate) id: RawJsonRpcId,
    pub(crate) history: Vec<Arc<Record>>,
    pub(crate) turn: Arc<Turn>,
    answer: Option<Decision>,
    said: Option<String>,
}

/// The part of a running turn that its reply, its questions and the connection share.
pub(crate) struct Turn {
    pub(crate) editor: Editor,
    state: Mutex<TurnState>,
}

#[derive(Default)]
struct TurnState {
    open: Option<Open>,
    /// The answer to the last question.
    accepted: Option<bool>,
    /// The words that the user gave as an answer.
    said: Option<String>,
    cancelled: Option<Cancelled>,
}

/// The cancellations of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cancelled {
    /// The work in the session: the response has a reason.
    Session,
    /// The request: the response is an error.
    Request,
}

/// A question that was sent.
struct Open {
    id: String,
    data: Option<Json>,
    is_form: bool,
    waiting: Waiting,
}

impl Turn {
    pub(crate) fn new(editor: Editor) -> Arc<Self> {
        Arc::new(Self {
            editor,
            state: Mutex::default(),
        })
    }

    /// Opens a question, and returns the id of its message. `None` if the editor cannot be asked.
    pub(crate) fn ask(&self, id: &str, data: Option<Json>, is_form: bool) -> Option<RawJsonRpcId> {
        let waiting = self.editor.wait()?;
        let message = waiting.id();
        let mut state = lock(&self.state);
        state.accepted = None;
        let id = id.to_owned();
        state.open = Some(Open {
            id,
            data,
            is_form,
            waiting,
        });
        Some(message)
    }

    pub(crate) fn accepted(&self) -> Option<bool> {
        lock(&self.state).accepted
    }

    pub(crate) fn take_said(&self) -> Option<String> {
        lock(&self.state).said.take()
    }

    pub(crate) fn cancel(&self, how: Cancelled) {
        lock(&self.state).cancelled.get_or_insert(how);
    }

    pub(crate) fn cancelled(&self) -> Option<Cancelled> {
        lock(&self.state).cancelled
    }

    /// Waits for the answer to the open question. Returns the answer, and the user's own words. `None` if there is no
    /// question, or no answer to it.
    async fn answered(&self) -> Option<(Decision, Option<String>)> {
        let open = lock(&self.state).open.take()?;
        let value = open.waiting.response().await?.ok()?;
        let said = match open.is_form {
            true => chosen(value)?,
            false => selected(value)?,
        };
        let verdict = match &*said {
            YES => Verdict::Accepted,
            NO => Verdict::Refused,
            _ => Verdict::Other,
        };
        let mut state = lock(&self.state);
        state.accepted = Some(verdict == Verdict::Accepted);
        let said = (verdict == Verdict::Other).then_some(said);
        state.said.clone_from(&said);
        Some((Decision::new(open.id, verdict).data(open.data), said))
    }
}

/// Returns the answer of a permission dialog. An option that was not offered is a no.
fn selected(value: Value) -> Option<String> {
    let response: RequestPermissionResponse = serde_json::from_value(value).ok()?;
    match response.outcome {
        RequestPermissionOutcome::Selected(selected) if &*selected.option_id.0 == YES => {
            Some(YES.to_owned())
        }
        RequestPermissionOutcome::Selected(_) => Some(NO.to_owned()),
        _ => None,
    }
}

/// Returns the answer of a form.
fn chosen(value: Value) -> Option<String> {
    let response: CreateElicitationResponse = serde_json::from_value(value).ok()?;
    match response.action {
        ElicitationAction::Accept(accepted) => {
            let content = accepted.content.unwrap_or_default();
            match content.get(crate::reply::ANSWER) {
                Some(ElicitationContentValue::String(answer)) => Some(answer.clone()),
                _ => None,
            }
        }
        ElicitationAction::Decline => Some(NO.to_owned()),
        _ => None,
    }
}

impl Prompt {
    pub(crate) fn new(
        id: RawJsonRpcId,
        request: PromptRequest,
        workspace: Arc<Workspace>,
        editor: Editor,
    ) -> Self {
        Self {
            session_id: request.session_id,
            prompt: request.prompt,
            meta: request.meta,
            workspace,
            model: None,
            id,
            history: Vec::new(),
            turn: Turn::new(editor),
            answer: None,
            said: None,
        }
    }

    /// Reads the message `session/prompt`, as the first one of a session whose editor cannot be asked anything.
    pub(crate) fn read(body: &[u8]) -> Result<Self, Refusal> {
        let refuse = |message: String| Refusal::new(StatusCode::BAD_REQUEST, message);
        let text = std::str::from_utf8(body).map_err(|_| refuse("expected UTF-8".to_owned()))?;
        let frame = TransportFrame::parse_json(text);
        let TransportFrame::Single(RawJsonRpcMessage::Request(request)) = frame else {
            return Err(refuse("expected a request of JSON-RPC".to_owned()));
        };
        if &*request.method != "session/prompt" {
            return Err(refuse("expected `session/prompt`".to_owned()).at("method"));
        }
        let params = request.params.map(|params| params.into_value());
        let params = serde_json::from_value(params.unwrap_or_default());
        let params = params.map_err(|error| refuse(plain(&error)).at("params"))?;
        Ok(Self::new(
            request.id,
            params,
            Arc::default(),
            Editor::new(None),
        ))
    }

    /// Returns the editor, which an agent can ask for files and terminals.
    pub fn editor(&self) -> &Editor {
        &self.turn.editor
    }

    pub(crate) fn answered(&self) -> Answered<Self> {
        let mut next = self.clone();
        Box::pin(async move {
            let (answer, said) = next.turn.answered().await?;
            next.answer = Some(answer);
            next.said = said;
            Some(next)
        })
    }
}

/// Returns the message of an error without the values of the input, which may be secrets.
pub(crate) fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    // The names of our own fields are no secrets.
    match text.starts_with("missing field") {
        true => text,
        false => "a member is missing or has another type".to_owned(),
    }
}

impl Conversation for Prompt {
    fn raw_history(&self) -> impl DoubleEndedIterator<Item = HistoryItem<'_>> + Send {
        let said = self.said.as_deref();
        let said = said.map(|said| HistoryItem::Message(Message::new(Role::User, said)));
        let earlier = self.history.iter().flat_map(|record| record.items());
        earlier.chain(items(&self.prompt)).chain(said)
    }

    /// Returns nothing: editors ask in dialogs, so no question stands in text.
    fn raw_messages(&self) -> impl Iterator<Item = RawMessage<'_>> + Send {
        std::iter::empty()
    }

    fn each_string(&self, _: &mut dyn FnMut(&str)) {}

    /// Returns the text files that the prompts contain. Of a file that was sent again, only the last state.
    fn documents(&self) -> impl Iterator<Item = Document<'_>> + Send {
        let earlier = self.history.iter().flat_map(|record| &record.prompt);
        let all: Vec<_> = earlier.chain(&self.prompt).filter_map(document).collect();
        let mut seen = HashSet::new();
        let mut last: Vec<_> = all
            .into_iter()
            .rev()
            .filter(|document| seen.insert(document.id.clone()))
            .collect();
        last.reverse();
        last.into_iter()
    }

    fn dialog_decision(&self) -> Option<Decision> {
        self.answer.clone()
    }
}

fn document(block: &ContentBlock) -> Option<Document<'_>> {
    let ContentBlock::Resource(resource) = block else {
        return None;
    };
    match &resource.resource {
        EmbeddedResourceResource::TextResourceContents(file) => {
            let name = file.uri.rsplit('/').next().unwrap_or_default();
            let name = if name.is_empty() { &file.uri } else { name };
            Some(Document::new(&*file.uri, name, &*file.text))
        }
        _ => None,
    }
}

/// Returns the message of a prompt, with its files. Text files are [documents](Conversation::documents).
pub(crate) fn items(
    prompt: &[ContentBlock],
) -> impl DoubleEndedIterator<Item = HistoryItem<'_>> + Send {
    let text = HistoryItem::Message(Message::new(Role::User, text(prompt)));
    std::iter::once(text).chain(prompt.iter().filter_map(attachment))
}

/// Returns the words of a prompt, with links in their place.
pub(crate) fn text(prompt: &[ContentBlock]) -> Cow<'_, str> {
    let mut text = Cow::Borrowed("");
    for block in prompt {
        match block {
            ContentBlock::Text(words) if text.is_empty() => text = Cow::Borrowed(&words.text),
            ContentBlock::Text(words) => text.to_mut().push_str(&words.text),
            ContentBlock::ResourceLink(link) => {
                let name = link.title.as_deref().unwrap_or(&link.name);
                text.to_mut().push_str(&format!("[{name}]({})", link.uri));
            }
            // The place at which the user has mentioned a file, which is a document or an attachment.
            ContentBlock::Resource(resource) => {
                let uri = match &resource.resource {
                    EmbeddedResourceResource::TextResourceContents(file) => &file.uri,
                    EmbeddedResourceResource::BlobResourceContents(file) => &file.uri,
                    _ => continue,
                };
                let name = uri.rsplit('/').next().unwrap_or_default();
                text.to_mut().push_str(&format!("[{name}]({uri})"));
            }
            _ => {}
        }
    }
    text
}

fn attachment(block: &ContentBlock) -> Option<HistoryItem<'_>> {
    let base64 = |data| Attachment::new(AttachmentContent::Base64(Cow::Borrowed(data)));
    let file = match block {
        ContentBlock::Image(image) => base64(&image.data).media_type(&*image.mime_type),
        ContentBlock::Audio(audio) => base64(&audio.data).media_type(&*audio.mime_type),
        ContentBlock::Resource(resource) => match &resource.resource {
            EmbeddedResourceResource::BlobResourceContents(file) => {
                let attachment = base64(&file.blob).name(&*file.uri);
                match &file.mime_type {
                    Some(media_type) => attachment.media_type(&**media_type),
                    None => attachment,
                }
            }
            _ => return None,
        },
        _ => return None,
    };
    Some(HistoryItem::Attachment(file))
}

/// Returns the error of parameters that cannot be read.
pub(crate) fn invalid(place: &str, message: impl fmt::Display) -> Error {
    let message = match place {
        "" => message.to_string(),
        place => format!("{place}: {message}"),
    };
    Error::new(-32602, message)
}

impl PartialEq for Prompt {
    fn eq(&self, other: &Self) -> bool {
        let own = |it: &Self| (it.session_id.clone(), it.model.clone(), it.meta.clone());
        own(self) == own(other) && self.prompt == other.prompt && self.history == other.history
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt")
            .field("session_id", &self.session_id)
            .field("blocks", &self.prompt.len())
            .field("turns", &self.history.len())
            .finish_non_exhaustive()
    }
}
