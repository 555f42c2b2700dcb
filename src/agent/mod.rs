//! Runs an agent and sends its reply as the frames of a response body.
//!
//! The body owns the agent: polling the body polls the agent, and dropping it drops the agent.
//! The agent needs no task of its own and no runtime.

mod body;
mod channel;
#[cfg(feature = "http-body")]
mod http_body;
mod live;
mod reply;
mod request;
mod run;
mod staging;
mod tool;
mod turns;
mod wakers;
mod wakeup;

pub use body::{Body, Canceller, Interrupted};
pub use reply::{IntoEnding, IntoOutput, Reply};
pub use request::Request;
pub(crate) use request::{Head, copy_values};
pub use run::Run;
pub use tool::execute_tool;
pub(crate) use turns::{Busy, Running, TurnLimits, Turns};
#[cfg(feature = "resumable")]
pub(crate) use wakers::{Key, Wakers};

use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;

use crate::protocol::{AgentError, Protocol};

/// A chat agent.
///
/// Implement this trait for all protocols at once, with the shared vocabulary, or for one protocol, with all of its
/// features:
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
/// Without the attribute the implementation does not compile, with error E0195:
///
/// ```compile_fail,E0195
/// # use copilot_wire::protocol::{AgentError, Protocol};
/// # use copilot_wire::{Agent, Reply, Request};
/// # struct Echo;
/// impl<P: Protocol> Agent<P> for Echo {
///     async fn answer(&self, _: Request<P>, _: Reply<P>) -> Result<(), AgentError> {
///         Ok(())
///     }
/// }
/// ```
///
/// # Cancel safety
///
/// When the client disconnects, the future of [`answer`](Self::answer) is dropped at its current `.await`. To finish
/// the work in spite of that, see [`Body::detach`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an agent of the protocol `{P}`",
    label = "does not implement `Agent<{P}>`",
    note = "an agent of every protocol is an `impl<P: Protocol> Agent<P>` with `#[async_trait]`",
    note = "`agent_fn` creates an agent of one protocol: `mount` it once for each, or implement the trait"
)]
#[async_trait]
pub trait Agent<P: Protocol>: Send + Sync {
    /// Answers one request.
    ///
    /// The turn ends when the method has returned and the reply is dropped.
    ///
    /// # Errors
    ///
    /// An [`AgentError`] fails the turn: the front end receives the failure in its own format, unless the turn has
    /// already ended.
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError>; // E0195: add #[async_trait]

    /// Returns `true` if a server of this protocol answers, which also gets requests that a router answers without the
    /// agent: those for a single token, with which clients test a key. `false` by default.
    fn is_gateway(&self) -> bool {
        false
    }

    /// Returns the number of tokens of a request as its model counts them, for clients that ask for it. `None` by
    /// default: they get an estimate, as after a failure and at the [limits of turns](crate::Router::max_turns), which
    /// apply to counts separately. Observers receive a report of each count and failure.
    ///
    /// # Errors
    ///
    /// An [`AgentError`], which is reported and not sent.
    async fn count_tokens(&self, request: Request<P>) -> Result<Option<u64>, AgentError> {
        drop(request);
        Ok(None)
    }
}

macro_rules! agent_behind {
    ($pointer:ident) => {
        impl<P: Protocol, A: Agent<P> + ?Sized> Agent<P> for $pointer<A> {
            // Written without `async`, so that the future is the agent's own and is not wrapped in another one.
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

            fn count_tokens<'a, 'f>(
                &'a self,
                request: Request<P>,
            ) -> Pin<Box<dyn Future<Output = Result<Option<u64>, AgentError>> + Send + 'f>>
            where
                'a: 'f,
                Self: 'f,
            {
                (**self).count_tokens(request)
            }

            fn is_gateway(&self) -> bool {
                (**self).is_gateway()
            }
        }
    };
}

agent_behind!(Arc);
agent_behind!(Box);

/// Creates an agent from a function.
///
/// ```
/// use copilot_wire::protocol::{AgentError, Conversation, Protocol};
/// use copilot_wire::{Agent, Reply, Request, agent_fn};
///
/// async fn echo<P: Protocol>(request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
///     Ok(reply.text(request.prompt().unwrap_or_default()).await?)
/// }
///
/// fn agent<P: Protocol>() -> impl Agent<P> {
///     agent_fn(echo::<P>)
/// }
/// ```
///
/// The agent is one for every protocol if its type is generic, as here. That of a closure is an agent of one protocol:
///
/// ```compile_fail,E0277
/// use copilot_wire::responses::Responses;
/// use copilot_wire::{Reply, Request, Router, agent_fn};
///
/// let agent = agent_fn(async |_: Request<Responses>, reply: Reply<Responses>| Ok(reply.text("Hi").await?));
/// let router = Router::new().mount_model("echo", agent); // three protocols
/// ```
///
/// The arguments of a closure need type annotations, except in [`Router::mount_fn`](crate::Router::mount_fn).
pub fn agent_fn<P, F, Fut>(answer: F) -> impl Agent<P>
where
    P: Protocol,
    F: Fn(Request<P>, Reply<P>) -> Fut + Send + Sync,
    Fut: Future<Output = Result<(), AgentError>> + Send,
{
    AgentFn(answer)
}

struct AgentFn<F>(F);

#[async_trait]
impl<P, F, Fut> Agent<P> for AgentFn<F>
where
    P: Protocol,
    F: Fn(Request<P>, Reply<P>) -> Fut + Send + Sync,
    Fut: Future<Output = Result<(), AgentError>> + Send,
{
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        (self.0)(request, reply).await
    }
}
