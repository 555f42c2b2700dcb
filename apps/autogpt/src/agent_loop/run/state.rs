//! The stored state of a run: its agents, and the phase of each.

use serde::{Deserialize, Serialize};

use super::{End, Proposal, Reason};
use crate::agent_loop::message::Message;
use crate::agent_loop::prompt::Profile;
use crate::agent_loop::reply::Command;

/// The version of the stored format.
pub(super) const VERSION: u32 = 1;

/// The stored state of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) version: u32,
    pub(super) id: String,
    pub(super) main: Thread,
    pub(super) spent: Usage,
    /// The reason of the current pause. While it is set, the run asks whether to go on, and the threads wait unchanged.
    pub(super) paused: Option<Reason>,
    pub(super) pauses: u64,
}

/// The usage of a run and of its current turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Usage {
    pub(super) run_calls: u64,
    pub(super) turn_calls: u64,
    pub(super) unasked_commands: u64,
    pub(super) tokens: u64,
    /// `true` once the time of the turn is over: the next command asks.
    pub(super) out_of_time: bool,
}

/// The loop of one agent: the main one, or a sub-agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Thread {
    pub(super) profile: Profile,
    pub(super) history: Vec<Message>,
    /// The user message of the next request: [`FIRST_INPUT`](super::FIRST_INPUT), [`NEXT_INPUT`](super::NEXT_INPUT), the
    /// user's feedback, or the message to a sub-agent.
    pub(super) input: String,
    /// The number of settled replies, which makes the ids of proposals unique.
    pub(super) step: u64,
    /// The grant: the number of commands that may run without a question.
    pub(super) granted: u64,
    pub(super) phase: Phase,
    pub(super) damaged_replies: u64,
    /// Digests of the latest proposed commands, for the detection of loops.
    pub(super) recent: Vec<String>,
    /// The number of model calls since the last message to this sub-agent.
    pub(super) calls: u64,
    pub(super) agents: Agents,
}

/// The state of a thread: the input that it waits for. The table in the parent module has the transitions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Phase {
    Recalling,
    Calling {
        messages: Vec<Message>,
        max_tokens: Option<u32>,
    },
    Repairing {
        damaged: String,
    },
    Asking(Proposal),
    Executing {
        id: String,
        command: Command,
        /// A note that is appended to the result.
        note: Option<String>,
    },
    /// The user has objected to a command that may have started.
    Withdrawing {
        id: String,
        name: String,
    },
    /// A sub-agent that is a plain chat works for `command`.
    Chatting {
        command: String,
        key: u64,
        stage: Chat,
    },
    /// A sub-agent that is a run works for `command`. `first` is `true` for `start_agent`, whose result also has the
    /// new key.
    Child {
        command: String,
        key: u64,
        first: bool,
    },
    Remembering(String),
    Finished(End),
}

/// The stages of a plain chat with a sub-agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Chat {
    /// The sub-agent was told its name, as in the original. It gets the prompt after its reply.
    Hello { prompt: String },
    /// The sub-agent was sent the prompt.
    First,
    /// The sub-agent was sent a message.
    Message,
}

/// The sub-agents of an agent. Keys count up from 0 and are never reused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Agents {
    pub(super) next: u64,
    pub(super) living: Vec<SubAgent>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SubAgent {
    pub(super) key: u64,
    pub(super) name: String,
    pub(super) task: String,
    /// The messages of a plain chat. Empty for a run.
    pub(super) messages: Vec<Message>,
    /// The thread of a run. `None` for a plain chat.
    pub(super) thread: Option<Box<Thread>>,
}

impl Thread {
    pub(super) fn new(profile: Profile, input: &str) -> Self {
        Self {
            profile,
            history: Vec::new(),
            input: input.to_owned(),
            step: 0,
            granted: 0,
            phase: Phase::Recalling,
            damaged_replies: 0,
            recent: Vec::new(),
            calls: 0,
            agents: Agents::default(),
        }
    }

    /// Returns `true` if the sub-agents that the phases refer to exist, and no sub-agent has sub-agents.
    pub(super) fn is_valid(&self) -> bool {
        // The stored text may be damaged or edited, and all other code relies on these conditions.
        let whole = match &self.phase {
            Phase::Child { key, .. } => {
                let child = self
                    .agents
                    .get(*key)
                    .and_then(|agent| agent.thread.as_ref());
                child.is_some_and(|child| !matches!(child.phase, Phase::Finished(_)))
            }
            Phase::Chatting { key, .. } => self.agents.get(*key).is_some(),
            _ => true,
        };
        let mut children = self
            .agents
            .living
            .iter()
            .filter_map(|agent| agent.thread.as_ref());
        // Sub-agents have no sub-agents.
        whole && children.all(|child| child.agents.living.is_empty() && child.is_valid())
    }

    /// Revokes the grants of this thread and of its sub-agents.
    pub(super) fn revoke(&mut self) {
        self.granted = 0;
        let agents = self.agents.living.iter_mut();
        for child in agents.filter_map(|agent| agent.thread.as_deref_mut()) {
            child.revoke();
        }
    }

    /// Calls a function with the active thread: this one, or that of a sub-agent.
    pub(super) fn with_active<R>(&mut self, act: impl FnOnce(&mut Self) -> R) -> R {
        if let Phase::Child { key, .. } = self.phase {
            if let Some(child) = self.agents.thread(key) {
                return act(child);
            }
        }
        act(self)
    }
}

impl Agents {
    pub(super) fn get(&self, key: u64) -> Option<&SubAgent> {
        self.living.iter().find(|agent| agent.key == key)
    }

    pub(super) fn get_mut(&mut self, key: u64) -> Option<&mut SubAgent> {
        self.living.iter_mut().find(|agent| agent.key == key)
    }

    pub(super) fn thread(&mut self, key: u64) -> Option<&mut Thread> {
        self.get_mut(key)?.thread.as_deref_mut()
    }

    pub(super) fn keys(&self) -> Vec<u64> {
        self.living.iter().map(|agent| agent.key).collect()
    }
}
