//! From a reply to a proposal, and from the user's verdict to the command.

use super::state::{Phase, Thread};
use super::thread::{InputContext, Position, Verdict, with_reminder};
use super::{EventKind, NEXT_INPUT, Proposal, Reason};
use crate::agent_loop::message::{Message, Role};
use crate::agent_loop::reply::{Command, HUMAN_FEEDBACK, LONGEST, Reply, ReplyRules};
use crate::agent_loop::settings::{Asking, Feedback};
use crate::digest::hex_digest;
use crate::escape::shortened_to;

/// The number of commands that loop detection compares.
const RECENT: usize = 16;

/// The number of characters of an unreadable reply that are shown.
const EXCERPT_CHARS: usize = 2000;

impl Thread {
    pub(super) fn propose(
        &mut self,
        mut reply: Reply,
        cx: &mut InputContext<'_>,
        position: &Position<'_>,
    ) {
        let has_command = matches!(&reply.command, Ok(command) if !command.is_error_report());
        if !has_command && cx.machine.settings.reply == ReplyRules::Hardened {
            reply.thoughts.limit();
        }
        if !reply.thoughts.is_empty() {
            cx.event(EventKind::Thoughts(reply.thoughts));
        }
        match reply.command {
            Ok(command) if command.is_error_report() => self.propose_error(command, cx, position),
            Ok(command) => self.propose_command(command, cx, position),
            Err(error) => {
                cx.event(EventKind::Damaged(error.message.clone()));
                let command = Command::new("Error:", error.message.into());
                self.propose_error(command, cx, position);
            }
        }
    }

    /// Handles a reply without a command, in the form of a command whose name is `Error:`. The original asks the user
    /// about it like about any command; by default the error is returned to the model a few times.
    fn propose_error(
        &mut self,
        command: Command,
        cx: &mut InputContext<'_>,
        position: &Position<'_>,
    ) {
        let settings = &cx.machine.settings;
        if settings.asking == Asking::EveryStep && self.granted == 0 {
            return self.ask(command, None, cx, position);
        }
        self.damaged_replies += 1;
        let limit = settings.limits.damaged_replies;
        let excerpt = self
            .latest_reply()
            .map(|reply| shortened_to(&reply.content, EXCERPT_CHARS));
        if settings.reply == ReplyRules::Hardened {
            self.limit_latest_reply();
        }
        // Settled before the pause, so that the run does not parse the same reply again when it continues.
        self.report_error(&command, cx, position);
        if limit.is_some_and(|limit| self.damaged_replies >= limit) {
            cx.pause = Some(Reason::Damaged(excerpt.unwrap_or_default()));
        }
    }

    fn latest_reply(&mut self) -> Option<&mut Message> {
        let mut replies = self.history.iter_mut().rev();
        replies.find(|message| message.role == Role::Assistant)
    }

    /// Shortens the latest reply, which has no command, before it is remembered and sent to the model again.
    fn limit_latest_reply(&mut self) {
        if let Some(reply) = self.latest_reply() {
            reply.content = shortened_to(&reply.content, LONGEST);
            if let Some(call) = &mut reply.call {
                call.arguments = shortened_to(&call.arguments, LONGEST);
            }
        }
    }

    fn propose_command(
        &mut self,
        command: Command,
        cx: &mut InputContext<'_>,
        position: &Position<'_>,
    ) {
        self.damaged_replies = 0;
        // Recorded when it is proposed, not when it runs: a model that repeats a declined command is in a loop too.
        self.recent.push(digest(&command));
        let surplus = self.recent.len().saturating_sub(RECENT);
        self.recent.drain(..surplus);
        let spec = position.specs.iter().find(|spec| spec.name == command.name);
        // An unknown command has no effect, so it needs no approval.
        let policy = spec.is_some_and(|spec| spec.policy.asks(&command.args));
        let reason = match command.name.as_str() {
            // Ending is always allowed, whatever the limits say.
            "task_complete" => None,
            _ => self.reason_to_ask(cx),
        };
        let asks = reason.is_some()
            || match cx.machine.settings.asking {
                Asking::ByPolicy => policy && self.granted == 0,
                Asking::EveryStep => self.granted == 0,
                Asking::Never => false,
            };
        match asks {
            true => self.ask(command, reason, cx, position),
            false => {
                cx.spent.unasked_commands += 1;
                self.dispatch(command, policy, cx, position);
            }
        }
    }

