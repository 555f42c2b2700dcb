//! The loop as a state machine without I/O.
//!
//! A [`Run`] says what it wants next ([`Run::effect`]) and is told what came of it ([`Run::feed`]).
//! It holds no clock, no socket and no file, and can be stored between any two inputs
//! ([`Run::to_json`], [`Machine::restore`]).
//!
//! ```text
//! Recall -> CallModel -> [repair] -> Ask -> Execute -> Remember -> Recall -> ...
//!                                     |
//!                                     +-> Finish
//! ```

mod agents;
mod effect;
mod propose;
mod settle;
mod state;
mod thread;

use std::sync::Arc;

use self::state::{Phase, Spent, State, Thread, VERSION};
use self::thread::{Flow, Place, Told, Verdict};
use crate::command::{Policy, Spec, Wording};
use crate::decision::Decision;
use crate::message::Message;
use crate::prompt::Profile;
use crate::settings::Settings;
use crate::tokens::Tokenizer;

pub use effect::{Answer, Effect, End, Event, EventKind, Input, Proposal, Question, Reason};

/// The first user input of a run.
pub const FIRST_INPUT: &str =
    "Determine which next command to use, and respond using the format specified above:";

/// The user input after the human authorised a command.
pub const NEXT_INPUT: &str = "GENERATE NEXT COMMAND JSON";

/// What the human reads when an answer does not belong to the open question.
const STALE: &str = "This proposal is no longer open; nothing was run.";

/// What the human reads when a count is missing.
const WRONG_FORM: &str = "Please answer with `y`, `y -N` with a number, `n`, or your feedback.";

/// What all runs of an agent share: settings, commands and the tokenizer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Machine {
    settings: Settings,
    wording: Wording,
    tokenizer: Arc<dyn Tokenizer>,
    /// The commands of the main agent, and those of its sub-agents.
    specs: Vec<Spec>,
    child_specs: Vec<Spec>,
}

impl Machine {
    /// A machine with the commands of a registry. Those for sub-agents and the end of the task are
    /// its own.
    #[must_use]
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
            child_specs,
        }
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Starts a run. Its id must not be known to anybody who may not approve its commands.
    #[must_use]
    pub fn start(self: &Arc<Self>, id: &str, profile: Profile) -> Run {
        Run {
            machine: Arc::clone(self),
            state: State {
                version: VERSION,
                id: id.to_owned(),
                main: Thread::new(profile, FIRST_INPUT),
                spent: Spent::default(),
                paused: None,
                pauses: 0,
            },
        }
    }

    /// A run that was stored.
    ///
    /// # Errors
    ///
    /// [`RestoreError`] if the text is not a run that this version stored.
    pub fn restore(self: &Arc<Self>, json: &str) -> Result<Run, RestoreError> {
        let state: State = serde_json::from_str(json).map_err(|_| RestoreError)?;
        if state.version != VERSION || !state.main.is_sound() {
            return Err(RestoreError);
        }
        Ok(Run {
            machine: Arc::clone(self),
            state,
        })
    }
}

/// A text that is not a stored run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a run that this version stored")]
#[non_exhaustive]
pub struct RestoreError;

/// An input that the run does not wait for. The run is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run does not wait for this input")]
#[non_exhaustive]
pub struct Unexpected;

/// One run: a conversation of model, commands and human towards a goal.
#[derive(Clone, Debug)]
pub struct Run {
    machine: Arc<Machine>,
    state: State,
}

