//! The limits of stored replies.

use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

/// The limits of the replies of a router.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) keep: Duration,
    pub(super) lifetime: Duration,
    pub(super) abandoned: Duration,
    pub(super) bytes: usize,
    pub(super) events: u64,
    pub(super) runs: usize,
    pub(super) runs_per_user: usize,
    pub(super) join: bool,
    /// The maximum time of a connection, after which its client resumes the reply.
    pub(super) reconnect: Option<Duration>,
    /// `true` if all callers count as one user.
    pub(super) single: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            keep: 10 * MINUTE,
            lifetime: 60 * MINUTE,
            abandoned: 10 * MINUTE,
            bytes: 8 << 20,
            events: 100_000,
            runs: 1000,
            runs_per_user: 32,
            join: false,
            reconnect: None,
            single: false,
        }
    }
}
