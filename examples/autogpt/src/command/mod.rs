//! The commands that the agent may run.

mod args;
mod basic;
mod error;
mod execute;
mod files;
mod registry;
mod remember;
mod spec;
mod web;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::json::Value;
use crate::memory::Memory;

pub use args::Args;
pub use basic::{DoNothing, GenerateImage};
pub use error::{CommandError, Wording};
pub use execute::ExecutePython;
pub use files::file_commands;
pub use registry::Registry;
pub use remember::MemoryAdd;
pub use spec::{Kind, Parameter, Policy, Spec};
pub use web::{BrowseWebsite, WebSearch};

/// Something that the agent can do.
#[async_trait]
pub trait Command: Send + Sync + fmt::Debug {
    /// What the command is called and takes.
    fn spec(&self) -> Spec;

    /// Runs the command.
    ///
    /// # Errors
    ///
    /// [`CommandError`]; the model reads it and the run goes on.
    async fn run(&self, args: &Args<'_>, scope: &Scope) -> Result<Output, CommandError>;
}

/// What belongs to the conversation that a command runs in.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Scope {
    /// Its memory.
    pub memory: Arc<dyn Memory>,
}

impl Scope {
    /// The scope of a conversation.
    #[must_use]
    pub fn new(memory: Arc<dyn Memory>) -> Self {
        Self { memory }
    }
}

/// What a command gives.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Output {
    /// The result; lists become text in the form that the settings choose.
    pub value: Value,
    /// Where it comes from.
    pub sources: Vec<Source>,
    /// Calls of a model that it took.
    pub model_calls: u64,
}

impl Output {
    /// A result that took no model.
    #[must_use]
    pub fn new(value: impl Into<Value>) -> Self {
        Self {
            value: value.into(),
            sources: Vec::new(),
            model_calls: 0,
        }
    }
}

/// A page that a result comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Source {
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// What it says.
    pub excerpt: String,
}

impl Source {
    /// A source.
    #[must_use]
    pub fn new(title: &str, url: &str, excerpt: &str) -> Self {
        Self {
            title: title.to_owned(),
            url: url.to_owned(),
            excerpt: excerpt.to_owned(),
        }
    }
}

/// The result of a command as the run sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// Whether it succeeded.
    pub ok: bool,
    /// The text that follows `returned:`.
    pub text: String,
    /// Where it comes from.
    pub sources: Vec<Source>,
    /// Calls of a model that it took.
    pub model_calls: u64,
}

impl Outcome {
    /// A plain success.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self {
            ok: true,
            text: text.to_owned(),
            sources: Vec::new(),
            model_calls: 0,
        }
    }
}
