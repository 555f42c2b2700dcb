//! The agent's loop as a state machine without I/O.
//!
//! A [`Run`] returns the effect that it needs next ([`Run::effect`]), and receives the result ([`Run::feed`]). It has
//! no clock, socket or file, and can be stored between any two inputs ([`Run::to_json`], [`Machine::restore`]).
//!
//! ```text
//! Recall -> CallModel -> [repair] -> Ask -> Execute -> Remember -> Recall -> ...
//!                                     |
//!                                     +-> Finish
//! ```
//!
//! Terms: a *thread* is the loop of one agent, the main one or a sub-agent. A reply is *settled* when its result, or
//! the reason why there is none, is passed on to the next step. A *grant* is the number of commands that may run
//! without a question.
//!
//! | phase of a thread | effect | next phase |
//! |---|---|---|
//! | `Recalling` | `Recall` | `Calling`, or a pause if the request is too large |
//! | `Calling` | `CallModel` | `Repairing` for a damaged reply; `Asking`, `Executing`, `Child`, `Chatting` or `Finished` for a command |
//! | `Repairing` | `CallModel` | as `Calling`, but never again `Repairing` |
//! | `Asking` | `Ask` | as `Calling` after a yes; otherwise the reply is settled, or the run ends |
//! | `Executing` | `Execute` | the reply is settled; `Withdrawing` if the user objects after an interruption |
//! | `Withdrawing` | `Withdraw` | the reply is settled |
//! | `Child`, `Chatting` | those of the sub-agent | the reply is settled when the sub-agent has finished |
//! | `Remembering` | `Remember` | `Recalling` |
//! | `Finished` | `Finish` | |
//!
//! A settled reply leads to `Remembering`, or in a sub-agent to `Recalling`. While the run is paused (`State::paused`),
//! it asks whether to go on, and the phase is unchanged.
//!
//! Read the files in this order: `effect` (the border), `state` (the data), `thread` (from memories to a reply),
//! `propose` (from a reply to a command), `settle` (from a command to the next step), and last `agents`. This file has
//! the answers, pauses and limits, which concern the whole run.
//!
//! Invariants:
//!
//! * The state alone determines the next effect: `effect` reads it and `feed` changes it. So a restored run repeats the
//!   effect that it was waiting for. The caller makes this safe for commands by the id of the execution.
//! * Each settled reply increments the step, and the id of a proposal contains the step. So an approval is valid for
//!   exactly one command at one step.
//! * Every pause and every objection of the user revokes all grants, so the next command asks again.

mod agents;
mod effect;
mod propose;
mod settle;
mod state;
mod thread;

use std::sync::Arc;

use self::state::{Phase, State, Thread, Usage, VERSION};
use self::thread::{InputContext, Position, ThreadInput, Verdict};
use crate::agent_loop::decision::Decision;
use crate::agent_loop::message::Message;
use crate::agent_loop::prompt::Profile;
use crate::agent_loop::settings::Settings;
use crate::agent_loop::tokens::Tokenizer;
use crate::commands::{Policy, Spec, Wording};

pub use effect::{Answer, Effect, End, Event, EventKind, Input, Proposal, Question, Reason};

/// The user input of the first request of a run.
pub const FIRST_INPUT: &str =
    "Determine which next command to use, and respond using the format specified above:";

/// The user input after the user approved a command.
pub const NEXT_INPUT: &str = "GENERATE NEXT COMMAND JSON";

/// The notice for an answer that does not belong to the open question.
const STALE: &str = "This proposal is no longer open; nothing was run.";

/// The notice for an empty answer, and for one without a valid count.
const WRONG_FORM: &str =
    "I do not understand this answer, so nothing was run. N is a number from 1 on.";

/// The settings, commands and tokenizer that all runs of an agent share.
#[derive(Clone, Debug)]
pub struct Machine {
    settings: Settings,
    wording: Wording,
    tokenizer: Arc<dyn Tokenizer>,
    /// The commands of the main agent.
    specs: Vec<Spec>,
    child_specs: Vec<Spec>,
}

