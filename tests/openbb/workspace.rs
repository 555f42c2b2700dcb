//! The Workspace's reader, written after the description of its public source: the input that it
//! accepts, that it drops, and on which the turn fails.
//!
//! It is stricter than the Workspace in one respect: events that the Workspace would drop or handle
//! twice are errors, because our streams must not have them.

use std::collections::HashMap;

use serde_json::Value;

/// An error in a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    NotUtf8,
    /// Data that is not JSON. The reader parses every `data` as JSON, also `[DONE]`, and fails the
    /// turn otherwise.
    NotJson(String),
    /// A final block without a blank line, which is dropped.
    Lost(String),
    /// A block without a name, for which the reader uses that of another event, or none.
    NoName,
    /// A second call, which forks the conversation.
    SecondCall,
    /// An event after a call, which is read after the complete answer to its result.
    AfterCall(String),
    /// A comment whose first word the reader treats as a field.
    Comment(String),
    /// Data that does not match the event.
    Shape(String),
    /// A function on which the Workspace throws.
    Function(String),
    /// Two artifacts with the same name.
    Name(String),
}

/// The content of a turn as the user sees it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Turn {
    /// The text, with the markers of artifacts and citations as in later requests.
    pub(crate) text: String,
    pub(crate) steps: Vec<Value>,
    pub(crate) artifacts: Vec<Value>,
    pub(crate) citations: Vec<Value>,
    pub(crate) suggestions: Vec<String>,
    pub(crate) call: Option<Value>,
    pub(crate) unknown: Vec<String>,
}

/// Reads a whole response body.
pub(crate) fn read(body: &[u8]) -> Result<Turn, Fault> {
    let text = std::str::from_utf8(body).map_err(|_| Fault::NotUtf8)?;
    let mut turn = Turn::default();
    let mut names: HashMap<String, Value> = HashMap::new();
    let mut rest = text;
    while let Some((block, after)) = next_block(rest) {
        rest = after;
        if let Some((name, data)) = fields(block)? {
            turn.take(&name, &data, &mut names)?;
        }
    }
    if rest.is_empty() {
        Ok(turn)
    } else {
        Err(Fault::Lost(rest.to_owned()))
    }
}

/// Splits off the next block. Blocks end at the first CRLFCRLF, CRCR or LFLF.
fn next_block(text: &str) -> Option<(&str, &str)> {
    let ends = ["\r\n\r\n", "\r\r", "\n\n"];
    let found = ends
        .iter()
        .filter_map(|end| Some((text.find(end)?, end.len())));
    let (at, length) = found.min()?;
    Some((&text[..at], &text[at + length..]))
}

