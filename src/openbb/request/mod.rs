//! The query request, in the forms of all eras.

/// Implements `Wire` for an enum of two forms: an array, and any other value.
macro_rules! two_forms {
    ($name:ident: $array:ident, $other:ident($type:ty)) => {
        impl $crate::json::Wire for $name {
            fn read_from(
                reader: &mut $crate::json::Reader<'_>,
            ) -> Result<Option<Self>, $crate::json::JsonError> {
                if reader.is($crate::json::Kind::Array) {
                    return Ok($crate::json::List::read_from(reader)?.map(Self::$array));
                }
                Ok(<$type>::read_from(reader)?.map(Self::$other))
            }

            fn write_to(&self, to: $crate::json::ValueWriter<'_>) {
                match self {
                    Self::$array(list) => list.write_to(to),
                    Self::$other(other) => other.write_to(to),
                }
            }
        }
    };
}

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

pub use context::{AttachedContext, ContextEntry};
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