impl Run {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.state.id
    }

    /// What it shares with the other runs of its agent.
    #[must_use]
    pub fn machine(&self) -> &Arc<Machine> {
        &self.machine
    }

    /// All messages of the main agent so far.
    #[must_use]
    pub fn history(&self) -> &[Message] {
        &self.state.main.history
    }

    /// Everything that must survive, as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Texts, numbers and lists: nothing in the state can fail to serialise.
        serde_json::to_string(&self.state).unwrap_or_default()
    }

    /// What the run wants next.
    #[must_use]
    pub fn effect(&self) -> Effect {
        let state = &self.state;
        match &state.paused {
            Some(reason) => Effect::Ask(Question::GoOn {
                id: format!("{}:pause:{}", state.id, state.pauses),
                reason: reason.clone(),
            }),
            None => {
                let place = Place::main(&state.id, &self.machine);
                state.main.effect(&self.machine, &place)
            }
        }
    }

    /// Starts the counts of a new turn.
    pub fn begin_turn(&mut self) {
        let spent = &mut self.state.spent;
        spent.turn_calls = 0;
        spent.unasked_commands = 0;
        spent.out_of_time = false;
    }

    /// The turn stopped on its way: the run asks before it goes on, unless it asks or is over anyway.
    pub fn interrupt(&mut self) {
        if !matches!(self.effect(), Effect::Ask(_) | Effect::Finish(_)) {
            self.pause(Reason::Interrupted);
        }
    }

    /// The time of the turn is over: the next command asks, whatever was granted.
    pub fn end_of_time(&mut self) {
        self.state.spent.out_of_time = true;
    }

    /// Tells the run what came of its effect, and returns what there is to show.
    ///
    /// # Errors
    ///
    /// [`Unexpected`] if the run waits for something else.
    pub fn feed(&mut self, input: Input) -> Result<Vec<Event>, Unexpected> {
        let effect = self.effect();
        if !effect.takes(&input) {
            return Err(Unexpected);
        }
        let told = match (input, effect) {
            (Input::Answer(answer), Effect::Ask(question)) => {
                let verdict = self.verdict(answer, &question);
                if matches!(verdict, Ok(Verdict::Feedback(_) | Verdict::Decline)) {
                    // Who objects takes back what was granted, whichever agent has it.
                    self.state.main.revoke();
                }
                match verdict {
                    Ok(verdict) if self.state.paused.is_some() => {
                        return Ok(self.go_on(verdict));
                    }
                    Ok(Verdict::Exit) => {
                        self.finish(End::Stopped);
                        return Ok(Vec::new());
                    }
                    Ok(verdict) => Told::Verdict(verdict),
                    Err(notice) => return Ok(vec![Event::notice(notice)]),
                }
            }
            (input, _) => Told::Outside(input),
        };
        let machine = Arc::clone(&self.machine);
        let place = Place::main(&self.state.id, &machine);
        let mut flow = Flow::new(&machine, &mut self.state.spent);
        flow.count(&told);
        self.state.main.feed(told, &mut flow, &place);
        let Flow { events, pause, .. } = flow;
        self.after(pause);
        Ok(events)
    }

    /// What an answer to a question means, or what to say when the question stays open.
    fn verdict(&self, answer: Answer, question: &Question) -> Result<Verdict, &'static str> {
        let (text, open) = match answer {
            Answer::Confirmation { id, .. } if id != question.id() => return Err(STALE),
            Answer::Confirmation { accepted: true, .. } => return Ok(Verdict::Authorise(0)),
            Answer::Confirmation { .. } => return Ok(Verdict::Decline),
            Answer::Text(text) => (text, true),
            Answer::Reply { id, text } => (text, id == question.id()),
        };
        match Decision::read(&text, self.machine.settings.answers) {
            Decision::Authorise(_) | Decision::Exit if !open => Err(STALE),
            Decision::Authorise(count) => Ok(Verdict::Authorise(count)),
            Decision::Feedback(text) => Ok(Verdict::Feedback(text)),
            Decision::Exit => Ok(Verdict::Exit),
            Decision::AskAgain => Err(WRONG_FORM),
        }
    }

    /// Goes on after a pause, or not.
    fn go_on(&mut self, verdict: Verdict) -> Vec<Event> {
        let machine = Arc::clone(&self.machine);
        match verdict {
            Verdict::Decline => return vec![Event::notice("The run waits.")],
            Verdict::Exit => self.finish(End::Stopped),
            Verdict::Authorise(count) => self.state.main.with_leaf(|leaf| {
                leaf.granted = count;
                leaf.damaged_replies = 0;
            }),
            Verdict::Feedback(text) => self.state.main.with_leaf(|leaf| {
                leaf.damaged_replies = 0;
                leaf.redirect(&text, &machine);
            }),
        }
        self.state.paused = None;
        Vec::new()
    }

    /// Stops where a limit says so.
    fn after(&mut self, pause: Option<Reason>) {
        let limits = &self.machine.settings.limits;
        let spent = &self.state.spent;
        let reached = |limit: Option<u64>, count: u64| limit.filter(|limit| count >= *limit);
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

    /// What was granted was granted to a run that goes on by itself.
    fn pause(&mut self, reason: Reason) {
        self.state.main.revoke();
        self.state.paused = Some(reason);
        self.state.pauses += 1;
    }

    fn finish(&mut self, end: End) {
        // A run that is complete stays so.
        if !matches!(self.state.main.phase, Phase::Finished(_)) {
            self.state.main.phase = Phase::Finished(end);
        }
        self.state.paused = None;
    }
}
