//! Checks an agent endpoint in any language against what the strictest known reader of its
//! protocol accepts.
//!
//! [`check`] emulates the front end: it sends recorded requests of all versions, invalid ones, signed and
//! forged ones, disconnects in the middle, and examines every byte of the answers. Each thing that it
//! examines is a [`Rule`] with a name, the reader that fails, and the remedy.
//!
//! An [`Endpoint`] is a [`Router`](copilot_wire::Router) in process, or a server behind an HTTP client:
//!
//! ```
//! use copilot_wire_kit::Kit;
//! use copilot_wire_kit::check::{Endpoint, Target, check};
//!
//! async fn is_clean(endpoint: &dyn Endpoint, kit: Kit) -> bool {
//!     let report = check(endpoint, Target::new(kit)).await;
//!     println!("{report}");
//!     report.is_clean()
//! }
//! ```
//!
//! A check makes about forty requests, one after the other, and uploads 48 MiB once to find
//! the limit. They cost money if the agent uses a paid model. A silence of twenty seconds ends
//! an answer. Three consecutive requests without a response, or refused with 401, 403, 404 or 405, end the
//! check, and three consecutive answers without an end cancel the requests that wait for one:
//! [`Report::skipped`] lists them. Things that an agent never does, such as calling a function, are not
//! checked: [`Report::unseen`] lists their rules.
//!
//! [`Check`] reports its progress and can be cancelled. [`recorded`] checks a recorded stream, without an endpoint.

mod arrival;
mod blocks;
mod endpoint;
mod exam;
mod exchange;
mod http;
mod judge;
mod lines;
pub mod members;
mod pace;
mod progress;
mod question;
mod recorded;
mod report;
mod rule;
mod run;
mod secrets;
mod sse;
mod target;

use copilot_wire::protocol::Framing;
use exchange::End;

#[doc(no_inline)]
pub use crate::{recorded_files, rules};
pub use blocks::Lines;
pub use endpoint::{Endpoint, EndpointBody, EndpointError};
pub use exam::{Exam, Stream, Trial};
pub use exchange::Exchange;
pub use judge::Judge;
pub use progress::Progress;
pub use recorded::recorded;
pub use report::{Finding, Report};
pub use rule::{Rule, Severity};
pub use run::{Check, check};
pub use target::Target;

/// Returns the rules for endpoints of all protocols with this framing.
pub(super) fn rules(framing: Framing) -> [&'static [&'static Rule]; 4] {
    let frames = match framing {
        Framing::Lines => lines::RULES,
        _ => sse::RULES,
    };
    [http::RULES, pace::RULES, frames, question::RULES]
}

/// Judges the framing of a body, and splits it into blocks.
fn read<'a>(judge: &mut Judge, framing: Framing, exchange: &'a Exchange) -> Vec<Lines<'a>> {
    match framing {
        Framing::Lines => lines::read(judge, exchange),
        _ => sse::read(judge, exchange),
    }
}

/// Checks that a body is UTF-8.
fn expect_utf8(judge: &mut Judge, rule: &'static Rule, exchange: &Exchange) {
    let at = &*exchange.name;
    let body = &*exchange.body;
    match std::str::from_utf8(body) {
        Ok(_) => judge.expect(rule, true, at, ""),
        Err(error) => {
            // A character that is incomplete at the end of a truncated body is not the writer's fault.
            let fault = error.error_len().is_some() || matches!(exchange.end, End::Clean);
            // Some valid text before the fault, so that the place can be found in the answer.
            let from = error.valid_up_to().saturating_sub(80);
            judge.expect(rule, !fault, at, body.split_at(from).1);
        }
    }
}

/// A text that is hard for readers and writers to repeat: separators, quotes, characters of four bytes, and text that
/// looks like framing.
pub const HAZARDS: &str =
    "Repeat: \u{2028}\u{2029} \"q\" \\ é 🦀\r\n\r\ndata: [DONE]\n\nevent: x\n\n: y";
