//! Rules for the calls of an agent.

use serde_json::Value;

use crate::check::members::{all_say, elements, holds, offers, text};
use crate::check::{Judge, Lines, rules};

rules! {
    AFTER_CALL = Error "openbb/after-function-call",
        "nothing follows a function call",
        "the Workspace runs the call, reads the whole next answer, and only then continues with this one: a second call forks the conversation",
        "end the body with the call; put several widgets into one call";
    NAME = Error "openbb/function-name",
        "the function is one of the Workspace's",
        "the Workspace throws, and the turn fails",
        "send newer functions only if the request shows that the front end has them";
    ARGUMENTS = Error "openbb/function-arguments",
        "a call has the arguments that the Workspace requires",
        "the Workspace throws, and the turn fails",
        "`get_widget_data` has `data_sources`, each with `origin`, `id` and `input_args`; for other functions see the documentation of openbb-ai";
    EXTRA_STATE = Error "openbb/extra-state",
        "`get_widget_data` is sent with an `extra_state` that is not empty",
        "the Workspace drops the call and its result from the next request if it is missing: the agent repeats the call forever; the helper of openbb-ai sends none",
        "send `\"extra_state\":{\"copilot_function_call_arguments\":{}}` with the arguments";
    TOOL = Error "openbb/tool-name",
        "`execute_agent_tool` repeats the server id and the full name of a tool that the request offers",
        "the Workspace throws if the id is empty, or the name has no `_`",
        "copy both from the request's `tools`";
}

pub(super) const EVENT: &str = "copilotFunctionCall";

/// The functions of the Workspace; the last two only for requests with the option `client-sql`.
const FUNCTIONS: [&str; 13] = [
    "get_widget_data",
    "get_extra_widget_data",
    "get_params_options",
    "add_widget_to_dashboard",
    "add_generative_widget",
    "update_widget_in_dashboard",
    "assign_tasks_to_agents",
    "execute_agent_tool",
    "manage_navigation_bar",
    "get_skill_content",
    "save_skill",
    "execute_client_sql",
    "prepare_client_sql_tables",
];

pub(super) fn is_call(block: &Lines<'_>) -> bool {
    let event = block.event.as_ref();
    event.is_some_and(|event| event.name() == EVENT)
}

/// Checks the calls of a stream. `request` is `None` if it is unknown.
pub(super) fn judge(judge: &mut Judge, at: &str, blocks: &[Lines<'_>], request: Option<&Value>) {
    let mut events = blocks.iter().filter(|block| block.event.is_some());
    let Some(block) = events.find(|block| is_call(block)) else {
        return;
    };
    // Comments after the call are fine; the iterator has events only.
    let after = events.next();
    let raw = after.map_or(&b""[..], |block| block.raw);
    judge.expect(&AFTER_CALL, after.is_none(), at, raw);
    let call = block.json();
    // The rule for JSON has already reported this.
    if call.is_null() {
        return;
    }
    let name = text(&call, "/function");
    judge.expect(&NAME, FUNCTIONS.contains(&name), at, block.raw);
    let arguments = call.get("input_arguments").unwrap_or(&Value::Null);
    let right = arguments.is_object() && fit(name, arguments, request);
    judge.expect(&ARGUMENTS, right, at, block.raw);
    // Without the request, the version of the front end is unknown, and older ones need no state.
    if name == "get_widget_data" && request.is_some_and(has_tiers) {
        let state = call.get("extra_state").and_then(Value::as_object);
        let full = state.is_some_and(|state| !state.is_empty());
        judge.expect(&EXTRA_STATE, full, at, block.raw);
    }
    if name == "execute_agent_tool" {
        let (server, tool) = (text(arguments, "/server_id"), text(arguments, "/tool_name"));
        let known = !server.is_empty()
            && tool.contains('_')
            && request.is_none_or(|request| offers(request, "/name", tool));
        judge.expect(&TOOL, known, at, block.raw);
    }
}

/// Returns `true` if the request is from 2025 or later. Earlier requests had calls of another form and no state.
fn has_tiers(request: &Value) -> bool {
    !holds(request, "/widgets", Value::is_array)
}

/// Returns `true` if `arguments` are valid for the function `name`.
fn fit(name: &str, arguments: &Value, request: Option<&Value>) -> bool {
    let list = |path: &str| elements(arguments, path).len() > 0;
    let is_source = |source: &Value| {
        all_say(source, &["/origin", "/id"]) && holds(source, "/input_args", Value::is_object)
    };
    let sources = || list("/data_sources") && elements(arguments, "/data_sources").all(is_source);
    match name {
        "get_widget_data" | "get_extra_widget_data" if !request.is_some_and(has_tiers) => {
            all_say(arguments, &["/widget_uuid"]) || list("/widget_uuids") || sources()
        }
        "get_widget_data" | "get_extra_widget_data" | "add_widget_to_dashboard" => sources(),
        "update_widget_in_dashboard" => list("/data_sources"),
        "get_params_options" => list("/param_options_queries"),
        "execute_agent_tool" => holds(arguments, "/parameters", Value::is_object),
        "assign_tasks_to_agents" => list("/task_requests"),
        "get_skill_content" => all_say(arguments, &["/slug"]),
        "execute_client_sql" => list("/queries"),
        "prepare_client_sql_tables" => list("/widgets"),
        _ => true,
    }
}
