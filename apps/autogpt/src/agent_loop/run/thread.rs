//! The loop of one agent: from memories to a request, and from a reply to a proposal.

use super::state::{Phase, Thread, Usage};
use super::{Effect, Event, EventKind, Input, Machine, NEXT_INPUT, Question, Reason};
use crate::agent_loop::context::{Context, ContextError, Parts};
use crate::agent_loop::message::Message;
use crate::agent_loop::model::{ModelReply, ModelRequest, wire_tool};
use crate::agent_loop::prompt::{Codec, prompt, reminder};
use crate::agent_loop::reply::{self, Reading, ReplyRules};
use crate::agent_loop::settings::Asking;
use crate::commands::Spec;
use copilot_wire::json::Wire as _;

/// An input of a thread.
pub(super) enum ThreadInput {
    /// The user's verdict on the proposal.
    Verdict(Verdict),
    /// The result of an effect.
    Result(Input),
}

/// A verdict of the user.
pub(super) enum Verdict {
    Authorise(u64),
    Decline,
    Exit,
    Feedback(String),
}

/// The context of one input: machine, usage, and the events and the pause that result.
pub(super) struct InputContext<'a> {
    pub(super) machine: &'a Machine,
    pub(super) spent: &'a mut Usage,
    pub(super) events: Vec<Event>,
    pub(super) pause: Option<Reason>,
    /// The name of the active sub-agent.
    pub(super) agent: Option<String>,
}

impl<'a> InputContext<'a> {
    pub(super) fn new(machine: &'a Machine, spent: &'a mut Usage) -> Self {
        Self {
            machine,
            spent,
            events: Vec::new(),
            pause: None,
            agent: None,
        }
    }

    pub(super) fn event(&mut self, kind: EventKind) {
        let agent = self.agent.clone();
        self.events.push(Event { agent, kind });
    }

    /// Adds the model calls and tokens of an input to the usage.
    pub(super) fn count(&mut self, input: &ThreadInput) {
        let (calls, tokens) = match input {
            ThreadInput::Result(Input::Reply(reply)) => {
                // Servers that report no usage are estimated, rather too high than too low.
                let guess = (reply.text.len() / 2) as u64;
                (1, reply.tokens.unwrap_or(guess))
            }
            ThreadInput::Result(Input::ModelFailed(_)) => (1, 0),
            ThreadInput::Result(Input::Ended(outcome)) => (outcome.model_calls, 0),
            _ => (0, 0),
        };
        let spent = &mut *self.spent;
        spent.turn_calls = spent.turn_calls.saturating_add(calls);
        spent.run_calls = spent.run_calls.saturating_add(calls);
        spent.tokens = spent.tokens.saturating_add(tokens);
    }
}

/// The position of a thread in its run.
pub(super) struct Position<'a> {
    /// The id of the run, followed by the key of a sub-agent.
    pub(super) id: String,
    pub(super) specs: &'a [Spec],
    pub(super) child: bool,
}

impl<'a> Position<'a> {
    pub(super) fn main(id: &str, machine: &'a Machine) -> Self {
        Self {
            id: id.to_owned(),
            specs: &machine.specs,
            child: false,
        }
    }

    pub(super) fn child(&self, key: u64, machine: &'a Machine) -> Self {
        Self {
            id: format!("{}.agent{key}", self.id),
            specs: &machine.child_specs,
            child: true,
        }
    }
}

impl Thread {
    pub(super) fn effect(&self, machine: &Machine, position: &Position<'_>) -> Effect {
        let rules = &machine.settings.context;
        match &self.phase {
            Phase::Recalling => Effect::Recall {
                query: rules.query(&self.history),
                count: if position.child { 0 } else { rules.memories },
            },
            Phase::Calling {
                messages,
                max_tokens,
            } => Effect::CallModel(ModelRequest {
                max_tokens: *max_tokens,
                tools: tools(machine, position).to_vec(),
                ..ModelRequest::new(messages.clone())
            }),
            Phase::Repairing { damaged } => Effect::CallModel(ModelRequest {
                temperature: Some(0.0),
                ..ModelRequest::new(reply::repair_request(damaged))
            }),
            Phase::Asking(proposal) => Effect::Ask(Question::Command(proposal.clone())),
            Phase::Executing { id, command, .. } => Effect::Execute {
                id: id.clone(),
                command: command.clone(),
            },
            Phase::Withdrawing { id, .. } => Effect::Withdraw { id: id.clone() },
            Phase::Chatting { key, .. } => {
                let agent = self.agents.get(*key);
                let messages = agent.map(|agent| agent.messages.clone());
                Effect::CallModel(ModelRequest::new(messages.unwrap_or_default()))
            }
            Phase::Child { key, .. } => {
                let child = self
                    .agents
                    .get(*key)
                    .and_then(|agent| agent.thread.as_ref());
                let effect =
                    child.map(|child| child.effect(machine, &position.child(*key, machine)));
                // Unreachable: `is_valid` has checked that the sub-agent exists.
                effect.unwrap_or_else(|| Effect::Remember(String::new()))
            }
            Phase::Remembering(text) => Effect::Remember(text.clone()),
            Phase::Finished(end) => Effect::Finish(end.clone()),
        }
    }

