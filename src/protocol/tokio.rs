//! The environment with tokio's timer.

use std::panic::catch_unwind;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::{Environment, Ticks};

/// The standard environment with keep-alive from tokio's timer, for use inside a tokio runtime. Where
/// there is none, or one without a timer, streams go without keep-alive.
///
/// Wrap it in an environment of your own to hear of incidents too.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct TokioEnv;

impl TokioEnv {
    /// The environment.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

impl Environment for TokioEnv {
    fn ticks(&self, period: Duration) -> Option<Ticks> {
        // Where tokio has no timer, outside of a runtime for one, it panics.
        let mut interval = catch_unwind(|| interval_at(Instant::now() + period, period)).ok()?;
        // After a stall one tick is enough: they mean silence, not elapsed time.
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Some(Box::pin(IntervalTicks(interval)))
    }
}

struct IntervalTicks(Interval);

impl Stream for IntervalTicks {
    type Item = ();

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<()>> {
        self.0.poll_tick(cx).map(|_| Some(()))
    }
}
