//! Typed arguments of calls.

use super::{
    AddGenerativeWidget, AddWidgetToDashboard, AssignTasksToAgents, DataSource, ExecuteAgentTool,
    ExecuteClientSql, FunctionCall, GetParamsOptions, GetSkillContent, GetWidgetData,
    ManageNavigationBar, PrepareClientSqlTables, SaveSkill, UpdateWidgetInDashboard,
};
use crate::json::{Json, Wire};
use crate::openbb::legacy::data_sources;

/// The arguments of a call, typed for the functions that this crate knows. For clients, and for
/// agents that read their own calls.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(
    clippy::large_enum_variant,
    reason = "one at a time, for a moment: a box would only be in the way"
)]
pub enum Arguments {
    /// `get_widget_data` and `get_extra_widget_data`, in the form of any era.
    GetWidgetData(GetWidgetData),
    /// `get_direct_retrieval_data`.
    GetDirectRetrievalData(DataSource),
    /// `get_params_options`.
    GetParamsOptions(GetParamsOptions),
    /// `add_widget_to_dashboard`.
    AddWidgetToDashboard(AddWidgetToDashboard),
    /// `update_widget_in_dashboard`.
    UpdateWidgetInDashboard(UpdateWidgetInDashboard),
    /// `execute_agent_tool`.
    ExecuteAgentTool(ExecuteAgentTool),
    /// `assign_tasks_to_agents`.
    AssignTasksToAgents(AssignTasksToAgents),
    /// `add_generative_widget`.
    AddGenerativeWidget(AddGenerativeWidget),
    /// `manage_navigation_bar`.
    ManageNavigationBar(ManageNavigationBar),
    /// `get_skill_content`.
    GetSkillContent(GetSkillContent),
    /// `save_skill`.
    SaveSkill(SaveSkill),
    /// `execute_client_sql`.
    ExecuteClientSql(ExecuteClientSql),
    /// `prepare_client_sql_tables`.
    PrepareClientSqlTables(PrepareClientSqlTables),
    /// The arguments of a function that this crate does not know.
    Raw(Json),
}

impl FunctionCall {
    /// Returns the arguments, typed for the functions that this crate knows.
    #[must_use]
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
            "get_params_options" => Wire::from_raw(json).map(Arguments::GetParamsOptions),
            "add_widget_to_dashboard" => Wire::from_raw(json).map(Arguments::AddWidgetToDashboard),
            "update_widget_in_dashboard" => {
                Wire::from_raw(json).map(Arguments::UpdateWidgetInDashboard)
            }
            "execute_agent_tool" => Wire::from_raw(json).map(Arguments::ExecuteAgentTool),
            "assign_tasks_to_agents" => Wire::from_raw(json).map(Arguments::AssignTasksToAgents),
            "add_generative_widget" => Wire::from_raw(json).map(Arguments::AddGenerativeWidget),
            "manage_navigation_bar" => Wire::from_raw(json).map(Arguments::ManageNavigationBar),
            "get_skill_content" => Wire::from_raw(json).map(Arguments::GetSkillContent),
            "save_skill" => Wire::from_raw(json).map(Arguments::SaveSkill),
            "execute_client_sql" => Wire::from_raw(json).map(Arguments::ExecuteClientSql),
            "prepare_client_sql_tables" => {
                Wire::from_raw(json).map(Arguments::PrepareClientSqlTables)
            }
            _ => None,
        };
        // A known function with arguments that are not an object is returned raw too.
        typed.unwrap_or_else(|| Arguments::Raw(json.clone()))
    }
}
