//! The AutoGPT v0.1.0 agent, rebuilt: it thinks, proposes one command at a time, asks before the
//! command does harm, reads the result, and goes on until its goals are reached.
//!
//! The loop is a state machine without I/O, the [`run::Run`]. It says what it wants next and is told
//! what came of it, so that it can be stored between any two steps and driven by anything:
//!
//! ```
//! # use std::sync::Arc;
//! use autogpt::command::{Registry, Wording};
//! use autogpt::model::ModelReply;
//! use autogpt::prompt::Profile;
//! use autogpt::run::{Effect, End, Input, Machine};
//! use autogpt::settings::Settings;
//! use autogpt::tokens::Cl100k;
//!
//! let tokenizer = Arc::new(Cl100k::new());
//! let machine = Machine::new(Settings::default(), Vec::new(), Wording::Clear, tokenizer);
//! let profile = Profile::new("Bo", "a helper", &["Find green tea"]);
//! let mut run = Arc::new(machine).start("run-1", profile);
//!
//! assert!(matches!(run.effect(), Effect::Recall { .. }));
//! let now = "Wed Apr 12 09:49:23 2023".to_owned();
//! run.feed(Input::Memories { texts: Vec::new(), now })?;
//! assert!(matches!(run.effect(), Effect::CallModel(_)));
//! let reply = r#"{"command": {"name": "task_complete", "args": {"reason": "found"}}}"#;
//! run.feed(Input::Reply(ModelReply::text(reply)))?;
//! assert_eq!(run.effect(), Effect::Finish(End::Complete("found".to_owned())));
//! # Ok::<(), autogpt::run::Unexpected>(())
//! ```
//!
//! [`runner::AutoGpt`] drives runs with a model, commands, memories and a store, one turn of a
//! conversation at a time, and [`setup::Setup`] puts all of it together out of environment variables.
//!
//! [`front_end::FrontEnd`] serves it to every chat front end of copilot-wire.
//!
//! What the original did ([`settings::Settings::original`]) and what we do by default are settings of
//! the one machine. With the original's settings it gives the same requests, results, memories and
//! questions as the recorded original (`fixtures/autogpt`); only its way out of the workspace folder
//! is not rebuilt. By default it forgives more faults of replies, fits every context into its limit,
//! asks by a policy for each command, notices loops, ends somewhere, and resumes.
//!
//! What it does not do: no shell, no images, no execution unless it is switched on.

mod aside;
mod digest;
mod http;

pub mod command;
pub mod context;
pub mod decision;
pub mod env;
pub mod front_end;
pub mod json;
pub mod list_text;
pub mod memory;
pub mod message;
pub mod model;
pub mod prompt;
pub mod reply;
pub mod run;
pub mod runner;
pub mod settings;
pub mod setup;
pub mod store;
pub mod tokens;
pub mod visible;
pub mod web;
pub mod workspace;
