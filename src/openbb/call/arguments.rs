//! Typed arguments of calls.

use super::{
    AddGenerativeWidget, AddWidgetToDashboard, AssignTasksToAgents, ExecuteAgentTool,
    ExecuteClientSql, GetSkillContent, ManageNavigationBar, PrepareClientSqlTables, SaveSkill,
    UpdateWidgetInDashboard,
};
use crate::json::{Json, Wire};
use crate::openbb::data_source::{DataSource, GetParamsOptions, GetWidgetData, data_sources};
use crate::openbb::function_call::FunctionCall;

/// Declares the calls whose arguments are a type, each with its function.
macro_rules! calls {
    ($($call:ident: $function:literal,)*) => {
        /// The arguments of a call, typed for the functions that this crate knows. For clients, and for
        /// agents that read their own calls.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Arguments {
            /// `get_widget_data` and `get_extra_widget_data`, in the form of any era.
            GetWidgetData(GetWidgetData),
            /// `get_direct_retrieval_data` (September 2024, soon withdrawn).
            GetDirectRetrievalData(DataSource),
            $(
                #[doc = concat!("`", $function, "`.")]
                $call($call),
            )*
            /// The arguments of a function that this crate does not know.
            Raw(Json),
        }

        $(
            impl From<$call> for FunctionCall {
                fn from(call: $call) -> Self {
                    Self::made($function, call.to_raw())
                }
            }
        )*

        impl FunctionCall {
            /// Returns the arguments, typed for the functions that this crate knows.
            pub fn arguments(&self) -> Arguments {
                let json = &self.input_arguments;
                let typed = match self.function.as_str() {
                    "get_widget_data" | "get_extra_widget_data" => {
                        Some(Arguments::GetWidgetData(GetWidgetData {
                            // Not by its model: calls of 2024 name widgets in `widget_uuid` or
                            // `widget_uuids`.
                            data_sources: data_sources(json).into(),
                            extra: self.function == "get_extra_widget_data",
                            ..GetWidgetData::default()
                        }))
                    }
                    "get_direct_retrieval_data" => {
                        Wire::from_raw(json).map(Arguments::GetDirectRetrievalData)
                    }
                    $($function => Wire::from_raw(json).map(Arguments::$call),)*
                    _ => None,
                };
                // A known function with arguments that are not an object is returned raw too.
                typed.unwrap_or_else(|| Arguments::Raw(json.clone()))
            }
        }
    };
}

calls! {
    GetParamsOptions: "get_params_options",
    AddWidgetToDashboard: "add_widget_to_dashboard",
    UpdateWidgetInDashboard: "update_widget_in_dashboard",
    ExecuteAgentTool: "execute_agent_tool",
    AssignTasksToAgents: "assign_tasks_to_agents",
    AddGenerativeWidget: "add_generative_widget",
    ManageNavigationBar: "manage_navigation_bar",
    GetSkillContent: "get_skill_content",
    SaveSkill: "save_skill",
    ExecuteClientSql: "execute_client_sql",
    PrepareClientSqlTables: "prepare_client_sql_tables",
}
