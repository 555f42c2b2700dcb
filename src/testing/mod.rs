//! Tools for the tests of agents: emulated front ends, virtual time, scripted models, and a
//! conformance kit for endpoints.
//!
//! [`Harness`] runs an agent and a [`FrontEnd`] in process. The front end writes its requests
//! and reads the answers as the real one does; each turn returns a
//! [`Transcript`].
//!
//! Each protocol's front end is in the protocol's own module `testing`. [`Toolkit`] is the trait that a
//! protocol implements for this module and the tools built on it; [`kit`] turns it into a value.
//!
//! [`check`] checks an endpoint in any language over HTTP, or a router in process.

pub mod check;
mod clock;
mod effect;
mod frames;
mod front_end;
mod harness;
mod kit;
mod node;
mod reader;
#[cfg(feature = "resumable")]
mod reply_store;
mod script;
mod setup;
mod signer;
mod transcript;

pub use clock::Clock;
pub use effect::Effect;
pub use front_end::{Answer, AnyFrontEnd, CONVERSATION, EventOf, FrontEnd, Next, post, question};
pub use harness::{Harness, HarnessError};
pub use kit::{BoxError, Kit, Sample, Toolkit, kit};
pub use node::Node;
pub use reader::{EventReader, MissingEnd, Summary};
#[cfg(feature = "resumable")]
pub use reply_store::check_reply_store;
pub use script::{RecordedRequest, Script, Step};
pub use setup::{Find, Setup};
pub use signer::{Keys, Signer};
pub use transcript::Transcript;