    fn ask(
        &mut self,
        command: Command,
        reason: Option<Reason>,
        cx: &InputContext<'_>,
        position: &Position<'_>,
    ) {
        // The user granted without knowing that a limit would be reached.
        if reason.is_some() {
            self.granted = 0;
        }
        self.phase = Phase::Asking(Proposal {
            id: self.command_id(&command, position),
            agent: cx.agent.clone(),
            command,
            reason,
        });
    }

    /// Returns the id of a proposal: run, sub-agent, step and digest. The same command at another
    /// step has another id.
    pub(super) fn command_id(&self, command: &Command, position: &Position<'_>) -> String {
        format!("{}.{}.{}", position.id, self.step, digest(command))
    }

    /// Returns the reason to ask although the policy or the grant would allow the command to run.
    fn reason_to_ask(&self, cx: &InputContext<'_>) -> Option<Reason> {
        let limits = &cx.machine.settings.limits;
        let repeats = self.repeats();
        if limits.repeats.is_some_and(|limit| repeats >= limit) {
            return Some(Reason::Repeats(repeats));
        }
        if limits
            .alternations
            .is_some_and(|limit| self.alternates(limit))
        {
            return Some(Reason::Alternation);
        }
        if let Some(limit) = limits.unasked_commands {
            if cx.spent.unasked_commands >= limit {
                return Some(Reason::Unasked(limit));
            }
        }
        if let Some(limit) = limits.soft_tokens {
            if cx.spent.tokens >= limit {
                return Some(Reason::Budget(limit));
            }
        }
        cx.spent.out_of_time.then_some(Reason::Time)
    }

    /// Returns how many times in a row the latest command was proposed.
    pub(super) fn repeats(&self) -> usize {
        let latest = self.recent.last();
        let row = self.recent.iter().rev();
        row.take_while(|digest| Some(*digest) == latest).count()
    }

    /// Returns `true` if the latest commands alternate between two.
    fn alternates(&self, count: usize) -> bool {
        let from = self.recent.len().checked_sub(count);
        let Some(row) = from.and_then(|from| self.recent.get(from..)) else {
            return false;
        };
        let (Some(first), Some(second)) = (row.first(), row.get(1)) else {
            return false;
        };
        let pattern = [first, second].into_iter().cycle();
        first != second && row.iter().zip(pattern).all(|(a, b)| a == b)
    }

    pub(super) fn decide(
        &mut self,
        verdict: Verdict,
        cx: &mut InputContext<'_>,
        position: &Position<'_>,
    ) {
        let Phase::Asking(proposal) = &self.phase else {
            return;
        };
        let command = proposal.command.clone();
        match verdict {
            Verdict::Authorise(count) => {
                // The grant includes this command, which `dispatch` subtracts.
                self.granted = self.granted.max(count);
                NEXT_INPUT.clone_into(&mut self.input);
                let spec = position.specs.iter().find(|spec| spec.name == command.name);
                let policy = spec.is_some_and(|spec| spec.policy.asks(&command.args));
                self.dispatch(command, policy, cx, position);
            }
            Verdict::Decline => {
                NEXT_INPUT.clone_into(&mut self.input);
                let text = "was declined by the human. It was not run; propose something else.";
                self.settle(&format!("Command {} {text}", command.name), cx, position);
            }
            Verdict::Feedback(text) => self.feedback(text, cx, position),
            // `feed` ends the run before a thread receives this verdict.
            Verdict::Exit => {}
        }
    }

    fn feedback(&mut self, text: String, cx: &InputContext<'_>, position: &Position<'_>) {
        let result = format!("Human feedback: {text}");
        match cx.machine.settings.feedback {
            Feedback::Twice => {
                self.input = text;
                self.settle(&result, cx, position);
            }
            Feedback::Once => {
                self.input = with_reminder(&text, cx.machine);
                self.settle_unsaid(&result, position);
            }
        }
    }
}

/// Returns `true` if a command uses the name reserved for feedback.
pub(super) fn forges_feedback(command: &Command) -> bool {
    command.name == HUMAN_FEEDBACK
}

/// Returns a short digest, because users see it. The secret part of an approval is the id of the
/// run.
fn digest(command: &Command) -> String {
    let digest = hex_digest(&[&command.name, &command.args.to_string()]);
    digest.chars().take(16).collect()
}
