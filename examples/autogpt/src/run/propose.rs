//! From a reply to a proposal, and from the human's verdict to a command.

use super::state::{Phase, Thread};
use super::thread::{Flow, Place, Verdict, with_reminder};
use super::{EventKind, NEXT_INPUT, Proposal, Reason};
use crate::digest::hex_digest;
use crate::reply::{Command, HUMAN_FEEDBACK, Reply};
use crate::settings::{Asking, Feedback};

/// How many commands are remembered to notice loops.
const RECENT: usize = 16;

/// The most of an unreadable reply that the human is shown.
const SHOWN: usize = 2000;

impl Thread {
    pub(super) fn propose(&mut self, reply: Reply, flow: &mut Flow<'_>, place: &Place<'_>) {
        if !reply.thoughts.is_empty() {
            flow.show(EventKind::Thoughts(reply.thoughts));
        }
        match reply.command {
            Ok(command) if command.is_error_report() => self.propose_error(command, flow, place),
            Ok(command) => self.propose_command(command, flow, place),
            Err(error) => {
                flow.show(EventKind::Damaged(error.message.clone()));
                let command = Command::new("Error:", error.message.into());
                self.propose_error(command, flow, place);
            }
        }
    }

    /// A reply without a command. The original asks the human about it like about a command; by
    /// default it goes back to the model, a few times.
    fn propose_error(&mut self, command: Command, flow: &mut Flow<'_>, place: &Place<'_>) {
        let settings = &flow.machine.settings;
        if settings.asking == Asking::EveryStep && self.granted == 0 {
            return self.ask(command, None, flow, place);
        }
        self.damaged_replies += 1;
        let limit = settings.limits.damaged_replies;
        self.report_error(&command, flow, place);
        if limit.is_some_and(|limit| self.damaged_replies >= limit) {
            let mut replies = self.history.iter().rev();
            let reply = replies.find(|m| m.role == crate::message::Role::Assistant);
            let shown = reply.map(|reply| reply.content.chars().take(SHOWN).collect());
            flow.pause = Some(Reason::Damaged(shown.unwrap_or_default()));
        }
    }

    fn propose_command(&mut self, command: Command, flow: &mut Flow<'_>, place: &Place<'_>) {
        self.damaged_replies = 0;
        self.recent.push(digest(&command));
        let surplus = self.recent.len().saturating_sub(RECENT);
        self.recent.drain(..surplus);
        let spec = place.specs.iter().find(|spec| spec.name == command.name);
        // An unknown command does nothing.
        let policy = spec.is_some_and(|spec| spec.policy.asks(&command.args));
        let reason = match command.name.as_str() {
            "task_complete" => None,
            _ => self.reason_to_ask(flow),
        };
        let asks = reason.is_some()
            || match flow.machine.settings.asking {
                Asking::ByPolicy => policy && self.granted == 0,
                Asking::EveryStep => self.granted == 0,
                Asking::Never => false,
            };
        match asks {
            true => self.ask(command, reason, flow, place),
            false => {
                flow.spent.unasked_commands += 1;
                self.dispatch(command, policy, flow, place);
            }
        }
    }

    fn ask(
        &mut self,
        command: Command,
        reason: Option<Reason>,
        flow: &Flow<'_>,
        place: &Place<'_>,
    ) {
        if reason.is_some() {
            self.granted = 0;
        }
        self.phase = Phase::Asking(Proposal {
            id: self.command_id(&command, place),
            agent: flow.agent.clone(),
            command,
            reason,
        });
    }

    /// Run, sub-agent, step and digest: the same command at another step has another id.
    pub(super) fn command_id(&self, command: &Command, place: &Place<'_>) -> String {
        format!("{}:{}:{}", place.id, self.step, digest(command))
    }

    /// Why to ask although the policy or the granted count would let the command run.
    fn reason_to_ask(&self, flow: &Flow<'_>) -> Option<Reason> {
        let limits = &flow.machine.settings.limits;
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
            if flow.spent.unasked_commands >= limit {
                return Some(Reason::Unasked(limit));
            }
        }
        if let Some(limit) = limits.soft_tokens {
            if flow.spent.tokens >= limit {
                return Some(Reason::Budget(limit));
            }
        }
        flow.spent.out_of_time.then_some(Reason::Time)
    }

    /// How often the newest command was proposed in a row.
    pub(super) fn repeats(&self) -> usize {
        let newest = self.recent.last();
        let row = self.recent.iter().rev();
        row.take_while(|digest| Some(*digest) == newest).count()
    }

    /// Whether the newest commands are two in turns.
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

    pub(super) fn decide(&mut self, verdict: Verdict, flow: &mut Flow<'_>, place: &Place<'_>) {
        let Phase::Asking(proposal) = &self.phase else {
            return;
        };
        let command = proposal.command.clone();
        match verdict {
            Verdict::Authorise(count) => {
                self.granted = self.granted.max(count);
                NEXT_INPUT.clone_into(&mut self.input);
                let spec = place.specs.iter().find(|spec| spec.name == command.name);
                let policy = spec.is_some_and(|spec| spec.policy.asks(&command.args));
                self.dispatch(command, policy, flow, place);
            }
            Verdict::Decline => {
                NEXT_INPUT.clone_into(&mut self.input);
                let text = "was declined by the human. It was not run; propose something else.";
                self.settle(&format!("Command {} {text}", command.name), flow, place);
            }
            Verdict::Feedback(text) => self.feedback(text, flow, place),
            // The run has ended before a thread could hear of it.
            Verdict::Exit => {}
        }
    }

    fn feedback(&mut self, text: String, flow: &Flow<'_>, place: &Place<'_>) {
        let result = format!("Human feedback: {text}");
        match flow.machine.settings.feedback {
            Feedback::Twice => {
                self.input = text;
                self.settle(&result, flow, place);
            }
            Feedback::Once => {
                self.input = with_reminder(&text, flow.machine);
                self.settle_unsaid(&result, place);
            }
        }
    }
}

/// The name by which a model may not forge feedback.
pub(super) fn forges_feedback(command: &Command) -> bool {
    command.name == HUMAN_FEEDBACK
}

/// Short, because people see it; it is the id of the run that nobody can guess.
fn digest(command: &Command) -> String {
    let digest = hex_digest(&[&command.name, &command.args.to_string()]);
    digest.chars().take(16).collect()
}
