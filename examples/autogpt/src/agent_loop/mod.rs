//! The first room: the loop of thinking, asking, acting and remembering, from a request to the model to the next question.
//!
//! It depends on [`commands`](crate::commands) for what a command is, and on [`memory`](crate::memory) for where texts and
//! runs are stored. It knows no front end.
//!
//! Read it in this order:
//!
//! 1. [`run`]: the loop as a state machine without I/O. Its effects and inputs are the whole vocabulary.
//! 2. [`reply`] parses what a model writes; [`prompt`] and [`context`] make what it reads, within a limit of
//!    [`tokens`]; [`decision`] reads what the user answers.
//! 3. [`model`] calls models, with the requests and the spans of copilot-wire.
//! 4. [`runner`] performs the effects of a run, and stores it before each step is shown.
//! 5. [`settings`]: the original's behaviour and the defaults, as values.

pub mod context;
pub mod decision;
pub mod message;
pub mod model;
pub mod prompt;
pub mod reply;
pub mod run;
pub mod runner;
pub mod settings;
pub mod tokens;
