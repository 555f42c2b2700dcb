//! Judges an agent endpoint, written in any language, by what the strictest known reader of its
//! protocol accepts.
//!
//! [`check`] plays the front end: it sends recorded requests of every era, bad ones, signed and
//! forged ones, leaves half-way, and looks at every byte of what comes back. Each thing that it
//! looks at is a [`Rule`] with a name, the reader that breaks, and what to do about it.
//!
//! An [`Endpoint`] is a [`Router`](crate::Router) in process, or whatever an HTTP client reaches:
//!
//! ```
//! use copilot_wire::testing::Kit;
//! use copilot_wire::testing::check::{Endpoint, Target, check};
//!
//! async fn is_clean(endpoint: &dyn Endpoint, kit: Kit) -> bool {
//!     let report = check(endpoint, Target::new(kit)).await;
//!     println!("{report}");
//!     report.is_clean()
//! }
//! ```
//!
//! A check makes about forty requests, one after the other, and uploads 48 MiB once to see whether
//! there is a limit. An agent that asks a paid model pays for them. A silence of twenty seconds ends
//! an answer. Three requests in a row without a response end the check, and three answers in a row
//! without an end those that wait for one: [`Report::skipped`] lists what was not sent. What an agent
//! never does, such as calling a function, is not judged: [`Report::unseen`] lists those rules.
//!
//! [`Check`] says how far it is and can be stopped half-way. [`recorded`] judges a stream alone.

mod arrival;
mod blocks;
mod endpoint;
mod exam;
mod exchange;
mod http;
mod judge;
mod pace;
mod progress;
mod recorded;
mod report;
mod rule;
mod run;
mod sse;
mod target;

pub use blocks::Block;
pub use endpoint::{Endpoint, EndpointBody, EndpointError};
#[allow(unused_imports, reason = "for the protocols")]
pub(crate) use exam::recorded as recorded_files;
pub use exam::{Exam, Recorded, Stream};
pub use exchange::Exchange;
pub use judge::Judge;
pub use progress::Progress;
pub use recorded::recorded;
pub use report::{Finding, Report};
#[allow(unused_imports, reason = "for the protocols")]
pub(crate) use rule::rules;
pub use rule::{Level, Rule};
pub use run::{Check, check};
pub use target::Target;

/// The rules that every endpoint is judged by, whatever its protocol.
pub(super) static RULES: [&[&Rule]; 3] = [http::RULES, pace::RULES, sse::RULES];

/// What breaks readers and writers when it is repeated: separators, quotes, characters of four
/// bytes, and what looks like framing.
pub const HAZARDS: &str =
    "Repeat: \u{2028}\u{2029} \"q\" \\ é 🦀\r\n\r\ndata: [DONE]\n\nevent: x\n\n: y";
