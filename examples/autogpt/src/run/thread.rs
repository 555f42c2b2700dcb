//! One agent's loop: from memories to a request, and from a reply to a proposal.

use super::state::{Phase, Spent, Thread};
use super::{Effect, Event, EventKind, Input, Machine, NEXT_INPUT, Question, Reason};
use crate::command::Spec;
use crate::context::{Context, ContextError, Parts};
use crate::message::Message;
use crate::model::{ModelReply, ModelRequest, wire_tool};
use crate::prompt::{Codec, prompt, reminder};
use crate::reply::{self, Reading, ReplyRules};
use crate::settings::Asking;

/// What a thread is told.
pub(super) enum Told {
    /// What the human decided about its proposal.
    Verdict(Verdict),
    /// What came of its effect.
    Outside(Input),
}

/// What the human decided.
pub(super) enum Verdict {
    Authorise(u64),
    Decline,
    Exit,
    Feedback(String),
}

/// What goes through the threads while they are told something.
pub(super) struct Flow<'a> {
    pub(super) machine: &'a Machine,
    pub(super) spent: &'a mut Spent,
    pub(super) events: Vec<Event>,
    pub(super) pause: Option<Reason>,
    /// The name of the sub-agent that is at work.
    pub(super) agent: Option<String>,
}

impl<'a> Flow<'a> {
    pub(super) fn new(machine: &'a Machine, spent: &'a mut Spent) -> Self {
        Self {
            machine,
            spent,
            events: Vec::new(),
            pause: None,
            agent: None,
        }
    }

    pub(super) fn show(&mut self, kind: EventKind) {
        let agent = self.agent.clone();
        self.events.push(Event { agent, kind });
    }

    /// Counts model calls and tokens.
    pub(super) fn count(&mut self, told: &Told) {
        let (calls, tokens) = match told {
            Told::Outside(Input::Reply(reply)) => {
                // A guess that is too high rather than too low for a server that does not say.
                let guess = (reply.text.len() / 2) as u64;
                (1, reply.tokens.unwrap_or(guess))
            }
            Told::Outside(Input::ModelFailed(_)) => (1, 0),
            Told::Outside(Input::Ended(outcome)) => (outcome.model_calls, 0),
            _ => (0, 0),
        };
        let spent = &mut *self.spent;
        spent.turn_calls = spent.turn_calls.saturating_add(calls);
        spent.run_calls = spent.run_calls.saturating_add(calls);
        spent.tokens = spent.tokens.saturating_add(tokens);
    }
}

/// Where a thread stands.
pub(super) struct Place<'a> {
    /// The id of the run, and for a sub-agent its key.
    pub(super) id: String,
    pub(super) specs: &'a [Spec],
    pub(super) child: bool,
}

impl<'a> Place<'a> {
    pub(super) fn main(id: &str, machine: &'a Machine) -> Self {
        Self {
            id: id.to_owned(),
            specs: &machine.specs,
            child: false,
        }
    }

    pub(super) fn child(&self, key: u64, machine: &'a Machine) -> Self {
        Self {
            id: format!("{}/{key}", self.id),
            specs: &machine.child_specs,
            child: true,
        }
    }
}

