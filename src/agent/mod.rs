//! Runs an agent and turns what it says into the frames of a response body.
//!
//! The body owns the agent: polling the body polls the agent, and dropping it drops the agent.
//! There is no task, no channel and no runtime in between.

mod body;
mod channel;
#[cfg(feature = "http-body")]
mod http_body;
mod reply;
mod request;
mod staging;

pub use body::{Body, Run};
pub use reply::Reply;
pub use request::Request;

use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;

use crate::protocol::{AgentError, Protocol};

/// A chat agent.
///
/// Implement it for every protocol at once and speak the shared vocabulary, or for one protocol and
/// use all of it:
///
/// ```
/// use copilot_wire::protocol::{AgentError, Conversation, Protocol};
/// use copilot_wire::{Agent, Reply, Request, async_trait};
///
/// struct Echo;
///
/// #[async_trait]
/// impl<P: Protocol> Agent<P> for Echo {
///     async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
///         let prompt = request.prompt().unwrap_or_default();
///         reply.text(&format!("You said: {prompt}")).await?;
///         Ok(())
///     }
/// }
/// ```
///
/// # Cancel safety
///
/// When the client goes away, the future of [`answer`](Self::answer) is dropped at its current
/// `.await`. To finish the work all the same, see [`Body::detach`].
#[async_trait]
pub trait Agent<P: Protocol>: Send + Sync {
    /// Answers one request.
    ///
    /// The turn is over when this returns and the reply is dropped.
    ///
    /// # Errors
    ///
    /// Whatever keeps the agent from answering. The front end is told so, in its own way, unless
    /// the turn has already ended.
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError>;
}

macro_rules! agent_behind {
    ($pointer:ident) => {
        impl<P: Protocol, A: Agent<P> + ?Sized> Agent<P> for $pointer<A> {
            // Written out, so that the future is the agent's own and not one around it.
            fn answer<'a, 'f>(
                &'a self,
                request: Request<P>,
                reply: Reply<P>,
            ) -> Pin<Box<dyn Future<Output = Result<(), AgentError>> + Send + 'f>>
            where
                'a: 'f,
                Self: 'f,
            {
                (**self).answer(request, reply)
            }
        }
    };
}

agent_behind!(Arc);
agent_behind!(Box);
