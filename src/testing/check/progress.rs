//! How far a check is.

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
