//! The agent.

use std::sync::Arc;

use copilot_wire::protocol::{AgentError, Conversation, Protocol};
use copilot_wire::{Agent, Reply, Request, async_trait};

use crate::model::Model;

/// Answers from the data it is given, or from a model.
#[derive(Clone, Debug)]
pub struct Analyst {
    model: Option<Arc<Model>>,
}

impl Analyst {
    /// An analyst that asks `model` when there is one.
    #[must_use]
    pub fn new(model: Option<Model>) -> Self {
        Self {
            model: model.map(Arc::new),
        }
    }
}

#[async_trait]
impl<P: Protocol> Agent<P> for Analyst {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        if let Some(model) = &self.model {
            return model.answer(&*request, &reply).await;
        }
        let prompt = request.prompt().unwrap_or_default();
        let said = format!(
            "You said: “{}”. I am the built-in analyst: put a widget on your dashboard and ask me \
             about it, and I will read its data. To have a model answer, start the server with \
             `OPENAI_BASE_URL` set.",
            prompt.trim()
        );
        for word in said.split_inclusive(' ') {
            reply.text(word).await?;
        }
        Ok(())
    }
}
