//! What a reply needs from the world outside.

use std::time::Duration;

use copilot_wire::protocol::{Environment, Incident, Ticks, TokioEnv};

/// Tokio's timer, and incidents on standard error.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Outside;

impl Environment for Outside {
    fn ticks(&self, period: Duration) -> Option<Ticks> {
        TokioEnv::new().ticks(period)
    }

    #[expect(clippy::print_stderr, reason = "an example has no log")]
    fn incident(&self, incident: &Incident<'_>) {
        eprintln!("{incident:?}");
    }
}
