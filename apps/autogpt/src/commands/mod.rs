//! The third of three rooms: the commands that a model can call.
//!
//! Of the other rooms it uses [`memory`](crate::memory), to which one command adds, and
//! [`model`](crate::agent_loop::model), with which pages are summarised. It does not depend on the loop: a command
//! receives arguments and returns a value.
//!
//! Read the trait [`Command`] below, [`Spec`] for the description that the model gets and the policy for asking the
//! user, [`Registry`] for the call of a command by its name, then one family: files in a [`workspace`], pages and
//! searches in [`web`], programs in [`ExecutePython`]. The commands for sub-agents and `task_complete` change the run
//! itself, so they are part of the loop (`agent_loop::run`).

mod args;
mod basic;
mod error;
mod execute;
mod files;
mod registry;
mod remember;
mod spec;
pub mod web;
pub mod workspace;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::json::Value;
use crate::memory::Memory;

pub use args::Args;
pub use basic::DoNothing;
pub use error::{CommandError, Wording};
pub use execute::ExecutePython;
pub use files::file_commands;
pub use registry::Registry;
pub use remember::MemoryAdd;
pub use spec::{Kind, Parameter, Policy, Spec};
pub use web::{BrowseWebsite, WebSearch};

/// A command that the model can call.
#[async_trait]
pub trait Command: Send + Sync + fmt::Debug {
    /// Returns the name, the arguments and the policy of the command.
    fn spec(&self) -> Spec;

    /// Runs the command.
    ///
    /// # Errors
    ///
    /// [`CommandError`]: the model receives its text, and the run continues.
    async fn run(&self, args: &Args<'_>, scope: &Scope) -> Result<Output, CommandError>;
}

/// The resources of a conversation that a command may use.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The memory.
    pub memory: Arc<dyn Memory>,
}

impl Scope {
    /// Creates the scope of a conversation.
    pub fn new(memory: Arc<dyn Memory>) -> Self {
        Self { memory }
    }
}

/// The result of a successful command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The value. The settings choose the text form of lists.
    pub value: Value,
    /// The sources of the result.
    pub sources: Vec<Source>,
    /// The number of model calls that the command made.
    pub model_calls: u64,
}

impl Output {
    /// Creates a result without sources and model calls.
    pub fn new(value: impl Into<Value>) -> Self {
        Self {
            value: value.into(),
            sources: Vec::new(),
            model_calls: 0,
        }
    }
}

/// A web page that a result is based on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Its title.
    pub title: String,
    /// Its URL.
    pub url: String,
    /// An excerpt of its text.
    pub excerpt: String,
}

impl Source {
    /// Creates a source.
    pub fn new(title: &str, url: &str, excerpt: &str) -> Self {
        Self {
            title: title.to_owned(),
            url: url.to_owned(),
            excerpt: excerpt.to_owned(),
        }
    }
}

/// The result of a command, as a run receives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// `true` for a success.
    pub ok: bool,
    /// The text that follows `returned:`.
    pub text: String,
    /// The sources of the result.
    pub sources: Vec<Source>,
    /// The number of model calls that the command made.
    pub model_calls: u64,
}

impl Outcome {
    /// Creates a success without sources.
    pub fn new(text: &str) -> Self {
        Self {
            ok: true,
            text: text.to_owned(),
            sources: Vec::new(),
            model_calls: 0,
        }
    }
}
