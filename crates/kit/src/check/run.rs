//! Runs a check and reports its progress.

use std::fmt;

use http::HeaderMap;

use super::endpoint::Endpoint;
use super::exam::Exam;
use super::exchange::Asker;
use super::http::REQUESTS;
use super::judge::Judge;
use super::progress::Progress;
use super::report::Report;
use super::secrets::Secrets;
use super::target::Target;

/// Checks an endpoint by the rules of one protocol, and returns the findings.
///
/// A check never fails: an endpoint that cannot be reached is a finding.
///
/// # Cancel safety
///
/// Dropping the future closes the stream that is being read. No task is left.
pub async fn check(endpoint: &dyn Endpoint, target: Target) -> Report {
    let mut check = Check::new(endpoint, target);
    check.run(|_| {}).await;
    check.report()
}

/// A check that reports its progress and can be cancelled: the report then contains the findings so far.
pub struct Check<'a> {
    endpoint: &'a dyn Endpoint,
    target: Target,
    judge: Judge,
}

impl<'a> Check<'a> {
    /// Creates a check of an endpoint by the rules of one front end.
    pub fn new(endpoint: &'a dyn Endpoint, target: Target) -> Self {
        Self {
            judge: Judge::new(Secrets::of(&target.settings)),
            endpoint,
            target,
        }
    }

    /// Sends all requests of the check, and calls `progress` before each.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the stream that is being read. Earlier findings stay.
    pub async fn run(&mut self, progress: impl Fn(Progress<'_>) + Send + Sync) {
        let Target { kit, settings } = &self.target;
        let mut exam = Exam {
            asker: Asker::new(self.endpoint, &progress),
            judge: &mut self.judge,
            settings,
            kit: *kit,
            session: HeaderMap::new(),
        };
        exam.plan(REQUESTS);
        (kit.check)(&mut exam).await;
    }

    /// Returns the findings so far. Before [`run`](Self::run) there are none, and every rule is in [`Report::unseen`].
    pub fn report(&self) -> Report {
        self.judge.report(self.target.kit.rules())
    }
}

impl fmt::Debug for Check<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check")
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}
