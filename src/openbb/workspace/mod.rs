//! The Workspace as a request describes it: its widgets, tools, agents and skills.

mod data_table;
mod param;
mod skills;
mod state;
mod tool;
mod widget;

pub use data_table::{DataColumn, DataTable};
pub use param::{DefaultValue, OptionsParam, Param};
pub use skills::{SelectedSkill, SkillSummary};
pub use state::{AgentInfo, DashboardInfo, DashboardTab, DashboardWidget, WorkspaceState};
pub use tool::Tool;
pub use widget::{Tier, Tiers, Widget, Widgets};
