//! The answers of the emulated Workspace to calls.

use super::front_end::plain;
use crate::ToolOutcome;
use copilot_wire::json::{Json, Kind, Members, Wire};
use copilot_wire::openbb::{
    ExecuteAgentTool, GetParamsOptions, ParamOptionsQuery, QueryRequest, Tool, Widget,
};
use copilot_wire::protocol::ToolCall;

/// The function that the Workspace answers from its widgets.
pub(super) const WIDGET_DATA: &str = "get_widget_data";

/// The answers of widgets and tools.
#[derive(Debug, Default)]
pub(super) struct Dashboard {
    /// The ids of widgets, each with the data.
    data: Vec<(String, ToolOutcome)>,
    /// The ids of servers and names of tools, each with the answer.
    tools: Vec<(String, String, ToolOutcome)>,
}

impl Dashboard {
    /// Adds the data of a widget.
    pub(super) fn add_data(&mut self, widget: &Widget, data: ToolOutcome) {
        if let Some(id) = widget.id() {
            self.data.push((id.into_owned(), data));
        }
    }

    /// Adds the answer of a tool.
    pub(super) fn add_tool(&mut self, tool: &Tool, answer: ToolOutcome) {
        let (server, name) = (tool.server_id.clone(), tool.name.clone());
        self.tools.push((server, name, answer));
    }

    /// Returns the answer to a call. `None` if a widget, tool or parameter of the call has no answer.
    pub(super) fn answer(&self, request: &QueryRequest, call: &ToolCall) -> Option<ToolOutcome> {
        let entries = match call.name.as_str() {
            WIDGET_DATA => {
                let sources = call.arguments.get("data_sources")?;
                let mut sources = sources.elements();
                let entry = |source| Some(entry(WIDGET_DATA, self.data_of(request, &source)?));
                sources.by_ref().map(entry).collect::<Option<Vec<_>>>()?
            }
            function @ "execute_agent_tool" => {
                let asked = ExecuteAgentTool::from_raw(&call.arguments)?;
                let is_asked = |(server, name, _): &&(String, String, ToolOutcome)| {
                    *server == asked.server_id && *name == asked.tool_name
                };
                let (.., answer) = self.tools.iter().find(is_asked)?;
                vec![entry(function, answer)]
            }
            function @ "get_params_options" => {
                let asked = GetParamsOptions::from_raw(&call.arguments)?;
                let queries = asked.param_options_queries.iter();
                let choices = queries.map(|query| choices(request, query));
                let choices = choices.collect::<Option<Vec<_>>>()?;
                let found = serde_json::json!({ "param_options": choices });
                vec![entry(function, &ToolOutcome::data(&found).ok()?)]
            }
            _ => return None,
        };
        Json::encode(&entries).ok().map(ToolOutcome::Raw)
    }

    /// Returns the data of the widget that a source of a call names.
    fn data_of(&self, request: &QueryRequest, source: &Json) -> Option<&ToolOutcome> {
        let text = |key: &str| Some(source.get(key)?.string()?.into_owned());
        let id = text("widget_uuid").or_else(|| {
            let widget = named(request, &text("origin")?, &text("id")?)?;
            widget.id().map(Into::into)
        })?;
        let mut data = self.data.iter();
        data.find(|(own, _)| *own == id).map(|(_, data)| data)
    }
}

/// Returns the widget of a backend with this id.
fn named<'a>(request: &'a QueryRequest, origin: &str, id: &str) -> Option<&'a Widget> {
    let mut widgets = request.widgets().map(|(_, widget)| widget);
    widgets.find(|widget| widget.origin == origin && widget.widget_id == id)
}

/// Returns the choices for a parameter. `None` if there are no choices.
fn choices(request: &QueryRequest, query: &ParamOptionsQuery) -> Option<serde_json::Value> {
    let param = named(request, &query.origin, &query.id)?.param(&query.param)?;
    let choices = param.options.iter().map(|choice| match choice.kind() {
        Kind::Object => serde_json::json!(choice),
        _ => serde_json::json!({ "label": plain(choice), "value": choice }),
    });
    let choices: Vec<_> = choices.collect();
    (!choices.is_empty()).then(|| serde_json::json!({ "param": param.name, "options": choices }))
}

/// Returns one entry of a result, in the form of the function.
pub(super) fn entry(function: &str, answer: &ToolOutcome) -> Json {
    let reads = [
        WIDGET_DATA,
        "get_extra_widget_data",
        "get_params_options",
        "execute_agent_tool",
    ];
    let entry = match answer {
        ToolOutcome::Raw(json) => return json.clone(),
        ToolOutcome::Failed(why) if reads.contains(&function) => {
            serde_json::json!({ "error_type": "unexpected_error", "content": why })
        }
        ToolOutcome::Failed(why) => serde_json::json!({ "status": "error", "message": why }),
        // The Workspace sends tables as JSON in a string, without a format.
        ToolOutcome::Data(data) if reads.contains(&function) => {
            serde_json::json!({ "items": [{ "content": data.text() }] })
        }
        ToolOutcome::Text(text) if reads.contains(&function) => serde_json::json!({
            "items": [{
                "content": text,
                "data_format": { "data_type": "object", "parse_as": "text" },
            }],
        }),
        ToolOutcome::Data(data) => return done(data),
        ToolOutcome::Text(text) => serde_json::json!({ "status": "success", "message": text }),
    };
    Json::encode(&entry).unwrap_or_default()
}

/// Returns the entry of a successful command, with its data.
fn done(data: &Json) -> Json {
    let mut entry = Members::new();
    entry.push("status", Json::parse("\"success\"").unwrap_or_default());
    entry.push("data", data.clone());
    Json::encode(&entry).unwrap_or_default()
}