impl Machine {
    /// Creates a machine with the commands of a registry. It adds the sub-agent commands and
    /// `task_complete`.
    pub fn new(
        settings: Settings,
        commands: Vec<Spec>,
        wording: Wording,
        tokenizer: Arc<dyn Tokenizer>,
    ) -> Self {
        let mut child_specs = commands;
        let mut specs = child_specs.clone();
        specs.extend(agents::specs());
        for list in [&mut specs, &mut child_specs] {
            let complete = Spec::new("task_complete", "Task complete", &[("reason", "reason")]);
            list.push(complete.with_policy(Policy::Never));
        }
        Self {
            settings,
            wording,
            tokenizer,
            specs,
            // Without the commands for sub-agents, so that sub-agents have no sub-agents.
            child_specs,
        }
    }

    /// Returns the settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Starts a run. Its id is part of every approval, so it must be secret from anybody who may
    /// not approve.
    #[must_use]
    pub fn start(self: &Arc<Self>, id: &str, profile: Profile) -> Run {
        Run {
            machine: Arc::clone(self),
            state: State {
                version: VERSION,
                id: id.to_owned(),
                main: Thread::new(profile, FIRST_INPUT),
                spent: Usage::default(),
                paused: None,
                pauses: 0,
            },
        }
    }

    /// Restores a stored run.
    ///
    /// # Errors
    ///
    /// [`RestoreError`] if the text is not a run that this version stored.
    pub fn restore(self: &Arc<Self>, json: &str) -> Result<Run, RestoreError> {
        let state: State = serde_json::from_str(json).map_err(|_| RestoreError)?;
        // A run of another version is rejected: misread, it could run a command that nobody approved.
        if state.version != VERSION || !state.main.is_valid() {
            return Err(RestoreError);
        }
        Ok(Run {
            machine: Arc::clone(self),
            state,
        })
    }
}

/// The error of a text that is not a stored run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a run that this version stored")]
pub struct RestoreError;

/// The error of an input that the run does not wait for. The run is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run does not wait for this input")]
pub struct Unexpected;

/// A run: the work of a model, its commands and the user towards a goal.
#[derive(Clone, Debug)]
pub struct Run {
    machine: Arc<Machine>,
    state: State,
}

impl Run {
    /// Returns the id.
    pub fn id(&self) -> &str {
        &self.state.id
    }

    /// Returns the machine.
    pub fn machine(&self) -> &Arc<Machine> {
        &self.machine
    }

    /// Returns all messages of the main agent so far.
    pub fn history(&self) -> &[Message] {
        &self.state.main.history
    }

    /// Serializes the whole state to JSON.
    pub fn to_json(&self) -> String {
        // The state consists of texts, numbers and lists, whose serialization cannot fail.
        serde_json::to_string(&self.state).unwrap_or_default()
    }

    /// Returns the effect that the run needs next.
    pub fn effect(&self) -> Effect {
        let state = &self.state;
        match &state.paused {
            Some(reason) => Effect::Ask(Question::GoOn {
                id: format!("{}.pause{}", state.id, state.pauses),
                reason: reason.clone(),
            }),
            None => {
                let position = Position::main(&state.id, &self.machine);
                state.main.effect(&self.machine, &position)
            }
        }
    }

    /// Resets the counts of a turn.
    pub fn begin_turn(&mut self) {
        let spent = &mut self.state.spent;
        spent.turn_calls = 0;
        spent.unasked_commands = 0;
        spent.out_of_time = false;
    }

    /// Pauses a run whose turn was interrupted, so that it asks before it continues. A run that is asking or has ended
    /// is unchanged.
    pub fn interrupt(&mut self) {
        if !matches!(self.effect(), Effect::Ask(_) | Effect::Finish(_)) {
            self.pause(Reason::Interrupted);
        }
    }

    /// Records that the time of the turn is over: the next command asks, even if a grant allows it.
    pub fn end_of_time(&mut self) {
        self.state.spent.out_of_time = true;
    }

