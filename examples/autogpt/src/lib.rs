//! The AutoGPT v0.1.0 agent, rebuilt: it thinks, proposes one command at a time, asks before the
//! command does harm, reads the result, and goes on until its goals are reached.
//!
//! The loop is a state machine without I/O, the [`run::Run`]: it returns the effect that it needs next
//! and takes the result. It can be stored between any two steps and driven by any runtime:
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
//! conversation at a time, and [`setup::Setup`] builds it from environment variables.
//!
//! [`front_end::FrontEnd`] serves it to every chat front end of copilot-wire.
//!
//! The behaviour of the original ([`settings::Settings::original`]) and the defaults are settings of one
//! machine. With the original's settings it gives the same requests, results, memories and questions as
//! the recorded original (`fixtures/autogpt`), except that file commands cannot leave the workspace. By
//! default it corrects more faults of replies, fits every request into its token limit, asks by a policy
//! for each command, detects loops, has limits, and resumes.
//!
//! There is no shell and no image generation, and programs are executed only if that is enabled.

mod atomic_file;
mod digest;
mod http;

pub mod command;
pub mod context;
pub mod decision;
pub mod env;
pub mod escape;
pub mod front_end;
pub mod json;
pub mod list_text;
pub mod memory;
pub mod message;
pub mod model;
pub mod prompt;
#[cfg(feature = "redis")]
pub mod redis_server;
pub mod reply;
pub mod run;
pub mod runner;
pub mod settings;
pub mod setup;
pub mod store;
pub mod tokens;
pub mod web;
pub mod workspace;
