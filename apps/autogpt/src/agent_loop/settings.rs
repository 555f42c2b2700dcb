//! The settings of a run: the defaults, and those of the original program.

use crate::agent_loop::context::ContextRules;
use crate::agent_loop::decision::AnswerRules;
use crate::agent_loop::message::Role;
use crate::agent_loop::prompt::Codec;
use crate::agent_loop::reply::ReplyRules;

/// The settings of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The format of the model's replies.
    pub codec: Codec,
    /// The rules for parsing replies, and for correcting their faults.
    pub reply: ReplyRules,
    /// `true` if the model is asked once to repair a reply that cannot be parsed.
    pub repair: bool,
    /// The limits and choices for building model requests.
    pub context: ContextRules,
    /// The rules for reading the user's answers.
    pub answers: AnswerRules,
    /// The commands that need the user's approval.
    pub asking: Asking,
    /// The way feedback is sent to the model.
    pub feedback: Feedback,
    /// The role of messages with command results.
    pub result_role: Role,
    /// The kind of sub-agents.
    pub agents: SubAgents,
    /// The limits at which a run asks or ends.
    pub limits: Limits,
}

impl Settings {
    /// Returns the settings of the original program.
    pub fn original() -> Self {
        Self {
            codec: Codec::Json,
            reply: ReplyRules::Original,
            repair: true,
            context: ContextRules::original(),
            answers: AnswerRules::Original,
            asking: Asking::EveryStep,
            feedback: Feedback::Twice,
            result_role: Role::System,
            agents: SubAgents::Chats,
            limits: Limits::none(),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            codec: Codec::Json,
            reply: ReplyRules::Hardened,
            repair: true,
            context: ContextRules::default(),
            answers: AnswerRules::Hardened,
            asking: Asking::ByPolicy,
            feedback: Feedback::Once,
            result_role: Role::User,
            agents: SubAgents::Runs,
            limits: Limits::default(),
        }
    }
}

/// The commands that need the user's approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    /// Commands whose policy requires it. Replies without a command are returned to the model.
    ByPolicy,
    /// All commands, and replies without a command, as in the original.
    EveryStep,
    /// No command, as in the continuous mode of the original.
    Never,
}

/// The way feedback is sent to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// As the user message, with a reminder of the reply format.
    Once,
    /// As the result of the command and as the user message, as in the original.
    Twice,
}

/// The kind of sub-agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubAgents {
    /// Plain chats without rules, commands or limits, as in the original.
    Chats,
    /// Runs of the same machine with the task as their goal, and with all commands except those for
    /// sub-agents.
    Runs,
}

/// The limits at which a run asks or ends. `None` means no limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Commands in one turn without a question, before the run asks.
    pub unasked_commands: Option<u64>,
    /// Model calls in one turn, before the run asks.
    pub turn_calls: Option<u64>,
    /// Model calls in one run, before it ends.
    pub run_calls: Option<u64>,
    /// The same command with the same arguments in a row, before the run asks. One repetition earlier, the model is
    /// warned.
    pub repeats: Option<usize>,
    /// Commands of an alternation of two, before the run asks.
    pub alternations: Option<usize>,
    /// Replies in a row that cannot be parsed, before the run asks.
    pub damaged_replies: Option<u64>,
    /// The longest result, as a divisor of the send limit.
    pub result_part: Option<usize>,
    /// Tokens of a run, after which every command asks.
    pub soft_tokens: Option<u64>,
    /// Tokens of a run, before it ends.
    pub hard_tokens: Option<u64>,
    /// Sub-agents of one agent at the same time.
    pub agents: Option<usize>,
    /// Model calls of a sub-agent for one message.
    pub agent_calls: Option<u64>,
}

impl Limits {
    /// Returns limits that are all off.
    pub fn none() -> Self {
        Self {
            unasked_commands: None,
            turn_calls: None,
            run_calls: None,
            repeats: None,
            alternations: None,
            damaged_replies: None,
            result_part: None,
            soft_tokens: None,
            hard_tokens: None,
            agents: None,
            agent_calls: None,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            unasked_commands: Some(10),
            turn_calls: Some(20),
            run_calls: Some(100),
            repeats: Some(3),
            alternations: Some(4),
            damaged_replies: Some(3),
            result_part: Some(3),
            soft_tokens: None,
            hard_tokens: None,
            agents: Some(5),
            agent_calls: Some(10),
        }
    }
}