impl Thread {
    pub(super) fn effect(&self, machine: &Machine, place: &Place<'_>) -> Effect {
        let rules = &machine.settings.context;
        match &self.phase {
            Phase::Recalling => Effect::Recall {
                query: rules.query(&self.history),
                count: if place.child { 0 } else { rules.memories },
            },
            Phase::Calling {
                messages,
                max_tokens,
            } => Effect::CallModel(ModelRequest {
                max_tokens: *max_tokens,
                tools: tools(machine, place).to_vec(),
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
                let effect = child.map(|child| child.effect(machine, &place.child(*key, machine)));
                // A restored run has the child that its phase names.
                effect.unwrap_or_else(|| Effect::Remember(String::new()))
            }
            Phase::Remembering(text) => Effect::Remember(text.clone()),
            Phase::Finished(end) => Effect::Finish(end.clone()),
        }
    }

    pub(super) fn feed(&mut self, told: Told, flow: &mut Flow<'_>, place: &Place<'_>) {
        if let Phase::Child { key, .. } = self.phase {
            return self.feed_child(key, told, flow, place);
        }
        match told {
            Told::Verdict(verdict) => self.decide(verdict, flow, place),
            Told::Outside(Input::Memories { texts, now }) => self.call(&texts, &now, flow, place),
            Told::Outside(Input::Reply(reply)) => self.take_reply(reply, flow, place),
            Told::Outside(Input::ModelFailed(reason)) => self.model_failed(reason, flow, place),
            Told::Outside(Input::Ended(outcome)) => self.ended(outcome, flow, place),
            Told::Outside(Input::Lost) => self.lost(flow, place),
            Told::Outside(Input::Withdrawn) => self.withdrawn(flow, place),
            Told::Outside(Input::Remembered) => self.phase = Phase::Recalling,
            // Answers have become verdicts.
            Told::Outside(Input::Answer(_)) => {}
        }
    }

    /// Gives a paused thread something else to do.
    pub(super) fn redirect(&mut self, text: &str, machine: &Machine) {
        self.input = with_reminder(text, machine);
        match &self.phase {
            // A request that was not answered is built anew.
            Phase::Calling { .. } | Phase::Repairing { .. } => self.phase = Phase::Recalling,
            // The text may forbid the very command that comes next.
            Phase::Executing { id, command, .. } => {
                self.phase = Phase::Withdrawing {
                    id: id.clone(),
                    name: command.name.clone(),
                };
            }
            // What else there is goes on as it is, and the next request has the text.
            _ => {}
        }
    }

    fn call(&mut self, memories: &[String], now: &str, flow: &mut Flow<'_>, place: &Place<'_>) {
        let machine = flow.machine;
        let rules = &machine.settings.context;
        let prompt = prompt(&self.profile, place.specs, machine.settings.codec);
        let tools = tools(machine, place).iter();
        let beside = tools.map(|spec| machine.tokenizer.count(&wire_tool(spec).to_string()));
        let parts = Parts {
            memories,
            history: &self.history,
            beside: beside.sum(),
            ..Parts::new(&prompt, now, &self.input)
        };
        match Context::build(rules, &*machine.tokenizer, &parts) {
            Ok(context) if context.max_tokens > 0 => {
                self.phase = Phase::Calling {
                    messages: context.messages,
                    max_tokens: u32::try_from(context.max_tokens).ok(),
                };
            }
            Ok(context) => {
                let error = ContextError::InputTooLarge {
                    tokens: context.input_tokens,
                    limit: rules.token_limit.saturating_sub(context.base_tokens),
                };
                flow.pause = Some(Reason::Context(error.to_string()));
            }
            Err(error) => flow.pause = Some(Reason::Context(error.to_string())),
        }
    }

    fn take_reply(&mut self, reply: ModelReply, flow: &mut Flow<'_>, place: &Place<'_>) {
        self.calls += 1;
        let settings = &flow.machine.settings;
        match &self.phase {
            Phase::Repairing { damaged } => {
                let reply = reply::finish(damaged, Some(&reply.text), settings.reply);
                self.propose(reply, flow, place);
            }
            Phase::Chatting { .. } => self.take_chat(&reply.text, flow, place),
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
                    Reading::Done(reply) => self.propose(*reply, flow, place),
                    Reading::Damaged(damaged) if can_repair(&damaged, flow.machine) => {
                        self.phase = Phase::Repairing { damaged };
                    }
                    Reading::Damaged(damaged) => {
                        let reply = reply::finish(&damaged, None, settings.reply);
                        self.propose(reply, flow, place);
                    }
                }
            }
        }
    }

    fn note_exchange(&mut self, reply: &ModelReply, asking: Asking) {
        self.history.push(Message::user(self.input.clone()));
        self.history.push(Message {
            call: reply.call.clone(),
            ..Message::assistant(reply.text.clone())
        });
        if asking == Asking::ByPolicy {
            // What the human said is sent once.
            NEXT_INPUT.clone_into(&mut self.input);
        }
    }

    fn model_failed(&mut self, reason: String, flow: &mut Flow<'_>, place: &Place<'_>) {
        match &self.phase {
            Phase::Repairing { damaged } => {
                let reply = reply::finish(damaged, None, flow.machine.settings.reply);
                self.propose(reply, flow, place);
            }
            // The phase stays: going on asks the model again.
            _ => flow.pause = Some(Reason::Model(reason)),
        }
    }
}

/// The text of the human with a reminder of the format.
pub(super) fn with_reminder(text: &str, machine: &Machine) -> String {
    format!("{text}\n\n{}", reminder(machine.settings.codec))
}

fn tools<'a>(machine: &Machine, place: &Place<'a>) -> &'a [Spec] {
    match machine.settings.codec {
        Codec::Json => &[],
        Codec::Tools => place.specs,
    }
}

/// The original asked for the repair of anything; prose has nothing to repair.
fn can_repair(damaged: &str, machine: &Machine) -> bool {
    let settings = &machine.settings;
    settings.repair && (settings.reply == ReplyRules::Original || damaged.contains('{'))
}
