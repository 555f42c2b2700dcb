//! Reads a turn from a request: the conversation, and the user's answer.

use std::any::Any;
use std::borrow::Cow;

use copilot_wire::Request;
use copilot_wire::github::ChatRequest;
use copilot_wire::openbb::{QueryRequest, Role as OpenBbRole};
use copilot_wire::protocol::{
    Conversation as _, HistoryItem, Message, Protocol, Role, User, Verdict,
};

use super::style::Style;
use crate::agent_loop::decision::{AnswerRules, Decision};
use crate::agent_loop::run::{Answer, Question};
use crate::agent_loop::runner::Turn;
use crate::memory::store::Conversation;

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
            let mut said = messages(request).filter(|it| it.role == Role::User);
            let first = said.next().map(|message| message.text);
            let place = request.param("workspace").unwrap_or_default();
            format!("{} start {place}/{}", P::NAME, first.unwrap_or_default())
        }
    };
    match request.extensions().get::<User>() {
        Some(user) => Conversation::of_user(&user.id, &id),
        None => Conversation::anonymous(&id),
    }
}

/// Returns `true` if the id identifies the chat. GitHub's debug command line, which is recognised
/// by its missing slug, creates an id for each request.
fn has_stable_id<P: Protocol>(request: &Request<P>) -> bool {
    let github = native::<P, ChatRequest>(request);
    github.is_none_or(|github| github.agent.as_deref().is_some_and(|slug| !slug.is_empty()))
}

/// Returns the latest turn, and the reason why its answer does not count, if it does not; `open` is the
/// question that the run waits with.
pub(super) fn turn<P: Protocol>(
    request: &Request<P>,
    conversation: Conversation,
    open: Option<&Question>,
) -> (Turn, Option<Void>) {
    let mut said = Vec::new();
    let mut replies = 0;
    // Without codes: a copy of a request is the same turn, also where another server has asked.
    for message in messages(request) {
        match message.role {
            Role::User => said.push(message.text),
            Role::Assistant => replies += 1,
            _ => {}
        }
    }
    // This is also `true` after the first message was edited: front ends then send no later messages.
    let is_first = said.len() == 1 && replies == 0 && !is_continued(request);
    // Except for the answer to a dialog, which has no message of its own.
    let opens = is_first && !answers_apart(request);
    let (answer, void) = match answer(request, open, said.last()) {
        Ok(answer) => (answer, None),
        Err(void) => (Answer::Void, Some(void)),
    };
    if let (Answer::Confirmation { id, accepted }, true) = (&answer, answers_apart(request)) {
        said.push(format!("{accepted} {id}").into());
    }
    let said: Vec<&str> = said.iter().map(Cow::as_ref).collect();
    let turn = Turn::of_transcript(conversation, &said, answer);
    (if opens { turn.opening() } else { turn }, void)
}

/// Returns `true` if the user answers in a dialog, which adds no text to the transcript.
fn answers_apart<P: Protocol>(request: &Request<P>) -> bool {
    request.dialog_decision().is_some() || request.proven_answer().is_some()
}

/// The reason why an answer does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Void {
    /// The verdict on an answer in text.
    Verdict(Verdict),
    /// The question is a dialog, and the answer was typed.
    Typed,
}

impl Void {
    /// Returns the reason in words.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Verdict(verdict) => verdict.reason().unwrap_or_default(),
            Self::Typed => "Please answer in the dialog of the question. Nothing was done.",
        }
    }
}

/// Returns `true` if earlier messages are replaced by a summary, or are those of an agent.
fn is_continued<P: Protocol>(request: &Request<P>) -> bool {
    let human = |role: &OpenBbRole| *role == OpenBbRole::Human;
    let openbb = native::<P, QueryRequest>(request);
    openbb.is_some_and(|openbb| openbb.messages.iter().any(|it| !human(it.role())))
}

