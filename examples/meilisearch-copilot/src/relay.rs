//! Sends the answer of Meilisearch as parts of the shared vocabulary.

use std::collections::HashSet;

use copilot_wire::json::Members;
use copilot_wire::meilisearch::{ChatRequest, Event, History, Tools};
use copilot_wire::openai::FinishReason;
use copilot_wire::protocol::{Protocol, SendError, Status};
use copilot_wire::{Reply, Request};

use crate::UpstreamError;
use crate::bridge::Bridge;
use crate::conversation::Thread;
use crate::document::citation;
use crate::failure::failed_search;

/// The end of the search engine's answer.
type Answered = Result<FinishReason, UpstreamError>;

impl Bridge {
    pub(crate) async fn relay<P: Protocol>(
        &self,
        request: &Request<P>,
        reply: &Reply<P>,
        parameters: Members,
    ) -> Result<Answered, SendError> {
        let conversation = request
            .conversation_id()
            .map(|id| format!("{}/{id}", P::NAME));
        let kept = match &conversation {
            Some(conversation) => self.store.load(conversation).await,
            None => Vec::new(),
        };
        let thread = Thread::new(&**request, kept);
        let messages = thread.messages();
        let before = messages.len();
        let mut chat = ChatRequest::new(&self.model, messages.clone()).tools(Tools::ALL);
        chat.parameters = parameters;
        let mut history = History::from(messages);

        let spoken = self.speak(&chat, &mut history, reply).await;
        if let Some(conversation) = conversation {
            // Also of an answer that failed: the user has read the first half of it.
            let messages = history.into_messages().split_off(before);
            self.store
                .save(&conversation, thread.answered(messages))
                .await;
        }
        spoken
    }

    async fn speak<P: Protocol>(
        &self,
        chat: &ChatRequest,
        history: &mut History,
        reply: &Reply<P>,
    ) -> Result<Answered, SendError> {
        let mut answer = match self.upstream.ask(chat).await {
            Ok(answer) => answer,
            Err(error) => return Ok(Err(error)),
        };
        let mut speaker = Speaker::new(reply);
        loop {
            match answer.next().await {
                Ok(Some(event)) => {
                    let text = history.apply(&event);
                    speaker.say(&event, text).await?;
                }
                Ok(None) => return Ok(answer.outcome()),
                Err(error) => return Ok(Err(error)),
            }
        }
    }
}

/// Says events in shared words.
struct Speaker<'a, P: Protocol> {
    reply: &'a Reply<P>,
    /// The documents that were named already.
    cited: HashSet<String>,
}

impl<'a, P: Protocol> Speaker<'a, P> {
    fn new(reply: &'a Reply<P>) -> Self {
        Self {
            reply,
            cited: HashSet::new(),
        }
    }

    /// Says an event, which adds `text` to the answer.
    async fn say(&mut self, event: &Event, text: &str) -> Result<(), SendError> {
        match event {
            Event::Text(_) | Event::Refusal(_) => self.reply.text(text).await?,
            Event::Progress(progress) => {
                let status = match progress.search() {
                    Ok(search) => {
                        let words = search.q.unwrap_or_default();
                        let status =
                            Status::new(format!("Searching {} for “{words}”", search.index_uid));
                        match search.filter.filter(|filter| !filter.is_empty()) {
                            Some(filter) => status.detail("filter", filter),
                            None => status,
                        }
                    }
                    // The model wrote what is no search; the server tells it so.
                    Err(_) => Status::warning("The model asked for a search that makes no sense"),
                };
                tolerate(self.reply.status(status).await)?;
            }
            Event::Sources(sources) => {
                for document in sources.iter() {
                    // Two searches may find one document.
                    if self.cited.insert(document.text().to_owned()) {
                        tolerate(self.reply.cite(citation(&document)).await)?;
                    }
                }
            }
            Event::Error(failure) if !failure.is_terminal() => {
                tolerate(
                    self.reply
                        .error(failed_search(failure.code.as_deref()))
                        .await,
                )?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// Ignores the error of a part that the front end does not support.
fn tolerate(sent: Result<(), SendError>) -> Result<(), SendError> {
    match sent {
        Err(SendError::Unsupported(_)) => Ok(()),
        other => other,
    }
}
