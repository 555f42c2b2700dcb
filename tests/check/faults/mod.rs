//! What is done wrong: for every rule, an endpoint that breaks it and nothing else.

mod anthropic;
mod chunk;
mod http;
mod openbb;

use crate::script::{Fault, Front};

/// A rule, a front end, and how to break the rule for it.
pub(crate) type Broken = (&'static str, Front, Fault);

pub(crate) fn all() -> impl Iterator<Item = &'static Broken> {
    [
        http::FAULTS,
        chunk::FAULTS,
        openbb::FAULTS,
        anthropic::FAULTS,
    ]
    .into_iter()
    .flatten()
}