    /// Feeds the result of the current effect, and returns the events to show.
    ///
    /// # Errors
    ///
    /// [`Unexpected`] if the run waits for something else.
    pub fn feed(&mut self, input: Input) -> Result<Vec<Event>, Unexpected> {
        let effect = self.effect();
        // Checked before anything changes: an unexpected input leaves the run as it is.
        if !effect.takes(&input) {
            return Err(Unexpected);
        }
        let input = match (input, effect) {
            (Input::Answer(answer), Effect::Ask(question)) => {
                let verdict = self.verdict(answer, &question);
                if matches!(verdict, Ok(Verdict::Feedback(_) | Verdict::Decline)) {
                    // An objection revokes all grants, including those of sub-agents.
                    self.state.main.revoke();
                }
                match verdict {
                    // The answer ends the pause. The thread is unchanged, and its own effect is next.
                    Ok(verdict) if self.state.paused.is_some() => {
                        return Ok(self.resume(verdict));
                    }
                    Ok(Verdict::Exit) => {
                        self.finish(End::Stopped);
                        return Ok(Vec::new());
                    }
                    Ok(verdict) => ThreadInput::Verdict(verdict),
                    Err(notice) => return Ok(vec![Event::notice(notice)]),
                }
            }
            (input, _) => ThreadInput::Result(input),
        };
        let machine = Arc::clone(&self.machine);
        let position = Position::main(&self.state.id, &machine);
        let mut cx = InputContext::new(&machine, &mut self.state.spent);
        // Counted first, so that the limits include the usage of this input.
        cx.count(&input);
        self.state.main.feed(input, &mut cx, &position);
        let InputContext { events, pause, .. } = cx;
        self.after(pause);
        Ok(events)
    }

    /// Returns the meaning of an answer, or a notice for the user if the question remains open.
    fn verdict(&self, answer: Answer, question: &Question) -> Result<Verdict, &'static str> {
        let (text, open) = match answer {
            Answer::Confirmation { id, .. } if id != question.id() => return Err(STALE),
            Answer::Confirmation { accepted: true, .. } => return Ok(Verdict::Authorise(0)),
            Answer::Confirmation { .. } => return Ok(Verdict::Decline),
            // Only a terminal sends text without an id; it shows one question at a time.
            Answer::Text(text) => (text, true),
            Answer::Reply { id, text } => (text, id == question.id()),
            Answer::Void => return Err(STALE),
        };
        match Decision::read(&text, self.machine.settings.answers) {
            // Feedback is accepted below any question: it runs nothing.
            Decision::Authorise(_) | Decision::Exit if !open => Err(STALE),
            Decision::Authorise(count) => Ok(Verdict::Authorise(count)),
            Decision::Feedback(text) => Ok(Verdict::Feedback(text)),
            Decision::Exit => Ok(Verdict::Exit),
            Decision::AskAgain => Err(WRONG_FORM),
        }
    }

    /// Continues after a pause, or ends.
    fn resume(&mut self, verdict: Verdict) -> Vec<Event> {
        let machine = Arc::clone(&self.machine);
        match verdict {
            Verdict::Decline => return vec![Event::notice("The run waits.")],
            Verdict::Exit => self.finish(End::Stopped),
            Verdict::Authorise(count) => self.state.main.with_active(|leaf| {
                leaf.granted = count;
                leaf.damaged_replies = 0;
            }),
            Verdict::Feedback(text) => self.state.main.with_active(|leaf| {
                leaf.damaged_replies = 0;
                leaf.redirect(&text, &machine);
            }),
        }
        self.state.paused = None;
        Vec::new()
    }

    /// Pauses or ends the run if a limit is reached.
    fn after(&mut self, pause: Option<Reason>) {
        let limits = &self.machine.settings.limits;
        let spent = &self.state.spent;
        let reached = |limit: Option<u64>, count: u64| limit.filter(|limit| count >= *limit);
        // Limits of calls apply before the next call, so that the last reply, which was paid for, is used.
        let calls_model = matches!(self.effect(), Effect::CallModel(_));
        if let Some(limit) = reached(limits.hard_tokens, spent.tokens) {
            return self.finish(End::Limit(Reason::Budget(limit)));
        }
        if let Some(limit) = reached(limits.run_calls, spent.run_calls).filter(|_| calls_model) {
            return self.finish(End::Limit(Reason::ModelCalls(limit)));
        }
        let turn = reached(limits.turn_calls, spent.turn_calls).filter(|_| calls_model);
        let late = (spent.out_of_time && calls_model).then_some(Reason::Time);
        if let Some(reason) = pause.or_else(|| turn.map(Reason::ModelCalls)).or(late) {
            self.pause(reason);
        }
    }

    /// Pauses the run and revokes all grants, because the user granted them without knowing the reason of the pause.
    fn pause(&mut self, reason: Reason) {
        self.state.main.revoke();
        self.state.paused = Some(reason);
        // Part of the id of the question: an answer to an earlier pause is not valid for this one.
        self.state.pauses += 1;
    }

    fn finish(&mut self, end: End) {
        // A run that has ended keeps its end.
        if !matches!(self.state.main.phase, Phase::Finished(_)) {
            self.state.main.phase = Phase::Finished(end);
        }
        self.state.paused = None;
    }
}
