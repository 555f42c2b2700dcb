//! A check that says how far it is.

use std::fmt;

use super::endpoint::Endpoint;
use super::exchange::Asker;
use super::judge::Judge;
use super::{Front, Report, Target, github, meilisearch, openai, openbb};

/// A check that says how far it is, and what it has found when it is stopped half-way.
pub struct Check<'a, E: ?Sized> {
    endpoint: &'a E,
    target: Target,
    judge: Judge,
}

/// How far a check is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// The request that is sent now, by its name in findings.
    pub request: &'a str,
    /// Which one it is, from 1 on.
    pub number: usize,
    /// How many there will be, by what is known so far. Those that are skipped count.
    pub total: usize,
}

impl<'a, E: Endpoint + ?Sized> Check<'a, E> {
    /// A check of an endpoint by the rules of one front end.
    #[must_use]
    pub fn new(endpoint: &'a E, target: Target) -> Self {
        Self {
            judge: Judge::new(target.front),
            endpoint,
            target,
        }
    }

    /// Makes every request, and tells `progress` before each.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the stream that is being read. What was found before stays.
    pub async fn run(&mut self, progress: impl Fn(Progress<'_>) + Send + Sync) {
        let asker = Asker::new(self.endpoint, &self.target, &progress);
        let judge = &mut self.judge;
        match self.target.front {
            Front::OpenBb => openbb::check(&asker, judge).await,
            Front::GitHub => github::check(&asker, judge).await,
            Front::OpenAi => openai::check(&asker, judge).await,
            Front::Meilisearch => meilisearch::check(&asker, judge).await,
        }
    }

    /// What was found so far.
    #[must_use]
    pub fn report(&self) -> Report {
        self.judge.report()
    }
}

impl<E: ?Sized> fmt::Debug for Check<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check")
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}
