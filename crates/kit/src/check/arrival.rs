//! The timing of a body.

use std::pin::Pin;
use std::task::Context;
use std::time::Duration;

use super::endpoint::Endpoint;

/// The time after which a head, or the first byte after it, is late.
pub(super) const LATE: Duration = Duration::from_secs(2);

/// The time within which bytes count as sent at once.
const AT_ONCE: Duration = Duration::from_millis(500);

/// A measurement of the timing of a body.
pub(super) struct Arrival<'a> {
    endpoint: &'a dyn Endpoint,
    /// A timer until the first byte is late, and after the first byte, for [`AT_ONCE`]. `None` once it has ended.
    timer: Option<Pin<Box<dyn Future<Output = ()> + Send + 'a>>>,
    pub(super) arrived: Arrived,
}

/// The timing of a body, measured until its end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arrived {
    /// The number of pieces.
    pub(super) pieces: usize,
    /// `true` if the first piece was late.
    pub(super) waited: bool,
    /// `true` if there was a pause between the first piece and the last.
    pub(super) spread: bool,
}

impl<'a> Arrival<'a> {
    /// Starts when the head has arrived.
    pub(super) fn new(endpoint: &'a dyn Endpoint) -> Self {
        Self {
            endpoint,
            timer: Some(endpoint.sleep(LATE)),
            arrived: Arrived::default(),
        }
    }

    /// Polls the timer while no bytes are available.
    pub(super) fn wait(&mut self, cx: &mut Context<'_>) {
        let timer = self.timer.as_mut().map(|timer| timer.as_mut());
        // A timer that has ended is removed: a finished future must not be polled again, and `None` records the end.
        if timer.is_some_and(|timer| timer.poll(cx).is_ready()) {
            self.timer = None;
        }
    }

    /// Records received bytes.
    pub(super) fn piece(&mut self) {
        // The end of the timer means two things: before the first byte, that this byte is late; after it, that the
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
