//! What a request says: whose conversation it is, and what the user answers.

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

/// The user who is behind a request: middleware that knows leaves it among the request's extensions.
///
/// Without it the header `authorization` tells users apart, and without that they are all nobody.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct User(pub String);

impl User {
    /// A user by an id that is proved.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }
}

/// The conversation that a request belongs to.
///
/// Front ends give it an id. Where there is none, as with OpenAI clients, it is known by its user
/// and its first message: all else changes from turn to turn. Two chats of one user that begin alike
/// are then one, and its newest run is that of the chat that began last.
pub(super) fn conversation<P: Protocol>(request: &Request<P>) -> Conversation {
    let id = match request.conversation_id().filter(|_| is_stable(request)) {
        Some(id) => format!("{} chat {id}", P::NAME),
        None => {
            let mut said = request.messages().filter(|it| it.role == Role::User);
            let first = said.next().map(|message| message.text);
            format!("{} start {}", P::NAME, first.unwrap_or_default())
        }
    };
    let user = request.extensions().get::<User>();
    let key = request.headers().get(AUTHORIZATION);
    match (user, key) {
        (Some(User(user)), _) => Conversation::of_user(&format!("user {user}"), &id),
        (None, Some(key)) => {
            let key = String::from_utf8_lossy(key.as_bytes());
            Conversation::of_user(&format!("key {key}"), &id)
        }
        (None, None) => Conversation::anonymous(&id),
    }
}

/// Whether the id is that of the chat. GitHub's debug command line makes a new one for each request;
/// it is known by sending no slug.
fn is_stable<P: Protocol>(request: &Request<P>) -> bool {
    let github = native::<P, ChatRequest>(request);
    github.is_none_or(|github| github.agent.as_deref().is_some_and(|slug| !slug.is_empty()))
}

/// The newest turn; `open` is the question that the run waits with.
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
    let opens = said.len() == 1 && replies == 0 && !is_continued(request);
    let answer = answer(request, open);
    if let Answer::Confirmation { id, accepted } = &answer {
        // A dialog leaves no text.
        said.push(format!("{accepted} {id}").into());
    }
    let said: Vec<&str> = said.iter().map(Cow::as_ref).collect();
    // Without the count of messages: an answer names its question, and a chat may be edited.
    let turn = Turn {
        index: None,
        ..Turn::of_transcript(conversation, &said, answer)
    };
    if opens { turn.opening() } else { turn }
}

/// Whether a summary stands for earlier messages, or an agent's.
fn is_continued<P: Protocol>(request: &Request<P>) -> bool {
    let human = |role: &OpenBbRole| *role == OpenBbRole::Human;
    let openbb = native::<P, QueryRequest>(request);
    openbb.is_some_and(|openbb| openbb.messages.iter().any(|it| !human(it.role())))
}

/// The user's answer: a dialog's by its id, else what was typed, with the question that it was typed
/// below.
fn answer<P: Protocol>(request: &Request<P>, open: Option<&Question>) -> Answer {
    let open = open.map(Question::id);
    if let Some(github) = native::<P, ChatRequest>(request) {
        let answers = || github.answers();
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
        // A typed `n` ends the run; a dialog that is closed only declines the command.
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

/// Whether the question is what the agent said last: every front end is shown its id.
fn is_shown<P: Protocol>(request: &Request<P>, id: &str) -> bool {
    let id = format!("`{id}`");
    let (mut last, mut before) = (false, false);
    for message in request.messages() {
        match message.role {
            // A front end may make several messages of one reply.
            Role::Assistant => last |= message.text.contains(&id),
            Role::User => (before, last) = (last, false),
            _ => {}
        }
    }
    before
}

/// The request of one protocol, if it is that.
fn native<P: Protocol, R: 'static>(request: &Request<P>) -> Option<&R> {
    let message: &P::Request = request;
    (message as &dyn Any).downcast_ref()
}
