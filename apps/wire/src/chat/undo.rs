//! A front end with undo.

use copilot_wire::protocol::{Confirmation, EventError};
use copilot_wire_kit::{AnyFrontEnd, Next, ToolOutcome};

use crate::verdict::Failure;

/// A function that creates a front end.
type Begin<'a> = dyn Fn() -> Result<Box<dyn AnyFrontEnd>, Failure> + 'a;

/// A front end, and the log of all changes to it.
pub(super) struct Undo<'a> {
    /// Creates the front end in its initial state.
    begin: &'a Begin<'a>,
    pub(super) front: Box<dyn AnyFrontEnd>,
    steps: Vec<Step>,
}

/// A change of a front end.
enum Step {
    Say(String),
    /// A piece of an answer.
    Read(Vec<u8>),
    Next,
    Answer(Vec<ToolOutcome>),
    Decide(Confirmation, bool),
}

impl<'a> Undo<'a> {
    pub(super) fn new(begin: &'a Begin<'a>) -> Result<Self, Failure> {
        Ok(Self {
            front: begin()?,
            begin,
            steps: Vec::new(),
        })
    }

    pub(super) fn prompt(&mut self, text: &str) {
        self.front.prompt(text);
        self.steps.push(Step::Say(text.to_owned()));
    }

    /// Logs a piece of the answer that is about to be decoded.
    pub(super) fn reads(&mut self, bytes: &[u8]) {
        self.steps.push(Step::Read(bytes.to_owned()));
    }

    pub(super) fn next(&mut self) -> Next {
        self.steps.push(Step::Next);
        self.front.next()
    }

    pub(super) fn answer(&mut self, answers: Vec<ToolOutcome>) {
        self.steps.push(Step::Answer(answers.clone()));
        self.front.answer(answers);
    }

    pub(super) fn decide(&mut self, question: &Confirmation, accepted: bool) {
        self.steps.push(Step::Decide(question.clone(), accepted));
        self.front.decide(question, accepted);
    }

    /// Returns the current position in the log, for [`back`](Self::back).
    pub(super) fn mark(&self) -> usize {
        self.steps.len()
    }

    /// Undoes everything since `mark`.
    pub(super) fn back(&mut self, mark: usize) -> Result<(), Failure> {
        self.steps.truncate(mark);
        // Front ends cannot be cloned, so the log is replayed up to `mark`.
        self.front = (self.begin)()?;
        for step in &self.steps {
            match step {
                Step::Say(text) => self.front.prompt(text),
                Step::Read(bytes) => receive(&mut *self.front, bytes),
                Step::Next => drop(self.front.next()),
                Step::Answer(answers) => self.front.answer(answers.clone()),
                Step::Decide(question, accepted) => self.front.decide(question, *accepted),
            }
        }
        Ok(())
    }
}

/// Replays a piece of an answer.
fn receive(front: &mut dyn AnyFrontEnd, mut bytes: &[u8]) {
    loop {
        match front.read(&mut bytes) {
            Ok(Some(_)) => {}
            Ok(None) | Err(EventError::Stream(_)) => return,
            Err(_) => {}
        }
    }
}
