//! The progress of a check.

/// The progress of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// The name of the current request in findings.
    pub request: &'a str,
    /// The number of the current request, starting at 1.
    pub number: usize,
    /// The expected number of requests, including skipped ones. It may grow during the check.
    pub total: usize,
}
