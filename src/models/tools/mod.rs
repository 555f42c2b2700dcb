//! Tools that an agent runs itself, in the loop of a model that calls them.

mod agent_tool;
mod consent;
mod runs;
mod toolset;
mod turn;

pub use agent_tool::AgentTool;
pub use toolset::Toolset;