/// Returns the user's answer if it counts: in a dialog by its id, in text by the verdict on its code.
fn answer<P: Protocol>(
    request: &Request<P>,
    open: Option<&Question>,
    last: Option<&Cow<'_, str>>,
) -> Result<Answer, Void> {
    let open = open.map(Question::id);
    if let Some(github) = native::<P, ChatRequest>(request) {
        let answers = || github.decisions();
        // A request may repeat older answers. Only the one that fits the open question can have an
        // effect.
        let fitting = answers().find(|answer| open.is_some() && answer.id().as_deref() == open);
        if let Some(answer) = fitting.or_else(|| answers().next()) {
            return Ok(Answer::Confirmation {
                id: answer.id().unwrap_or_default().into_owned(),
                accepted: answer.is_accepted(),
            });
        }
    }
    let Some(answer) = request.decision() else {
        let text = request.prompt().unwrap_or_default().into_owned();
        return unasked(request, open, text);
    };
    // Not the prompt, in which a front end may leave the code: the model must not see one.
    let text = last.map(|last| last.clone().into_owned());
    let text = text.unwrap_or_default();
    let id = answer.id.clone();
    match (answer.verdict, &answer.remark) {
        (Verdict::Accepted, _) => Ok(Answer::Confirmation { id, accepted: true }),
        // A typed `no` ends the run; a `cancel` and a dismissed dialog only decline the command.
        (Verdict::Refused, _) if !answers_apart(request) && ends(&text) => {
            Ok(Answer::Reply { id, text })
        }
        (Verdict::Refused, _) => Ok(Answer::Confirmation {
            id,
            accepted: false,
        }),
        (Verdict::Other, Some(remark)) => {
            // The code was right, so the id is that of the open question.
            let count = format!("y {remark}");
            let text = match Decision::read(&count, AnswerRules::Hardened) {
                Decision::Feedback(_) => text,
                _ => count,
            };
            Ok(Answer::Reply { id, text })
        }
        (Verdict::Other, None) => Ok(Answer::Reply {
            id: String::new(),
            text,
        }),
        (verdict, _) => Err(Void::Verdict(verdict)),
    }
}

/// Returns the user's answer if the message above is not a question in text.
fn unasked<P: Protocol>(
    request: &Request<P>,
    open: Option<&str>,
    text: String,
) -> Result<Answer, Void> {
    // Ending a run needs no consent, so it is enough that the text above the answer contains the id of the dialog.
    let id = open.filter(|id| ends(&text) && is_shown(request, id));
    if id.is_none() && (is_consent(&text) || ends(&text)) {
        return Err(match Style::of::<P>() {
            Style::Markdown => Void::Typed,
            Style::Plain => Void::Verdict(Verdict::NoProof),
        });
    }
    let id = id.unwrap_or_default().to_owned();
    Ok(Answer::Reply { id, text })
}

fn ends(text: &str) -> bool {
    Decision::read(text, AnswerRules::Hardened) == Decision::Exit
}

/// Returns `true` for a text that agrees to a question, with or without a code.
fn is_consent(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let agrees = |word: &str| matches!(word, "yes" | "y" | "ok");
    words.find(|word| !word.is_empty()).is_some_and(agrees) && words.all(is_number)
}

/// Returns `true` if the agent's last reply shows the question. All front ends show its id.
fn is_shown<P: Protocol>(request: &Request<P>, id: &str) -> bool {
    let id = format!("`{id}`");
    let (mut last, mut before) = (false, false);
    for message in messages(request) {
        match message.role {
            // A front end may split one reply into several messages.
            Role::Assistant => last |= message.text.contains(&id),
            Role::User => (before, last) = (last, false),
            _ => {}
        }
    }
    before
}

/// Returns the messages without the codes of questions, which some front ends leave in theirs.
fn messages<P: Protocol>(request: &Request<P>) -> impl Iterator<Item = Message<'_>> {
    request.history().filter_map(|item| match item {
        HistoryItem::Message(message) => Some(message),
        _ => None,
    })
}

/// Returns the native request of a protocol, if the request is one.
fn native<P: Protocol, R: 'static>(request: &Request<P>) -> Option<&R> {
    let message: &P::Request = request;
    (message as &dyn Any).downcast_ref()
}
