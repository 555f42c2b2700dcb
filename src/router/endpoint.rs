//! What a route leads to.

use std::future::poll_fn;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use async_trait::async_trait;
use bytes::Bytes;
use http::request::Parts;
use http::{Response, StatusCode};

use super::{json, stream};
use crate::agent::{Agent, Body, Request};
use crate::protocol::{AgentError, Env, Incident, Protocol, Refusal};

/// A request that is read and within its limits.
pub(super) struct Call {
    pub(super) parts: Parts,
    pub(super) params: Vec<(Box<str>, Box<str>)>,
    pub(super) body: Bytes,
    pub(super) env: Env,
}

#[async_trait]
pub(super) trait Endpoint: Send + Sync {
    async fn call(&self, call: Call) -> Response<Body>;

    /// How this endpoint's clients read a refusal.
    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        super::refuse(refusal)
    }

    /// The protocol that is spoken here, where a chat front end may call.
    #[cfg_attr(
        not(feature = "playground"),
        allow(dead_code, reason = "the playground asks")
    )]
    fn protocol(&self) -> Option<&'static str> {
        None
    }
}

/// An agent that streams its answer.
pub(super) struct Streaming<P, A> {
    pub(super) agent: std::sync::Arc<A>,
    pub(super) protocol: PhantomData<fn() -> P>,
}

impl<P, A> Streaming<P, A> {
    pub(super) fn new(agent: A) -> Self {
        Self {
            agent: std::sync::Arc::new(agent),
            protocol: PhantomData,
        }
    }
}

#[async_trait]
impl<P: Protocol, A: Agent<P> + 'static> Endpoint for Streaming<P, A> {
    async fn call(&self, call: Call) -> Response<Body> {
        match P::read(&call.parts, call.body) {
            Ok(message) => {
                let request =
                    Request::<P>::from_parts(call.parts, message).with_params(call.params);
                stream(Body::run(
                    std::sync::Arc::clone(&self.agent),
                    request,
                    &call.env,
                ))
            }
            Err(refusal) => self.refuse(&refusal),
        }
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        json(refusal.status(), P::refuse(refusal))
    }

    fn protocol(&self) -> Option<&'static str> {
        Some(P::NAME)
    }
}

/// Runs what answers without a stream. What goes wrong is told to the observer, and comes back as
/// what the client may read of it; a panic ends this call, not the server.
#[cfg_attr(
    not(any(feature = "github", feature = "openbb")),
    allow(dead_code, reason = "skills and feedback")
)]
pub(super) async fn run<T>(
    protocol: &'static str,
    env: &Env,
    work: impl Future<Output = Result<T, AgentError>>,
) -> Result<T, Refusal> {
    let mut work = pin!(work);
    let outcome = poll_fn(
        |cx| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(outcome)) => Poll::Ready(Some(outcome)),
            Err(_) => Poll::Ready(None),
        },
    );
    let told = true;
    let message = match outcome.await {
        Some(Ok(done)) => return Ok(done),
        Some(Err(error)) => {
            env.tell(&Incident::Failed {
                protocol,
                error: &error,
                told,
            });
            error.message().to_owned()
        }
        None => {
            env.tell(&Incident::Panicked { protocol, told });
            AgentError::DEFAULT.to_owned()
        }
    };
    Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, message))
}

/// A document that is always the same.
pub(super) struct Document(pub(super) Bytes);

#[async_trait]
impl Endpoint for Document {
    async fn call(&self, call: Call) -> Response<Body> {
        drop(call);
        let mut response = json(StatusCode::OK, Vec::new());
        *response.body_mut() = Body::full(self.0.clone());
        response
    }
}
