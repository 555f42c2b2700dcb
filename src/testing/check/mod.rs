//! Judges an agent endpoint, written in any language, by what the strictest known reader of its
//! protocol accepts.
//!
//! [`check`] plays the front end: it sends recorded requests of every era, bad ones, signed and
//! forged ones, leaves half-way, and looks at every byte of what comes back. Each thing that it
//! looks at is a [`Rule`] with a name, the reader that breaks, and what to do about it.
//!
//! An [`Endpoint`] is a [`Router`](crate::Router) in process, or whatever an HTTP client reaches:
//!
#![cfg_attr(feature = "openai", doc = "```")]
#![cfg_attr(not(feature = "openai"), doc = "```ignore")]
//! # use copilot_wire::protocol::{AgentError, Conversation, Protocol};
//! # use copilot_wire::{Agent, Reply, Request, Router, async_trait};
//! # struct Parrot;
//! # #[async_trait]
//! # impl<P: Protocol> Agent<P> for Parrot {
//! #     async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
//! #         Ok(reply.text(&request.prompt().unwrap_or_default()).await?)
//! #     }
//! # }
//! use copilot_wire::testing::check::{Front, Target, check};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let router = Router::new().mount("parrot", Parrot)?;
//! # futures::executor::block_on(async {
//! let report = check(&router, Target::new(Front::OpenAi)).await;
//! assert!(report.is_clean(), "{report}");
//! # });
//! # Ok(()) }
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
mod calls;
mod chunk;
mod complete;
mod cors;
mod descriptor;
mod endpoint;
mod exchange;
mod github;
mod http;
mod judge;
mod lines;
mod meilisearch;
mod openai;
mod openbb;
mod pace;
mod progress;
mod recorded;
mod report;
mod requests;
mod rule;
mod signature;
mod sse;
mod target;

pub use endpoint::{Endpoint, EndpointBody, EndpointError};
pub use progress::{Check, Progress};
pub use recorded::recorded;
pub use report::{Finding, Report};
pub use rule::{Level, Rule, rules_of};
pub use target::{Front, Target};

/// Judges an endpoint by the rules of one front end.
///
/// It never fails: an endpoint that is not there is a finding.
///
/// # Cancel safety
///
/// Dropping the future closes the stream that is being read. Nothing is left behind.
pub async fn check<E: Endpoint + ?Sized>(endpoint: &E, target: Target) -> Report {
    let mut check = Check::new(endpoint, target);
    check.run(|_| {}).await;
    check.report()
}
