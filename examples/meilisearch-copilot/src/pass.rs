//! From Meilisearch to Meilisearch: everything passes through as it is.

use copilot_wire::meilisearch::{Ending, Event, Meilisearch, Outcome, Say, SearchFailure};
use copilot_wire::protocol::AgentError;
use copilot_wire::{Reply, Request};

use crate::bridge::{Bridge, failed_search, reason, sorry, verdict};

impl Bridge {
    /// The client keeps its own history and has switched on what it wants to hear.
    pub(crate) async fn pass(
        &self,
        request: Request<Meilisearch>,
        reply: Reply<Meilisearch>,
    ) -> Result<(), AgentError> {
        let mut chat = request.into_inner();
        if chat.model.is_empty() {
            chat.model.clone_from(&self.model);
        }
        let mut answer = self.upstream.ask(&chat).await.map_err(sorry)?;
        while let Some(event) = answer.next().await.map_err(sorry)? {
            match event {
                Event::Text(text) => reply.text(&text).await?,
                Event::Refusal(text) => reply.send(Say::Refusal(text)).await?,
                Event::Progress(progress) => reply.send(progress).await?,
                Event::Append(append) => reply.send(append).await?,
                Event::Sources(sources) => reply.send(sources).await?,
                Event::RoundBreak => reply.send(Say::RoundBreak).await?,
                Event::Error(failure) => {
                    // One that is terminal is the outcome.
                    match SearchFailure::try_from(failure) {
                        Ok(search) if self.error_frames => reply.send(search).await?,
                        Ok(search) => reply.error(failed_search(&search.message)).await?,
                        Err(_) => {}
                    }
                }
                _ => {}
            }
        }
        match answer.outcome() {
            Outcome::Answered(reason) => Ok(reply.end(reason)?),
            Outcome::Failed(mut failure) => {
                failure.message = reason(&failure).to_owned();
                Ok(reply.end(Ending::Failure(failure))?)
            }
            outcome => verdict(&outcome),
        }
    }
}