/// Returns the name and data of a block; `None` for a block of comments.
fn fields(block: &str) -> Result<Option<(String, Value)>, Fault> {
    let (mut name, mut data) = (None, Vec::new());
    let lines = block
        .split("\r\n")
        .flat_map(|line| line.split(['\r', '\n']));
    for line in lines {
        if let Some(comment) = line.strip_prefix(':') {
            if comment.starts_with("data:") || comment.starts_with("event:") {
                return Err(Fault::Comment(line.to_owned()));
            }
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        // The `.` of the pattern stops at the line ends of JavaScript.
        let value = value.split(['\u{2028}', '\u{2029}']).next().unwrap();
        match field {
            "event" => name = Some(value.to_owned()),
            "data" => data.push(value),
            _ => {}
        }
    }
    if data.is_empty() {
        return Ok(None);
    }
    let data = data.join("\n");
    let value = serde_json::from_str(&data).map_err(|_| Fault::NotJson(data))?;
    let name = name.filter(|name| !name.is_empty()).ok_or(Fault::NoName)?;
    Ok(Some((name, value)))
}

impl Turn {
    fn take(
        &mut self,
        name: &str,
        data: &Value,
        names: &mut HashMap<String, Value>,
    ) -> Result<(), Fault> {
        if self.call.is_some() {
            return Err(match name {
                "copilotFunctionCall" => Fault::SecondCall,
                _ => Fault::AfterCall(name.to_owned()),
            });
        }
        let shape = || Fault::Shape(format!("{name}: {data}"));
        match name {
            "copilotMessageChunk" => self.text += data["delta"].as_str().ok_or_else(shape)?,
            "copilotStatusUpdate" => {
                let typed = ["eventType", "message", "group"];
                if !typed.iter().all(|key| data[key].is_string()) {
                    return Err(shape());
                }
                for artifact in data["artifacts"].as_array().into_iter().flatten() {
                    check_artifact(artifact, names)?;
                }
                if data["hidden"] != true {
                    self.steps.push(data.clone());
                }
            }
            "copilotMessageArtifact" => {
                check_artifact(data, names)?;
                // After a table row the marker would be part of the row.
                if self.text.ends_with("| ") {
                    self.text.push('\n');
                }
                let name = data["name"].as_str().ok_or_else(shape)?;
                self.text += &format!("<|start_artifact_id|>{name}<|end_artifact_id|>");
                self.artifacts.push(data.clone());
            }
            "copilotCitationCollection" => {
                for citation in data["citations"].as_array().ok_or_else(shape)? {
                    let id = citation["id"].as_str().filter(|id| !id.is_empty());
                    let id = id.ok_or_else(shape)?;
                    if !citation["source_info"]["type"].is_string() {
                        return Err(shape());
                    }
                    self.text += &format!("<|start_citation_id|>{id}<|end_citation_id|>");
                    self.citations.push(citation.clone());
                }
            }
            "copilotPromptSuggestions" => {
                for text in data["suggestions"].as_array().ok_or_else(shape)? {
                    self.suggestions
                        .push(text.as_str().ok_or_else(shape)?.to_owned());
                }
            }
            "copilotFunctionCall" => {
                check_call(data)?;
                self.call = Some(data.clone());
            }
            name => self.unknown.push(name.to_owned()),
        }
        Ok(())
    }
}

fn check_artifact(data: &Value, names: &mut HashMap<String, Value>) -> Result<(), Fault> {
    let shape = || Fault::Shape(format!("artifact: {data}"));
    let name = data["name"]
        .as_str()
        .filter(|name| !name.is_empty())
        .ok_or_else(shape)?;
    if names
        .insert(name.to_owned(), data["uuid"].clone())
        .is_some_and(|old| old != data["uuid"])
    {
        return Err(Fault::Name(name.to_owned()));
    }
    let content = &data["content"];
    let rows = content
        .as_array()
        .is_some_and(|rows| rows.iter().all(Value::is_object));
    let params = &data["chart_params"];
    let fits = match data["type"].as_str().ok_or_else(shape)? {
        "table" => rows,
        "chart" => rows && check_params(params),
        "app" => data["app"].is_object() && data["widget_refs"].is_array(),
        "text" | "html" | "snowflake_query" | "snowflake_python" => content.is_string(),
        _ => true,
    };
    if fits { Ok(()) } else { Err(shape()) }
}

fn check_params(params: &Value) -> bool {
    match params["chartType"].as_str() {
        Some("line" | "bar" | "scatter") => {
            params["xKey"].is_string()
                && params["yKey"]
                    .as_array()
                    .is_some_and(|keys| !keys.is_empty())
        }
        Some("pie" | "donut") => {
            params["angleKey"].is_string() && params["calloutLabelKey"].is_string()
        }
        _ => false,
    }
}

/// The functions of the published source, and those since July 2026.
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

/// Checks a call. Unknown names and invalid arguments throw and mark the turn as failed.
fn check_call(data: &Value) -> Result<(), Fault> {
    let fault = || Fault::Function(data.to_string());
    let function = data["function"].as_str().ok_or_else(fault)?;
    let arguments = &data["input_arguments"];
    if !FUNCTIONS.contains(&function) || !arguments.is_object() {
        return Err(fault());
    }
    let all = |key: &str, fits: fn(&Value) -> bool| {
        let list = arguments[key].as_array();
        list.is_some_and(|list| !list.is_empty() && list.iter().all(fits))
    };
    let source = |source: &Value| {
        let uuid = &source["widget_uuid"];
        let texts = source["origin"].is_string() && source["id"].is_string();
        texts && source["input_args"].is_object() && (uuid.is_null() || uuid.is_string())
    };
    let fits = match function {
        "get_widget_data" | "get_extra_widget_data" => {
            // Front ends of 2024 accept one widget, later several.
            arguments["widget_uuid"].is_string()
                || all("widget_uuids", Value::is_string)
                || all("data_sources", source)
        }
        "add_widget_to_dashboard" => all("data_sources", source),
        "update_widget_in_dashboard" => all("data_sources", |update| {
            update["widget_uuid"].is_string() && update["input_args"].is_object()
        }),
        "execute_agent_tool" => {
            let text = |key: &str| arguments[key].as_str().unwrap_or_default().to_owned();
            !text("server_id").is_empty()
                && text("tool_name").contains('_')
                && arguments["parameters"].is_object()
        }
        "add_generative_widget" => {
            let data = &arguments["data"];
            let rows = data
                .as_array()
                .is_some_and(|rows| rows.iter().all(Value::is_object));
            match arguments["widget_type"].as_str() {
                Some("note" | "html") => data.is_string(),
                Some("table") => rows,
                Some("chart") => rows && check_params(&arguments["chart_params"]),
                _ => false,
            }
        }
        "manage_navigation_bar" => match arguments["operation"].as_str() {
            Some("create" | "add_tabs" | "remove_tabs") => {
                all("tabs", |tab| tab["name"].is_string())
            }
            Some("rename_tabs") => arguments["rename_map"].is_object(),
            _ => false,
        },
        "get_skill_content" => arguments["slug"].is_string(),
        "get_params_options" => all("param_options_queries", |query| query["param"].is_string()),
        "assign_tasks_to_agents" => all("task_requests", |task| {
            task["assigned_agent_id"].is_string() && task["description"].is_string()
        }),
        "execute_client_sql" => all("queries", |query| query["sql"].is_string()),
        "prepare_client_sql_tables" => all("widgets", Value::is_object),
        _ => true,
    };
    if fits { Ok(()) } else { Err(fault()) }
}
