//! What the original did and what we do by default, as settings of one machine.

use crate::context::ContextRules;
use crate::decision::AnswerRules;
use crate::message::Role;
use crate::prompt::Codec;
use crate::reply::ReplyRules;

/// The settings of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// How the model answers.
    pub codec: Codec,
    /// Which faults of a reply are cured.
    pub reply: ReplyRules,
    /// Whether the model is asked once to repair a reply that cannot be read.
    pub repair: bool,
    /// What the model is sent.
    pub context: ContextRules,
    /// How the human's answers are read.
    pub answers: AnswerRules,
    /// When the human is asked.
    pub asking: Asking,
    /// How feedback reaches the model.
    pub feedback: Feedback,
    /// Whose messages the results of commands are.
    pub result_role: Role,
    /// What sub-agents are.
    pub agents: SubAgents,
    /// Where a run stops or asks by itself.
    pub limits: Limits,
}

impl Settings {
    /// What the original did.
    #[must_use]
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

/// When the human is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Asking {
    /// Before each command whose policy says so; replies without a command go back to the model.
    ByPolicy,
    /// After each reply, as in the original.
    EveryStep,
    /// Never, as in the original's continuous mode.
    Never,
}

/// How feedback reaches the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Feedback {
    /// As the user message, with a reminder of the format, so that the model does not fall into
    /// prose.
    Once,
    /// As the result of the command and again as the user message, as in the original.
    Twice,
}

/// What sub-agents are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubAgents {
    /// Plain chats without rules, commands or limits, as in the original.
    Chats,
    /// Runs of the same machine, with the task as their goal, and all commands but those for
    /// sub-agents.
    Runs,
}

/// Where a run stops or asks by itself. `None` is no limit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Commands in one turn that nobody was asked for; then it asks.
    pub unasked_commands: Option<u64>,
    /// Model calls in one turn; then it asks.
    pub turn_calls: Option<u64>,
    /// Model calls in one run; then the run ends.
    pub run_calls: Option<u64>,
    /// The same command with the same arguments in a row; then it asks. At one less the model is
    /// told.
    pub repeats: Option<usize>,
    /// Two commands in alternation, counted in commands; then it asks.
    pub alternations: Option<usize>,
    /// Replies in a row that cannot be read; then it asks.
    pub damaged_replies: Option<u64>,
    /// The longest result, as a part of the send limit.
    pub result_part: Option<usize>,
    /// Tokens of a run from which on every command asks.
    pub soft_tokens: Option<u64>,
    /// Tokens of a run that end it.
    pub hard_tokens: Option<u64>,
    /// Living sub-agents of one agent.
    pub agents: Option<usize>,
    /// Model calls of a sub-agent for one message.
    pub agent_calls: Option<u64>,
}

impl Limits {
    /// No limits at all.
    #[must_use]
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
