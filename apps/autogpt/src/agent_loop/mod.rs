//! The first of three rooms: the loop of an agent, from a request to the model to the next question to the user.
//!
//! It is not a [`Toolset`](copilot_wire::models::Toolset): the model writes its commands as JSON in a text, with a grammar of
//! 2023 that is repaired where it is damaged, and each command is a question of its own that outlives the process.
//!
//! It depends on [`commands`](crate::commands) for what a command is, and on [`memory`](crate::memory) for where texts
//! and runs are stored. It knows no front end.
//!
//! Read it in this order:
//!
//! 1. [`run`]: the loop as a state machine without I/O. Everything else either computes for it or performs its effects.
//! 2. [`reply`] parses replies of a model; [`prompt`] and [`context`] build requests to it, within a limit of
//!    [`tokens`]; [`decision`] parses answers of the user.
//! 3. [`model`] calls models, with the requests and the spans of copilot-wire.
//! 4. [`runner`] performs the effects of a run, and stores it before each step is shown.
//! 5. [`settings`]: the choices between the original's behaviour and the defaults. Wherever the code has two ways, one
//!    of these settings selects.

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
