//! From a command to its result, and from the result to the next step.

use super::propose::forges_feedback;
use super::state::{Phase, Thread};
use super::thread::{Flow, Place};
use super::{End, EventKind, Reason};
use crate::command::Outcome;
use crate::json::Value;
use crate::message::{Message, Role};
use crate::prompt::reminder;
use crate::reply::Command;
use crate::settings::{Asking, Feedback};

/// What a command comes to that the human has answered with something else.
const NOT_RUN: &str = "Not run: the human answered instead.";

/// What the model reads when it proposes the same again.
const REPEATED: &str = "[This is the same command with the same arguments as before. \
    Do something else, or finish.]";

impl Thread {
    /// Starts a command that may run.
    pub(super) fn dispatch(
        &mut self,
        command: Command,
        policy: bool,
        flow: &mut Flow<'_>,
        place: &Place<'_>,
    ) {
        if command.is_error_report() {
            return self.report_error(&command, flow, place);
        }
        if forges_feedback(&command) {
            return self.settle(&format!("Human feedback: {}", self.input), flow, place);
        }
        // A count is spent by what would have asked.
        if policy || flow.machine.settings.asking == Asking::EveryStep {
            self.granted = self.granted.saturating_sub(1);
        }
        if command.name == "task_complete" {
            let reason = command.args.member("reason").and_then(Value::as_text);
            let reason = reason.unwrap_or_default().to_owned();
            self.phase = Phase::Finished(End::Complete(reason));
            return;
        }
        flow.show(EventKind::Started(command.clone()));
        if !place.child && self.agent_command(&command, flow, place) {
            return;
        }
        let limit = flow.machine.settings.limits.repeats;
        let again = limit.is_some_and(|limit| limit > 1 && self.repeats() + 1 >= limit);
        self.phase = Phase::Executing {
            id: self.command_id(&command, place),
            command,
            note: again.then(|| REPEATED.to_owned()),
        };
    }

    pub(super) fn ended(&mut self, outcome: Outcome, flow: &mut Flow<'_>, place: &Place<'_>) {
        let Phase::Executing { command, note, .. } = &self.phase else {
            return;
        };
        let name = command.name.clone();
        let note = note.clone();
        if !outcome.sources.is_empty() {
            flow.show(EventKind::Sources(outcome.sources));
        }
        let text = limited(&outcome.text, flow);
        let text = match note {
            Some(note) => format!("{text}\n{note}"),
            None => text,
        };
        self.returned(&name, outcome.ok, &text, flow, place);
    }

    /// A command has a result.
    pub(super) fn returned(
        &mut self,
        name: &str,
        ok: bool,
        text: &str,
        flow: &mut Flow<'_>,
        place: &Place<'_>,
    ) {
        flow.show(EventKind::Ended {
            name: name.to_owned(),
            ok,
            text: text.to_owned(),
        });
        self.settle(&format!("Command {name} returned: {text}"), flow, place);
    }

    /// The process that ran the command is gone. The command is not run again.
    pub(super) fn lost(&mut self, flow: &mut Flow<'_>, place: &Place<'_>) {
        let name = match &self.phase {
            Phase::Executing { command, .. } => command.name.clone(),
            Phase::Withdrawing { name, .. } => name.clone(),
            _ => return,
        };
        let text = "was started, but its result is lost. It may or may not have had its effect; \
            check before you do it again.";
        self.settle(&format!("Command {name} {text}"), flow, place);
        flow.pause = Some(Reason::Lost(name));
    }

    /// The human forbade the command in time.
    pub(super) fn withdrawn(&mut self, flow: &mut Flow<'_>, place: &Place<'_>) {
        let Phase::Withdrawing { name, .. } = &self.phase else {
            return;
        };
        flow.show(EventKind::Ended {
            name: name.clone(),
            ok: false,
            text: NOT_RUN.to_owned(),
        });
        self.settle_unsaid(NOT_RUN, place);
    }

    /// The reply held no command.
    pub(super) fn report_error(&mut self, command: &Command, flow: &Flow<'_>, place: &Place<'_>) {
        let settings = &flow.machine.settings;
        let args = match &command.args {
            Value::Text(text) => text.clone(),
            other => other.to_string(),
        };
        let mut text = format!("Command {} threw the following error: {args}", command.name);
        if settings.feedback == Feedback::Once {
            text = format!("{text} {}", reminder(settings.codec));
        }
        self.settle(&text, flow, place);
    }

    /// Writes a result into the history and goes on.
    pub(super) fn settle(&mut self, result: &str, flow: &Flow<'_>, place: &Place<'_>) {
        let role = flow.machine.settings.result_role;
        let message = match self.open_call() {
            Some(id) => Message::tool(&id, result),
            None => Message::new(role, result),
        };
        self.history.push(message);
        self.step += 1;
        self.remember(result, place);
    }

    /// Goes on with a result that the next user input says by itself.
    pub(super) fn settle_unsaid(&mut self, result: &str, place: &Place<'_>) {
        if let Some(id) = self.open_call() {
            self.history.push(Message::tool(&id, NOT_RUN));
        }
        self.step += 1;
        self.remember(result, place);
    }

    fn remember(&mut self, result: &str, place: &Place<'_>) {
        let mut replies = self.history.iter().rev();
        let reply = replies.find(|message| message.role == Role::Assistant);
        let reply = reply.map_or("", |reply| &reply.content);
        self.phase = match place.child {
            true => Phase::Recalling,
            false => Phase::Remembering(format!(
                "Assistant Reply: {reply} \nResult: {result} \nHuman Feedback: {} ",
                self.input
            )),
        };
    }

    /// The native tool call that waits for its result.
    fn open_call(&self) -> Option<String> {
        let newest = self.history.last()?;
        newest.call.as_ref().map(|call| call.id.clone())
    }
}

/// A result within its part of the send limit, with a note of its full size if it was cut.
pub(super) fn limited(text: &str, flow: &Flow<'_>) -> String {
    let settings = &flow.machine.settings;
    let Some(part) = settings.limits.result_part else {
        return text.to_owned();
    };
    let most = settings.context.send_limit() / part.max(1);
    if text.len() <= most {
        return text.to_owned();
    }
    let start = flow.machine.tokenizer.cut(text, most);
    if start.len() == text.len() {
        return text.to_owned();
    }
    let characters = text.chars().count();
    format!("{start}\n[Cut: the whole result has {characters} characters.]")
}
