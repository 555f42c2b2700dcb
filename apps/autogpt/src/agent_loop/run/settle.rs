//! From a command to its result, and from the result to the next step.

use super::propose::forges_feedback;
use super::state::{Phase, Thread};
use super::thread::{InputContext, Position};
use super::{End, EventKind, Reason};
use crate::agent_loop::message::{Message, Role};
use crate::agent_loop::prompt::reminder;
use crate::agent_loop::reply::{Command, LONGEST, ReplyRules};
use crate::agent_loop::settings::{Asking, Feedback};
use crate::commands::Outcome;
use crate::escape::shortened_to;
use crate::json::Value;

/// The result of a command that the user answered with feedback.
const NOT_RUN: &str = "Not run: the human answered instead.";

/// The warning to a model that repeats a command.
const REPEATED: &str = "[This is the same command with the same arguments as before. \
    Do something else, or finish.]";

impl Thread {
    /// Starts an approved command.
    pub(super) fn dispatch(
        &mut self,
        command: Command,
        policy: bool,
        cx: &mut InputContext<'_>,
        position: &Position<'_>,
    ) {
        if command.is_error_report() {
            return self.report_error(&command, cx, position);
        }
        // The original executes a command of this name as feedback. With the default settings the parser rejects the
        // name.
        if forges_feedback(&command) {
            return self.settle(&format!("Human feedback: {}", self.input), cx, position);
        }
        // Only commands that would ask without a grant use it up.
        if policy || cx.machine.settings.asking == Asking::EveryStep {
            self.granted = self.granted.saturating_sub(1);
        }
        if command.name == "task_complete" {
            let reason = command.args.member("reason").and_then(Value::as_text);
            let reason = reason.unwrap_or_default().to_owned();
            self.phase = Phase::Finished(End::Complete(reason));
            return;
        }
        // The event is saved with the step, and shown before the command starts.
        cx.event(EventKind::Started(command.clone()));
        if !position.child && self.agent_command(&command, cx, position) {
            return;
        }
        let limit = cx.machine.settings.limits.repeats;
        // The next repetition will ask, so this result warns the model.
        let again = limit.is_some_and(|limit| limit > 1 && self.repeats() + 1 >= limit);
        self.phase = Phase::Executing {
            id: self.command_id(&command, position),
            command,
            note: again.then(|| REPEATED.to_owned()),
        };
    }

    pub(super) fn ended(
        &mut self,
        outcome: Outcome,
        cx: &mut InputContext<'_>,
        position: &Position<'_>,
    ) {
        let Phase::Executing { command, note, .. } = &self.phase else {
            return;
        };
        let name = command.name.clone();
        let note = note.clone();
        if !outcome.sources.is_empty() {
            cx.event(EventKind::Sources(outcome.sources));
        }
        let text = limited(&outcome.text, cx);
        let text = match note {
            Some(note) => format!("{text}\n{note}"),
            None => text,
        };
        self.returned(&name, outcome.ok, &text, cx, position);
    }

    /// Handles the result of a command.
    pub(super) fn returned(
        &mut self,
        name: &str,
        ok: bool,
        text: &str,
        cx: &mut InputContext<'_>,
        position: &Position<'_>,
    ) {
        cx.event(EventKind::Ended {
            name: name.to_owned(),
            ok,
            text: text.to_owned(),
        });
        self.settle(&format!("Command {name} returned: {text}"), cx, position);
    }

    /// Handles a command whose process no longer exists. The command is not run again.
    pub(super) fn lost(&mut self, cx: &mut InputContext<'_>, position: &Position<'_>) {
        let name = match &self.phase {
            Phase::Executing { command, .. } => command.name.clone(),
            Phase::Withdrawing { name, .. } => name.clone(),
            _ => return,
        };
        let text = "was started, but its result is lost. It may or may not have had its effect; \
            check before you do it again.";
        self.settle(&format!("Command {name} {text}"), cx, position);
        // The user may know whether the command had an effect; the model cannot.
        cx.pause = Some(Reason::Lost(name));
    }

