//! The conversation in a request, in the same form for every front end.

use std::borrow::Cow;

use super::calls::Calls;
use crate::consent::{self, Decision};
use crate::vocabulary::*;

/// A request as a conversation: the part that all protocols share.
///
/// [`raw_history`](Self::raw_history), [`raw_messages`](Self::raw_messages) and [`each_string`](Self::each_string) are
/// required. The other methods by default derive their result from the history or return nothing.
pub trait Conversation {
    /// Returns the whole conversation as the client sent it, oldest first: messages, attachments, the agent's
    /// calls and their results, and reasoning that any model can read.
    ///
    /// A message that the client writes in the user's place, such as a description of its environment or the summary of
    /// a compaction, has [`Role::Other`]; the implementation of each protocol documents which messages it recognizes.
    /// So messages with [`Role::User`] contain only the user's own words.
    fn raw_history(&self) -> impl DoubleEndedIterator<Item = HistoryItem<'_>> + Send;

    /// Returns everything that is or may be shown in the conversation, oldest first, as the client sent it: all
    /// messages and items with all their members, reasoning and unknown kinds too.
    ///
    /// A question in text counts only if every string between it and the user's message before it is plain. So whatever
    /// the agent or a tool may have said is here, and [`Role::User`] is the role of exactly those messages that are the
    /// user's own in the [history](Self::raw_history).
    fn raw_messages(&self) -> impl Iterator<Item = RawMessage<'_>> + Send;

    /// Calls `each` with every string and every number of the request, and with the keys that its types do not declare.
    /// A request that implements [`Wire`](crate::json::Wire) calls the method of that trait.
    ///
    /// An answer in text counts only if the code of its question is nowhere else in the request.
    fn each_string(&self, each: &mut dyn FnMut(&str));

    /// Returns everything in the request that its types cannot read, such as a number in place of a list, a line for each
    /// with its place; without secrets, and without what is inside of a message, which the
    /// [history](Self::raw_history) has with the role of the message. A model reads it beside the
    /// [documents](Self::documents). By default there is nothing.
    fn odd_values(&self) -> String {
        String::new()
    }

    /// Returns the whole conversation, oldest first: messages, attachments, the agent's calls and their results.
    ///
    /// Questions in text are without their code and proof, and answers to them are a plain `yes` or `no`, so that no
    /// model sees a code. Reasoning is only in the [raw history](Self::raw_history).
    fn history(&self) -> impl Iterator<Item = HistoryItem<'_>> + Send {
        with_reasoning(self).filter(|item| !matches!(item, HistoryItem::Reasoning(_)))
    }

    /// Returns the messages, oldest first.
    fn messages(&self) -> impl Iterator<Item = Message<'_>> + Send {
        self.history().filter_map(|item| match item {
            HistoryItem::Message(message) => Some(message),
            _ => None,
        })
    }

    /// Returns the text of the last user message.
    fn prompt(&self) -> Option<Cow<'_, str>> {
        self.messages()
            .filter(|message| message.role == Role::User)
            .map(|message| message.text)
            .last()
    }

    /// Returns the documents that the user or the front end added as context.
    fn documents(&self) -> impl Iterator<Item = Document<'_>> + Send {
        std::iter::empty()
    }

    /// Returns the tools that the front end offers to run.
    fn tools(&self) -> impl Iterator<Item = Tool<'_>> + Send {
        std::iter::empty()
    }

    /// Returns the results of the calls since the last user message, in order. Each result has the name and the
    /// arguments of its call before it: of the calls with its id the first of the turn that has no result yet, else the
    /// last. A result without an id belongs to the first call of its tool that has no result yet.
    fn results(&self) -> impl Iterator<Item = ToolResult<'_>> + Send {
        let (mut calls, mut made) = (Calls::default(), Vec::new());
        let mut results = Vec::new();
        for item in self.history() {
            match item {
                // Results before a user message were answered already. Their calls are retained, because a late result
                // may belong to one of them.
                HistoryItem::Message(message) if message.role == Role::User => {
                    calls.turn();
                    results.clear();
                }
                HistoryItem::Call(call) => {
                    calls.push(&call, false);
                    // The arguments of a call are parsed once for all its results.
                    made.push((call, None));
                }
                HistoryItem::Result(mut result) => {
                    let call = calls.answered(&result);
                    if let Some((call, arguments)) = call.and_then(|at| made.get_mut(at)) {
                        result.join(call, arguments);
                    }
                    results.push(result);
                }
                _ => {}
            }
        }
        results.into_iter()
    }

    /// Returns the purpose of the request: an answer for the user, or a background task of the client, such as a title.
    /// [`Purpose::Answer`] by default.
    ///
    /// The purpose is only a hint, recognized by the texts that each client sends with its tasks: any client can send
    /// the same texts, and an unknown task counts as an answer. Use it to save work, never to decide what is allowed.
    ///
    /// ```
    /// use copilot_wire::protocol::{AgentError, Conversation, Protocol, Purpose};
    /// use copilot_wire::{Reply, Request};
    ///
    /// async fn answer<P: Protocol>(request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
    ///     match request.purpose() {
    ///         Purpose::Answer => reply.text("The whole work, with tools.").await?,
    ///         _ => reply.text("One call of a small model, without tools.").await?,
    ///     }
    ///     Ok(())
    /// }
    /// ```
    fn purpose(&self) -> Purpose {
        Purpose::Answer
    }

    /// Returns the form that the answer must have, if it is not free text. `None` by default.
    ///
    /// The answer is not checked. A model with structured output keeps the form; an agent without a model writes the
    /// JSON itself.
    fn answer_format(&self) -> Option<AnswerFormat<'_>> {
        None
    }

    /// Returns the settings of the answer, for an agent that calls a model. Empty by default: users of most front ends
    /// cannot set any.
    fn answer_options(&self) -> AnswerOptions<'_> {
        AnswerOptions::default()
    }

    /// Returns the answer that the user gave in a dialog of the front end to the question that ended the previous turn.
    /// `None` by default, for front ends without dialogs.
    ///
    /// Agents call [`Request::decision`](crate::Request::decision), which also finds answers in text.
    fn dialog_decision(&self) -> Option<Decision> {
        None
    }

    /// Returns an answer that the user gave in a dialog and that the client sent with the proof of the question: the
    /// [text](super::Question::to_text) of the question, and `true` for a yes. The proof is checked as for an answer in
    /// text. `None` by default.
    fn proven_answer(&self) -> Option<(&str, bool)> {
        None
    }
}

/// Returns the history with reasoning, and without codes of questions.
#[allow(dead_code, reason = "only prompts to models have it")]
pub(crate) fn with_reasoning<C: Conversation + ?Sized>(
    conversation: &C,
) -> impl Iterator<Item = HistoryItem<'_>> + Send {
    let mut code = None;
    let items = conversation.raw_history();
    items.map(move |item| without_code(item, &mut code))
}

/// Removes the code of a question from an assistant message, and from the user message that follows it. `code` carries
/// the code from the one to the other.
fn without_code<'a>(item: HistoryItem<'a>, code: &mut Option<String>) -> HistoryItem<'a> {
    let HistoryItem::Message(mut message) = item else {
        return item;
    };
    match message.role {
        Role::Assistant => {
            *code = consent::without_code(&message.text).map(|(text, code)| {
                message.text = text;
                code
            });
        }
        Role::User => {
            let code = code.take();
            let answer = code.and_then(|code| consent::answer_without_code(&message.text, &code));
            if let Some(answer) = answer {
                message.text = answer.into();
            }
        }
        _ => {}
    }
    HistoryItem::Message(message)
}
