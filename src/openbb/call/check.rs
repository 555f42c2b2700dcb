//! Checks of calls before they are sent.

use super::ExecuteAgentTool;
use crate::json::{Json, Kind, Wire};
use crate::openbb::function_call::{FunctionCall, Origin};
use crate::openbb::legacy::in_era;
use crate::openbb::reply::{Reply, schema_of_tool};
use crate::protocol::SendError;

/// Returns the call in the form of the request's era, after checking its arguments. Calls on which
/// the front end would fail the turn are refused.
pub(in crate::openbb) fn prepare(
    call: &FunctionCall,
    session: &Reply,
) -> Result<FunctionCall, SendError> {
    let mut call = call.clone();
    // A relayed call was checked by its sender; changing it could break its result.
    if matches!(call.origin, Origin::Received) {
        return Ok(call);
    }
    if call.function.is_empty() {
        return Err(SendError::Invalid("a call needs a function name".into()));
    }
    if call.input_arguments.kind() != Kind::Object {
        return Err(SendError::Invalid(
            "the arguments of a call must be an object".into(),
        ));
    }
    // A raw call may be newer than these rules. The two checks above hold for all functions:
    // without them the front end does not recognize the data as a call.
    if !matches!(call.origin, Origin::Raw) {
        check(&call, session)?;
    }
    if let "get_widget_data" | "get_extra_widget_data" = call.function.as_str() {
        // The front end of an era knows one form only, also for raw calls.
        if let Some(arguments) = in_era(&call.input_arguments, session.era)? {
            call.input_arguments = arguments;
        }
    }
    // The state was added by this crate, and a front end of this era would not return it.
    if matches!(call.origin, Origin::Filled) && !session.era.has_extra_state() {
        call.extra_state = None;
    }
    Ok(call)
}

fn check(call: &FunctionCall, session: &Reply) -> Result<(), SendError> {
    let count = |key: &str| {
        let list = call.input_arguments.get(key).unwrap_or_default();
        list.elements().count()
    };
    match call.function.as_str() {
        // A front end that does not know a function throws and marks the turn as failed, so what a
        // request does not announce is refused here.
        "execute_client_sql" | "prepare_client_sql_tables" if !session.has_client_sql => {
            Err(SendError::Unsupported("SQL in the browser"))
        }
        "execute_client_sql" => check_queries(&call.input_arguments),
        "prepare_client_sql_tables" if !(1..=10).contains(&count("widgets")) => {
            invalid("a call of prepare_client_sql_tables needs one to ten widgets")
        }
        "assign_tasks_to_agents" if !session.has_orchestration => {
            Err(SendError::Unsupported("tasks for other agents"))
        }
        "assign_tasks_to_agents" if count("task_requests") == 0 => {
            invalid("a call of assign_tasks_to_agents needs a task")
        }
        "execute_agent_tool" => check_tool(&call.input_arguments, session),
        "manage_navigation_bar" => check_navigation(&call.input_arguments),
        // Function names in the code of current front ends, which none of them accepts in a stream.
        "create_widget" | "update_widget" => Err(SendError::Unsupported(
            "create_widget and update_widget; the names in a stream are add_widget_to_dashboard \
             and update_widget_in_dashboard",
        )),
        _ => Ok(()),
    }
}

fn invalid(message: &str) -> Result<(), SendError> {
    Err(SendError::Invalid(message.to_owned()))
}

/// Checks `{queries: [{sql, widget_uuids, row_limit?}]}`: the browser accepts one to five queries,
/// each with at least one widget and a limit of up to 1,000 rows.
fn check_queries(arguments: &Json) -> Result<(), SendError> {
    let queries = arguments.get("queries").unwrap_or_default();
    if !(1..=5).contains(&queries.elements().count()) {
        return invalid("a call of execute_client_sql needs one to five queries");
    }
    let has_widget = |query: Json| query.get("widget_uuids")?.elements().next();
    if !queries.elements().all(|query| has_widget(query).is_some()) {
        return invalid("a query needs at least one widget");
    }
    let mut limits = queries
        .elements()
        .filter_map(|query| query.get("row_limit"));
    if limits.any(|limit| !limit.is_null() && limit.as_u64().is_none_or(|rows| rows > 1000)) {
        return invalid("the row limit of a query must be a number up to 1000");
    }
    Ok(())
}

/// Checks `{operation: create | add_tabs | remove_tabs, tabs}` or
/// `{operation: rename_tabs, rename_map}`.
fn check_navigation(arguments: &Json) -> Result<(), SendError> {
    let operation = arguments.get("operation").unwrap_or_default();
    let has = |key: &str| {
        let member = arguments.get(key).unwrap_or_default();
        member.elements().next().is_some() || member.members().next().is_some()
    };
    match operation.string().as_deref() {
        Some("rename_tabs") if !has("rename_map") => invalid("rename_tabs needs a rename_map"),
        Some("create" | "add_tabs" | "remove_tabs") if !has("tabs") => {
            invalid("this operation on the navigation bar needs tabs")
        }
        _ => Ok(()),
    }
}

/// Checks the call of an MCP tool. The name must be one that the request offers. A name without `_`
/// and an empty server id throw in the browser.
fn check_tool(arguments: &Json, session: &Reply) -> Result<(), SendError> {
    let call: ExecuteAgentTool = Wire::from_raw(arguments).unwrap_or_default();
    let Some((tool, schema)) = session.tools.get(&call.tool_name).map(|it| &**it) else {
        return Err(SendError::Unsupported(
            "a tool that the request does not offer",
        ));
    };
    if !tool.name.contains('_') {
        return invalid("a tool name must start with the name of its server and `_`");
    }
    if call.server_id.is_empty() {
        return invalid("a tool needs the id of its server");
    }
    if call.parameters.kind() != Kind::Object {
        return invalid("the arguments of a tool must be an object");
    }
    schema_of_tool(tool, schema).check_call(&tool.name, &call.parameters)
}