    /// Handles a command that was withdrawn before it started.
    pub(super) fn withdrawn(&mut self, cx: &mut InputContext<'_>, position: &Position<'_>) {
        let Phase::Withdrawing { name, .. } = &self.phase else {
            return;
        };
        cx.event(EventKind::Ended {
            name: name.clone(),
            ok: false,
            text: NOT_RUN.to_owned(),
        });
        self.settle_unsaid(NOT_RUN, position);
    }

    /// Handles a command whose question is too long to be shown.
    pub(super) fn too_long(
        &mut self,
        shown: usize,
        most: usize,
        cx: &mut InputContext<'_>,
        position: &Position<'_>,
    ) {
        let Phase::Asking(proposal) = &self.phase else {
            return;
        };
        let name = proposal.command.name.clone();
        cx.event(EventKind::Notice(format!(
            "The next command is too long to be shown to you as a whole: it would take {shown} characters, \
             and there is space for {most}. So it was not run, and the agent was told."
        )));
        let text = format!(
            "was not run: it is too long to be shown to the human for approval ({shown} characters, {most} at \
             most). Do it in smaller parts."
        );
        self.settle(&format!("Command {name} {text}"), cx, position);
    }

    /// Handles a reply without a command.
    pub(super) fn report_error(
        &mut self,
        command: &Command,
        cx: &InputContext<'_>,
        position: &Position<'_>,
    ) {
        let settings = &cx.machine.settings;
        let args = match &command.args {
            Value::Text(text) => text.clone(),
            other => other.to_string(),
        };
        let args = match settings.reply {
            ReplyRules::Hardened => shortened_to(&args, LONGEST),
            ReplyRules::Original => args,
        };
        let mut text = format!("Command {} threw the following error: {args}", command.name);
        if settings.feedback == Feedback::Once {
            text = format!("{text} {}", reminder(settings.codec));
        }
        self.settle(&text, cx, position);
    }

    /// Settles the reply: appends its result to the history, increments the step, and continues with the memory.
    pub(super) fn settle(&mut self, result: &str, cx: &InputContext<'_>, position: &Position<'_>) {
        let role = cx.machine.settings.result_role;
        let message = match self.open_call() {
            Some(id) => Message::tool(&id, result),
            None => Message::new(role, result),
        };
        self.history.push(message);
        // From here on no approval of this command is valid.
        self.step += 1;
        self.remember(result, position);
    }

    /// Settles the reply without a result in the history, because the next user input contains it.
    pub(super) fn settle_unsaid(&mut self, result: &str, position: &Position<'_>) {
        // The API requires a result for each tool call, even for one that was not run.
        if let Some(id) = self.open_call() {
            self.history.push(Message::tool(&id, NOT_RUN));
        }
        self.step += 1;
        self.remember(result, position);
    }

    fn remember(&mut self, result: &str, position: &Position<'_>) {
        let mut replies = self.history.iter().rev();
        let reply = replies.find(|message| message.role == Role::Assistant);
        let reply = reply.map_or("", |reply| &reply.content);
        self.phase = match position.child {
            // Sub-agents have no memory.
            true => Phase::Recalling,
            false => Phase::Remembering(format!(
                "Assistant Reply: {reply} \nResult: {result} \nHuman Feedback: {} ",
                self.input
            )),
        };
    }

    /// Returns the id of the native tool call that waits for its result.
    fn open_call(&self) -> Option<String> {
        let latest = self.history.last()?;
        latest.call.as_ref().map(|call| call.id.clone())
    }
}

/// Truncates a result to its share of the send limit, with a note of its full size.
pub(super) fn limited(text: &str, cx: &InputContext<'_>) -> String {
    let settings = &cx.machine.settings;
    let Some(part) = settings.limits.result_part else {
        return text.to_owned();
    };
    let most = settings.context.send_limit() / part.max(1);
    // A token has at least one byte, so short texts need no counting.
    if text.len() <= most {
        return text.to_owned();
    }
    let start = cx.machine.tokenizer.cut(text, most);
    if start.len() == text.len() {
        return text.to_owned();
    }
    let characters = text.chars().count();
    format!("{start}\n[Cut: the whole result has {characters} characters.]")
}
