//! Reads a turn from a request: the conversation, and the user's answer.

use std::any::Any;
use std::borrow::Cow;

use copilot_wire::Request;
use copilot_wire::github::ChatRequest;
use copilot_wire::openbb::{QueryRequest, Role as OpenBbRole};
use copilot_wire::protocol::{Conversation as _, Protocol, Role};
use http::header::AUTHORIZATION;

use crate::decision::{AnswerRules, Decision};
use crate::run::{Answer, Question};
use crate::runner::Turn;
use crate::store::Conversation;

/// The authenticated user of a request, set by middleware as a request extension.
///
/// Without it, users are identified by the header `authorization`; without that they are all
/// anonymous.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct User(pub String);

impl User {
    /// Creates a user from an authenticated id.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }
}

/// Returns the conversation of a request.
///
/// Most front ends send an id. For those that do not, such as OpenAI and Meilisearch clients, the
/// key is the user, the workspace and the first message: everything else changes from turn to turn.
/// Two chats of one user with the same start are then one conversation, whose run is that of the
/// chat that started last.
pub(super) fn conversation<P: Protocol>(request: &Request<P>) -> Conversation {
    let id = match request.conversation_id().filter(|_| has_stable_id(request)) {
        // The words keep an id apart from a first message of the same text.
        Some(id) => format!("{} chat {id}", P::NAME),
        None => {
            let mut said = request.messages().filter(|it| it.role == Role::User);
            let first = said.next().map(|message| message.text);
            let place = request.param("workspace").unwrap_or_default();
            format!("{} start {place}/{}", P::NAME, first.unwrap_or_default())
        }
    };
    let user = request.extensions().get::<User>();
    let key = request.headers().get(AUTHORIZATION);
    match (user, key) {
        // The prefix keeps users apart from keys: a key with the text of a user's id is not that
        // user.
        (Some(User(user)), _) => Conversation::of_user(&format!("user {user}"), &id),
        (None, Some(key)) => {
            let key = String::from_utf8_lossy(key.as_bytes());
            Conversation::of_user(&format!("key {key}"), &id)
        }
        (None, None) => Conversation::anonymous(&id),
    }
}

/// Returns `true` if the id identifies the chat. GitHub's debug command line, which is recognised
/// by its missing slug, creates an id for each request.
fn has_stable_id<P: Protocol>(request: &Request<P>) -> bool {
    let github = native::<P, ChatRequest>(request);
    github.is_none_or(|github| github.agent.as_deref().is_some_and(|slug| !slug.is_empty()))
}

/// Returns the latest turn; `open` is the question that the run waits with.
pub(super) fn turn<P: Protocol>(
    request: &Request<P>,
    conversation: Conversation,
    open: Option<&Question>,
) -> Turn {
    let mut said = Vec::new();
    let mut replies = 0;
    for message in request.messages() {
        match message.role {
            Role::User => said.push(message.text),
            Role::Assistant => replies += 1,
            _ => {}
        }
    }
    // Also after the first message was edited: front ends then leave out everything behind it.
    let opens = said.len() == 1 && replies == 0 && !is_continued(request);
    let answer = answer(request, open);
    if let Answer::Confirmation { id, accepted } = &answer {
        // A dialog adds no text to the transcript.
        said.push(format!("{accepted} {id}").into());
    }
    let said: Vec<&str> = said.iter().map(Cow::as_ref).collect();
    // No index: an answer names its question, and chats can be edited.
    let turn = Turn {
        index: None,
        ..Turn::of_transcript(conversation, &said, answer)
    };
    if opens { turn.opening() } else { turn }
}

/// Returns `true` if earlier messages are replaced by a summary, or are those of an agent.
fn is_continued<P: Protocol>(request: &Request<P>) -> bool {
    let human = |role: &OpenBbRole| *role == OpenBbRole::Human;
    let openbb = native::<P, QueryRequest>(request);
    openbb.is_some_and(|openbb| openbb.messages.iter().any(|it| !human(it.role())))
}

/// Returns the user's answer: the id of a dialog, or the typed text with the question above it.
fn answer<P: Protocol>(request: &Request<P>, open: Option<&Question>) -> Answer {
    let open = open.map(Question::id);
    if let Some(github) = native::<P, ChatRequest>(request) {
        let answers = || github.answers();
        // A request may repeat older answers. Only the one that fits the open question can have an
        // effect.
        let fitting = answers().find(|answer| open.is_some() && answer.id().as_deref() == open);
        if let Some(answer) = fitting.or_else(|| answers().next()) {
            return Answer::Confirmation {
                id: answer.id().unwrap_or_default().into_owned(),
                accepted: answer.is_accepted(),
            };
        }
    }
    let text = request.prompt().unwrap_or_default().into_owned();
    match request.decision() {
        // A typed `n` ends the run; a dismissed dialog only declines the command.
        Some(no) if !no.accepted && ends(&text) => Answer::Reply {
            id: no.id.into_owned(),
            text,
        },
        Some(decision) => Answer::Confirmation {
            id: decision.id.into_owned(),
            accepted: decision.accepted,
        },
        None => {
            let id = open.filter(|id| is_shown(request, id)).unwrap_or_default();
            Answer::Reply {
                id: id.to_owned(),
                text,
            }
        }
    }
}

fn ends(text: &str) -> bool {
    Decision::read(text, AnswerRules::Hardened) == Decision::Exit
}

/// Returns `true` if the agent's last reply shows the question. All front ends show its id.
fn is_shown<P: Protocol>(request: &Request<P>, id: &str) -> bool {
    let id = format!("`{id}`");
    let (mut last, mut before) = (false, false);
    for message in request.messages() {
        match message.role {
            // A front end may split one reply into several messages.
            Role::Assistant => last |= message.text.contains(&id),
            Role::User => (before, last) = (last, false),
            _ => {}
        }
    }
    before
}

/// Returns the native request of a protocol, if the request is one.
fn native<P: Protocol, R: 'static>(request: &Request<P>) -> Option<&R> {
    let message: &P::Request = request;
    (message as &dyn Any).downcast_ref()
}
