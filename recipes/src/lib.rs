//! Agents and servers of copilot-wire to copy: each module is a recipe, whose dependencies the manifest lists.

pub mod models;
pub mod observe;
pub mod stacks;
