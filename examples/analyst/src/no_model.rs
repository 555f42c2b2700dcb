//! In place of `model`, without its feature.

use std::convert::Infallible;
use std::error::Error;

use copilot_wire::Reply;
use copilot_wire::protocol::{AgentError, Conversation, Protocol};

/// A model, of which there is none without the feature `model`.
#[derive(Debug)]
pub struct Model(Infallible);

impl Model {
    /// Returns no model.
    ///
    /// # Errors
    ///
    /// When the environment names one.
    pub fn from_env() -> Result<Option<Self>, Box<dyn Error>> {
        match std::env::var("OPENAI_BASE_URL") {
            Ok(url) if !url.is_empty() => {
                Err("OPENAI_BASE_URL is set: build with `--features model` to ask a model".into())
            }
            _ => Ok(None),
        }
    }

    pub(crate) async fn answer<P: Protocol>(
        &self,
        _: &impl Conversation,
        _: Reply<P>,
    ) -> Result<(), AgentError> {
        match self.0 {}
    }
}
