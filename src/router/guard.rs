//! Guards: checks of the head of a request that may refuse it.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use http::StatusCode;
use http::request::Parts;

use crate::protocol::{AgentError, Refusal};

type Checked = Pin<Box<dyn Future<Output = Result<Parts, Refusal>> + Send>>;

/// A check of the head of a request; see [`Router::guard`](super::Router::guard).
#[derive(Clone)]
pub(super) struct Guard(Arc<dyn Fn(Parts) -> Checked + Send + Sync>);

impl Guard {
    pub(super) fn new<F, R>(check: F) -> Self
    where
        F: Fn(Parts) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Parts, Refusal>> + Send + 'static,
    {
        Self(Arc::new(move |parts| Box::pin(check(parts))))
    }

    /// Checks a request. If the guard panics, the request is refused.
    pub(super) async fn check(&self, parts: Parts) -> Result<Parts, Refusal> {
        let panicked = |_| {
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            Refusal::new(status, AgentError::DEFAULT).code("internal_error")
        };
        // The closure can panic before it returns a future.
        let mut check = catch_unwind(AssertUnwindSafe(|| (self.0)(parts))).map_err(panicked)?;
        poll_fn(move |cx| {
            let poll = catch_unwind(AssertUnwindSafe(|| check.as_mut().poll(cx)));
            poll.unwrap_or_else(|panic| Poll::Ready(Err(panicked(panic))))
        })
        .await
    }

    /// Returns `true` if `self` and `other` are clones of one guard.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

opaque_debug!(Guard);
