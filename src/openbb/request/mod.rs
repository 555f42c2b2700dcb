//! The query request, in the forms of all eras.

mod context;
mod conversation;
mod data_table;
mod documents;
mod marker;
mod message;
mod options;
mod param;
mod query;
mod skills;
mod tool;
mod tool_names;
mod widget;
mod widget_tools;
mod workspace;

pub use context::{Context, ContextEntry};
pub use data_table::{DataColumn, DataTable};
pub use documents::{ApiKeys, AttachedDocument, UploadedFile};
pub use marker::{Piece, pieces, strip_markers};
pub use message::{Message, Role};
pub use options::{OptionValue, Options};
pub use param::{DefaultValue, OptionsParam, Param};
pub use query::{Delegation, QueryRequest};
pub use skills::{SelectedSkill, SkillSummary};
pub use tool::Tool;
pub use widget::{Tier, Tiers, Widget, Widgets};
pub use workspace::{AgentInfo, DashboardInfo, DashboardTab, DashboardWidget, WorkspaceState};

pub(super) use message::string;
pub(super) use widget_tools::widget_tools;
