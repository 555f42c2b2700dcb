//! GitHub Copilot Extensions: the agent protocol.

mod verified;

pub use verified::Verified;
