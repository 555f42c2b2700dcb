//! The events for the parts that all protocols share.

use std::collections::HashMap;

use super::call::{CallQueue, ExecuteAgentTool};
use super::data_source::{DataSource, GetWidgetData};
use super::event::{Artifact, Citation, Output, PromptSuggestions, SourceInfo, StatusUpdate};
use super::function_call::FunctionCall;
use super::reply::{Parsed, Reply, To, schema_of_tool};
use super::workspace::Widget;
use crate::json::{Json, Kind, Members};
use crate::protocol::{
    self, Blocks as _, Level, Notice, Part, Question, SendError, Status, ToolCall,
};
use crate::vocabulary::schema::Schema;

impl Reply {
    /// Writes a part of a reply. Front ends from before November 2024 know only text and calls; their sources are
    /// written at the end, because a list of sources could interrupt a sentence.
    pub(super) fn write_part(&mut self, part: Part<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        let modern = self.era.has_artifacts();
        let output = match part {
            Part::Confirm(question) => return confirm(question, self, to),
            Part::Calls(calls) => {
                // A reply has at most one call; the others are sent back and forth in its state.
                let mut queue = CallQueue::new();
                let widgets = self.widgets.iter();
                let widgets = widgets.map(|(tool, widget, schema)| (&**tool, (widget, schema)));
                let widgets = widgets.collect();
                for call in calls {
                    queue.push(self::call(call, self, &widgets)?);
                }
                return match queue.next() {
                    Some(call) => self.ending(&call, to),
                    None => Ok(()),
                };
            }
            // The protocol has no event for reasoning.
            Part::Reasoning(_) => return Ok(()),
            Part::Status(status) if modern => step(status)?,
            Part::Cite(citation) if modern => cite(citation, self)?,
            Part::Table(table) if modern => {
                let artifact = Artifact::table(&table.rows)?;
                named(artifact, &table.name, table.description.as_deref(), self)
            }
            Part::Chart(chart) if modern => {
                let artifact = Artifact::chart(&chart.kind, &chart.rows)?;
                named(artifact, &chart.name, chart.description.as_deref(), self)
            }
            Part::Error(notice) if modern => failure(notice)?,
            part => return to.part(self, part),
        };
        output.write(&mut self.names, to.stream())
    }
}

/// Creates a step with all details in one object. It never has the type `ERROR`, on which the
/// Workspace deletes the latest call and its result from the chat.
fn step(status: &Status) -> Result<Output, SendError> {
    let step = match status.level {
        Level::Info => StatusUpdate::info(&status.message),
        Level::Warning | Level::Error => StatusUpdate::warning(&status.message),
    };
    let step = with_details(step, &status.details)?;
    Ok(step.into())
}

fn with_details(
    step: StatusUpdate,
    details: &[(String, String)],
) -> Result<StatusUpdate, SendError> {
    if details.is_empty() {
        return Ok(step);
    }
    let details = details.iter();
    let details = details.map(|(name, value)| (name.clone(), super::text::string(value)));
    Ok(step.detail(&details.collect::<Members>())?)
}

fn failure(notice: &Notice) -> Result<Output, SendError> {
    let mut details = vec![("Code".to_owned(), notice.code.clone().into_owned())];
    if let Some(identifier) = &notice.identifier {
        details.push(("Concerns".to_owned(), identifier.clone()));
    }
    let step = with_details(StatusUpdate::warning(&notice.message), &details)?;
    Ok(step.into())
}

/// Creates a citation: of a widget if the document is one, by its id or the name of its tool; of an
/// artifact if the document is one in context; of a web page if there is a link.
fn cite(citation: &protocol::Citation, session: &mut Reply) -> Result<Output, SendError> {
    let document = citation.document.as_deref();
    let known = document.and_then(|id| session.find_source(id));
    let mut source = match (known, &citation.url) {
        (Some(source), _) => source,
        (None, Some(url)) => SourceInfo::web(url),
        (None, None) => SourceInfo::new("direct retrieval"),
    };
    if source.name.is_empty() {
        source.name.clone_from(&citation.title);
    }
    let mut cited = Citation::with_source(session.env.uuid(), source);
    let mut details = Members::new();
    if cited.source_info.name != citation.title {
        details.push("Name", super::text::string(&citation.title));
    }
    if let Some(excerpt) = &citation.excerpt {
        details.push("Excerpt", super::text::string(excerpt));
    }
    if !details.is_empty() {
        cited = cited.detail(&details)?;
    }
    Ok(cited.into())
}

fn named(artifact: Artifact, name: &str, about: Option<&str>, session: &Reply) -> Output {
    let artifact = artifact
        .uuid(session.env.uuid())
        .name(name)
        .description(about.unwrap_or_default());
    artifact.into()
}

/// Writes the question as text, and its answers as suggestions. The user's answer is the next message. A yes is never
/// suggested, because the user must read the question to find its code.
fn confirm(question: &Question<'_>, session: &mut Reply, to: &mut To<'_>) -> Result<(), SendError> {
    to.part(session, Part::Confirm(question))?;
    if session.era.has_artifacts() {
        let answers = match question.answers.as_slice() {
            [] => PromptSuggestions::new(["No"]),
            answers => PromptSuggestions::new(answers),
        };
        Output::from(answers).write(&mut session.names, to.stream())?;
    }
    Ok(())
}

/// Creates a call: of an MCP tool, which the browser runs, or for the data of a widget that is
/// offered as a tool.
fn call(
    call: &ToolCall,
    session: &Reply,
    widgets: &HashMap<&str, (&Widget, &Parsed)>,
) -> Result<FunctionCall, SendError> {
    if call.arguments.kind() != Kind::Object {
        return Err(SendError::Invalid(
            "the arguments of a call must be an object".into(),
        ));
    }
    if let Some((tool, schema)) = session.tools.get(&call.name).map(|it| &**it) {
        let arguments = schema_of_tool(tool, schema).coerce(&call.arguments);
        return Ok(ExecuteAgentTool::new(tool, &arguments)?.into());
    }
    let Some((widget, schema)) = widgets.get(&*call.name) else {
        return Err(SendError::Unsupported(
            "a tool that the request does not offer",
        ));
    };
    // The front end would run the call as it is; here the agent learns of a wrong argument.
    let schema = schema.get_or_init(|| Box::new(Schema::new(&widget.schema())));
    let arguments = schema.coerce(&call.arguments);
    schema.check_call(&call.name, &arguments)?;
    Ok(GetWidgetData::new([with_arguments(widget, &arguments)]).into())
}

/// Creates a data source of a widget with its current arguments, which `arguments` override.
fn with_arguments(widget: &Widget, arguments: &Json) -> DataSource {
    let given = arguments.members();
    let given = given.map(|(name, value)| (name.into_owned(), value));
    DataSource::from(widget).with_each(given.collect())
}
