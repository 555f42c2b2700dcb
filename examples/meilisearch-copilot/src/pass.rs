//! From Meilisearch to Meilisearch.

use copilot_wire::meilisearch::{
    Ending, Event, Failure, Meilisearch, Message, Output, SearchFailure,
};
use copilot_wire::protocol::AgentError;
use copilot_wire::{Reply, Request};

use crate::UpstreamError;
use crate::bridge::Bridge;
use crate::failure::{failed_search, told};

impl Bridge {
    /// Passes a conversation through: the client keeps its own history and has switched on what it
    /// wants to hear.
    ///
    /// Events pass as they are. What is changed: a request without a model gets ours, empty messages
    /// of the assistant are left out, and failures keep their kind and code, but not the words of the
    /// server and the provider.
    pub(crate) async fn pass(
        &self,
        request: Request<Meilisearch>,
        reply: Reply<Meilisearch>,
    ) -> Result<(), AgentError> {
        let mut chat = request.into_inner();
        if chat.model.is_empty() {
            chat.model.clone_from(&self.model);
        }
        chat.messages.retain(|message| !is_empty(message));
        let mut answer = self.upstream.ask(&chat).await.map_err(told)?;
        while let Some(event) = answer.next().await.map_err(told)? {
            match event {
                Event::Text(text) => reply.text(&text).await?,
                Event::Refusal(text) => reply.send(Output::Refusal(text)).await?,
                Event::Progress(progress) => reply.send(progress).await?,
                Event::Append(append) => reply.send(append).await?,
                Event::Sources(sources) => reply.send(sources).await?,
                Event::RoundBreak => reply.send(Output::RoundBreak).await?,
                Event::Error(failure) => {
                    let notice = failed_search(failure.code.as_deref());
                    match SearchFailure::try_from(failure) {
                        Ok(search) if self.error_frames => reply.send(search).await?,
                        Ok(_) => reply.error(notice).await?,
                        // One that is terminal is the outcome.
                        Err(_) => {}
                    }
                }
                _ => {}
            }
        }
        match answer.outcome() {
            Ok(reason) => Ok(reply.end(reason)?),
            Err(UpstreamError::Failed(failure)) => {
                let error = UpstreamError::Failed(failure.clone());
                let mut shown = Failure::new(&failure.kind, error.message());
                shown.code = failure.code;
                shown.param = failure.param;
                // The log has the reason; the front end has its own form of it.
                reply.end(Ending::Failure(shown))?;
                Err(told(error))
            }
            Err(error) => Err(told(error)),
        }
    }
}

/// Returns `true` for a message of the assistant that says and calls nothing. A client keeps one of a
/// turn that failed, and strict providers refuse every conversation that has one.
fn is_empty(message: &Message) -> bool {
    message.role() == "assistant"
        && message.text().is_none_or(|text| text.is_empty())
        && message.tool_calls().is_empty()
        && message.json().get("refusal").is_none_or(|it| it.is_null())
}
