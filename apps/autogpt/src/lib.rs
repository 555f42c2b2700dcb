//! The AutoGPT v0.1.0 agent, rebuilt: it thinks, proposes one command at a time, asks before the
//! command does harm, reads the result, and goes on until its goals are reached.
//!
//! The loop is a state machine without I/O, the [`Run`](agent_loop::run::Run): it returns the effect that it needs next
//! and takes the result. It can be stored between any two steps and driven by any runtime:
//!
//! ```
//! # use std::sync::Arc;
//! use autogpt::commands::{Registry, Wording};
//! use autogpt::agent_loop::model::ModelReply;
//! use autogpt::agent_loop::prompt::Profile;
//! use autogpt::agent_loop::run::{Effect, End, Input, Machine};
//! use autogpt::agent_loop::settings::Settings;
//! use autogpt::agent_loop::tokens::Cl100k;
//!
//! let tokenizer = Arc::new(Cl100k);
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
//! # Ok::<(), autogpt::agent_loop::run::Unexpected>(())
//! ```
//!
//! [`AutoGpt`](agent_loop::runner::AutoGpt) drives runs with a model, commands, memories and a store, one turn of a
//! conversation at a time, and [`setup::Setup`] builds it from environment variables.
//!
//! There are three rooms, whose pages say in which order to read them: [`agent_loop`], [`memory`] and [`commands`]. In
//! front of them is [`front_end`], which serves the agent to every chat front end of copilot-wire. The other modules
//! are small and used by all of them.
//!
//! The path of one turn through the code:
//!
//! 1. `front_end::request` converts a request into a [`Turn`](agent_loop::runner::Turn): conversation, id and answer.
//! 2. [`AutoGpt::turn`](agent_loop::runner::AutoGpt::turn) claims the conversation in the [store](memory::store) and
//!    loads its run.
//! 3. `ActiveTurn::perform` repeats: save the run, show its events, perform its [effect](agent_loop::run::Effect) with
//!    the model, a [command](commands) or the [memory], and feed it the result.
//! 4. The turn ends when the run asks the user, or has ended. `front_end` writes events and question to the reply.
//!
//! The behaviour of the original ([`Settings::original`](agent_loop::settings::Settings::original)) and the defaults
//! are settings of one machine. With the original's settings it gives the same requests, results, memories and
//! questions as the recorded original (`fixtures/autogpt`), except that file commands cannot leave the workspace. By
//! default it corrects more faults of replies, fits every request into its token limit, asks by a policy for each
//! command, detects loops, has limits, and resumes.
//!
//! There is no shell and no image generation, and programs are executed only if that is enabled.

#![allow(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "the package is not published, so its types may change"
)]

mod digest;
mod http;

pub mod agent_loop;
pub mod commands;
pub mod env;
pub mod escape;
pub mod front_end;
pub mod json;
pub mod memory;
pub mod setup;