    pub(super) fn feed(
        &mut self,
        input: ThreadInput,
        cx: &mut InputContext<'_>,
        position: &Position<'_>,
    ) {
        if let Phase::Child { key, .. } = self.phase {
            return self.feed_child(key, input, cx, position);
        }
        let result = match input {
            ThreadInput::Verdict(verdict) => return self.decide(verdict, cx, position),
            ThreadInput::Result(result) => result,
        };
        match result {
            Input::Memories { texts, now } => self.call(&texts, &now, cx, position),
            Input::Reply(reply) => self.take_reply(reply, cx, position),
            Input::ModelFailed(reason) => self.model_failed(reason, cx, position),
            Input::Ended(outcome) => self.ended(outcome, cx, position),
            Input::Lost => self.lost(cx, position),
            Input::Withdrawn => self.withdrawn(cx, position),
            Input::TooLong { shown, most } => self.too_long(shown, most, cx, position),
            Input::Remembered => self.phase = Phase::Recalling,
            // `Run::feed` has converted answers into verdicts.
            Input::Answer(_) => {}
        }
    }

    /// Gives a paused thread new instructions of the user.
    pub(super) fn redirect(&mut self, text: &str, machine: &Machine) {
        self.input = with_reminder(text, machine);
        match &self.phase {
            // The request has no reply yet, so it is built again, with the new text.
            Phase::Calling { .. } | Phase::Repairing { .. } => self.phase = Phase::Recalling,
            // The text may forbid the command that is about to run.
            Phase::Executing { id, command, .. } => {
                self.phase = Phase::Withdrawing {
                    id: id.clone(),
                    name: command.name.clone(),
                };
            }
            // Other phases continue, and the next request contains the text.
            _ => {}
        }
    }

    fn call(
        &mut self,
        memories: &[String],
        now: &str,
        cx: &mut InputContext<'_>,
        position: &Position<'_>,
    ) {
        let machine = cx.machine;
        let rules = &machine.settings.context;
        let prompt = prompt(&self.profile, position.specs, machine.settings.codec);
        let tools = tools(machine, position).iter();
        let overhead = tools.map(|spec| {
            let tool = wire_tool(spec).to_json();
            machine.tokenizer.count(&String::from_utf8_lossy(&tool))
        });
        let parts = Parts {
            memories,
            history: &self.history,
            overhead: overhead.sum(),
            ..Parts::new(&prompt, now, &self.input)
        };
        match Context::build(rules, &*machine.tokenizer, &parts) {
            Ok(context) if context.max_tokens > 0 => {
                self.phase = Phase::Calling {
                    messages: context.messages,
                    max_tokens: u32::try_from(context.max_tokens).ok(),
                };
            }
            // With the original's rules a request may leave no tokens for the reply.
            Ok(context) => {
                let error = ContextError::InputTooLarge {
                    tokens: context.input_tokens,
                    limit: rules.token_limit.saturating_sub(context.base_tokens),
                };
                cx.pause = Some(Reason::Context(error.to_string()));
            }
            Err(error) => cx.pause = Some(Reason::Context(error.to_string())),
        }
    }

    fn take_reply(
        &mut self,
        reply: ModelReply,
        cx: &mut InputContext<'_>,
        position: &Position<'_>,
    ) {
        // Repairs and chats count too: each was a call that was paid for.
        self.calls += 1;
        let settings = &cx.machine.settings;
        match &self.phase {
            Phase::Repairing { damaged } => {
                let reply = reply::finish(damaged, Some(&reply.text), settings.reply);
                self.propose(reply, cx, position);
            }
            Phase::Chatting { .. } => self.take_chat(&reply.text, cx, position),
            _ => {
                self.note_exchange(&reply, settings.asking);
                let reading = match settings.codec {
                    Codec::Json => reply::read(&reply.text, settings.reply),
                    Codec::Tools => {
                        let reply = reply::read_tool_call(&reply.text, reply.call.as_ref());
                        Reading::Done(Box::new(reply))
                    }
                };
                match reading {
                    Reading::Done(reply) => self.propose(*reply, cx, position),
                    Reading::Damaged(damaged) if can_repair(&damaged, cx.machine) => {
                        self.phase = Phase::Repairing { damaged };
                    }
                    Reading::Damaged(damaged) => {
                        let reply = reply::finish(&damaged, None, settings.reply);
                        self.propose(reply, cx, position);
                    }
                }
            }
        }
    }

    fn note_exchange(&mut self, reply: &ModelReply, asking: Asking) {
        // Both messages are added now and not before the call, so that a failed call adds nothing to the history.
        self.history.push(Message::user(self.input.clone()));
        self.history.push(Message {
            call: reply.call.clone(),
            ..Message::assistant(reply.text.clone())
        });
        if asking == Asking::ByPolicy {
            // Feedback is sent once.
            NEXT_INPUT.clone_into(&mut self.input);
        }
    }

    fn model_failed(&mut self, reason: String, cx: &mut InputContext<'_>, position: &Position<'_>) {
        match &self.phase {
            Phase::Repairing { damaged } => {
                let reply = reply::finish(damaged, None, cx.machine.settings.reply);
                self.propose(reply, cx, position);
            }
            // The phase is unchanged, so continuing calls the model again.
            _ => cx.pause = Some(Reason::Model(reason)),
        }
    }
}

/// Appends the format reminder to a text of the user.
pub(super) fn with_reminder(text: &str, machine: &Machine) -> String {
    format!("{text}\n\n{}", reminder(machine.settings.codec))
}

fn tools<'a>(machine: &Machine, position: &Position<'a>) -> &'a [Spec] {
    match machine.settings.codec {
        Codec::Json => &[],
        Codec::Tools => position.specs,
    }
}

/// Returns `true` if a repair by the model makes sense. The original always tried. By default prose is not repaired,
/// because it contains no object, and neither is a very long reply, because the model would only see a part of it.
fn can_repair(damaged: &str, machine: &Machine) -> bool {
    let settings = &machine.settings;
    let hardened = || damaged.contains('{') && damaged.chars().count() <= reply::LONGEST;
    settings.repair && (settings.reply == ReplyRules::Original || hardened())
}
