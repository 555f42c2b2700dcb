//! For every rule, an endpoint that breaks this rule only.

mod ag_ui;
mod anthropic;
mod chunk;
mod http;
mod openbb;
mod question;
mod ui_stream;

use crate::script::{Fault, Front};

/// A rule, a front end, and how to break the rule for it.
pub(crate) type Broken = (&'static str, Front, Fault);

pub(crate) fn all() -> impl Iterator<Item = &'static Broken> {
    [
        http::FAULTS,
        question::FAULTS,
        chunk::FAULTS,
        openbb::FAULTS,
        anthropic::FAULTS,
        ag_ui::FAULTS,
        ui_stream::FAULTS,
    ]
    .into_iter()
    .flatten()
}
