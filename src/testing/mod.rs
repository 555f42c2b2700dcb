//! For the tests of agents: front ends that are played, virtual time, scripted models, and a kit
//! that judges whole endpoints.
//!
//! [`Stage`] puts an agent and a [`FrontEnd`] together in process. The front end writes its requests
//! as the real one does and reads the answer as the real one does; each turn comes back as a
//! [`Transcript`].
//!
//! Each protocol's front end lies in the protocol's own module `testing`. [`Toolkit`] is what a
//! protocol brings to this module and to the tools built on it; [`kit`] makes a value of it.
//!
//! [`check`] judges an endpoint of any language over HTTP, or a router in process.

pub mod check;
mod clock;
mod frames;
mod front_end;
mod heard;
mod kit;
mod node;
mod reader;
mod script;
mod setup;
mod signer;
mod stage;
mod transcript;

pub use clock::Clock;
pub use front_end::{Answer, AnyFrontEnd, CONVERSATION, EventOf, FrontEnd, Next, post, question};
pub use heard::Heard;
pub use kit::{BoxError, Kit, Sample, Toolkit, kit};
pub use node::Node;
pub use reader::{EventReader, MissingEnd, Summary};
pub use script::{Asked, Script, Step};
pub use setup::{Find, Setup};
pub use signer::{Keys, Signer};
pub use stage::{Stage, StageError};
pub use transcript::Transcript;
