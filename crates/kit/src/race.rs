//! Futures with a time limit.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// Returns the output of `work`, or `None` if `limit` ends first. If both are ready, the output counts.
///
/// It uses no runtime: each endpoint and each store is checked on the runtime that it needs.
pub(crate) async fn race<T>(
    work: impl Future<Output = T>,
    limit: impl Future<Output = ()>,
) -> Option<T> {
    let (mut work, mut limit) = (pin!(work), pin!(limit));
    poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending => limit.as_mut().poll(cx).map(|()| None),
    })
    .await
}
