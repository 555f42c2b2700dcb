//! Runs of several tools at the same time.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::vec::IntoIter;

/// A future, and the number of its call.
type Numbered<'a, T> = (usize, Pin<Box<dyn Future<Output = T> + Send + 'a>>);

/// Futures, of which a limited number runs at the same time.
pub(super) struct Runs<'a, T> {
    waiting: IntoIter<Numbered<'a, T>>,
    // All of them are polled at each wake, so their number is limited whatever the model calls.
    active: Vec<Numbered<'a, T>>,
    limit: usize,
}

impl<'a, T> Runs<'a, T> {
    pub(super) fn new(futures: Vec<Numbered<'a, T>>, limit: usize) -> Self {
        Self {
            waiting: futures.into_iter(),
            active: Vec::new(),
            limit,
        }
    }

    /// Returns the number and the result of the next future that is ready; `None` after all of them.
    pub(super) async fn next(&mut self) -> Option<(usize, T)> {
        let free = self.limit.saturating_sub(self.active.len());
        self.active.extend(self.waiting.by_ref().take(free));
        if self.active.is_empty() {
            return None;
        }
        let active = &mut self.active;
        let (at, result) = poll_fn(|cx| {
            for (at, (_, future)) in active.iter_mut().enumerate() {
                if let Poll::Ready(result) = future.as_mut().poll(cx) {
                    return Poll::Ready((at, result));
                }
            }
            Poll::Pending
        })
        .await;
        let (number, _) = self.active.swap_remove(at);
        Some((number, result))
    }
}
