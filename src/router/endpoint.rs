//! What a route leads to.

use std::marker::PhantomData;

use async_trait::async_trait;
use bytes::Bytes;
use http::Response;
use http::request::Parts;

use super::{json, stream};
use crate::agent::{Agent, Body, Request};
use crate::protocol::{Env, Protocol, Refusal};

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

/// A document that is always the same.
pub(super) struct Document(pub(super) Bytes);

#[async_trait]
impl Endpoint for Document {
    async fn call(&self, call: Call) -> Response<Body> {
        drop(call);
        let mut response = json(http::StatusCode::OK, Vec::new());
        *response.body_mut() = Body::full(self.0.clone());
        response
    }
}
