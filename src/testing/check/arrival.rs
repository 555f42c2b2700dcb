//! When the bytes of a body came.

use std::pin::Pin;
use std::task::Context;
use std::time::Duration;

use super::endpoint::Endpoint;

/// A head, or the first byte behind it, that takes longer than this is late.
pub(super) const LATE: Duration = Duration::from_secs(2);

/// What comes within this time came at once.
const MOMENT: Duration = Duration::from_millis(500);

/// When the bytes of a body came.
pub(super) struct Arrival<'a> {
    endpoint: &'a dyn Endpoint,
    /// Runs until the first byte is late, and then until a moment has passed since it.
    timer: Option<Pin<Box<dyn Future<Output = ()> + Send + 'a>>>,
    arrived: Arrived,
}

/// When the bytes of a body came, once they are there.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arrived {
    /// In how many pieces.
    pub(super) pieces: usize,
    /// Whether the first one was long in coming.
    pub(super) waited: bool,
    /// Whether there was a moment between the first one and the last.
    pub(super) spread: bool,
}

impl<'a> Arrival<'a> {
    /// Begins with the head.
    pub(super) fn new(endpoint: &'a dyn Endpoint) -> Self {
        Self {
            endpoint,
            timer: Some(endpoint.sleep(LATE)),
            arrived: Arrived::default(),
        }
    }

    /// Nothing is there yet.
    pub(super) fn wait(&mut self, cx: &mut Context<'_>) {
        let timer = self.timer.as_mut().map(|timer| timer.as_mut());
        if timer.is_some_and(|timer| timer.poll(cx).is_ready()) {
            self.timer = None;
        }
    }

    /// Some bytes came.
    pub(super) fn piece(&mut self) {
        let rang = self.timer.is_none();
        if self.arrived.pieces == 0 {
            self.arrived.waited = rang;
            self.timer = Some(self.endpoint.sleep(MOMENT));
        } else {
            self.arrived.spread |= rang;
        }
        self.arrived.pieces += 1;
    }

    pub(super) fn end(self) -> Arrived {
        self.arrived
    }
}
