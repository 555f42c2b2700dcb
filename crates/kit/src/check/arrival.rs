//! The timing of a body.

use std::pin::Pin;
use std::task::Context;
use std::time::Duration;

use super::endpoint::Endpoint;

/// The time after which a head, or the first byte after it, is late.
pub(super) const LATE: Duration = Duration::from_secs(2);

/// The time within which bytes count as sent at once.
const AT_ONCE: Duration = Duration::from_millis(500);

/// The timing of a body.
pub(super) struct Arrival<'a> {
    endpoint: &'a dyn Endpoint,
    /// A timer until the first byte is late, and then until [`AT_ONCE`] has passed since it.
    timer: Option<Pin<Box<dyn Future<Output = ()> + Send + 'a>>>,
    pub(super) arrived: Arrived,
}

/// The timing of a body, at its end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arrived {
    /// The number of pieces.
    pub(super) pieces: usize,
    /// `true` if the first one was late.
    pub(super) waited: bool,
    /// `true` if there was a pause between the first one and the last.
    pub(super) spread: bool,
}

impl<'a> Arrival<'a> {
    /// Starts at the head.
    pub(super) fn new(endpoint: &'a dyn Endpoint) -> Self {
        Self {
            endpoint,
            timer: Some(endpoint.sleep(LATE)),
            arrived: Arrived::default(),
        }
    }

    /// Polls the timer while no bytes are there.
    pub(super) fn wait(&mut self, cx: &mut Context<'_>) {
        let timer = self.timer.as_mut().map(|timer| timer.as_mut());
        // Removed once it has rung: a finished future must not be polled again, and `None` records
        // that it rang.
        if timer.is_some_and(|timer| timer.poll(cx).is_ready()) {
            self.timer = None;
        }
    }

    /// Records received bytes.
    pub(super) fn piece(&mut self) {
        // The one timer means two things: before the first byte that it is late, after it that the
        // later pieces did not come at once.
        let rang = self.timer.is_none();
        if self.arrived.pieces == 0 {
            self.arrived.waited = rang;
            self.timer = Some(self.endpoint.sleep(AT_ONCE));
        } else {
            self.arrived.spread |= rang;
        }
        self.arrived.pieces += 1;
    }
}
