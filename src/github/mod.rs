//! GitHub Copilot Extensions: the agent protocol.

mod verified;
#[cfg(feature = "verify")]
pub mod verify;

pub use verified::Verified;
