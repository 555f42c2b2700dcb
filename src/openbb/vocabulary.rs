//! The events for the parts that all protocols share.

use std::collections::HashMap;

use super::call::{CallQueue, DataSource, ExecuteAgentTool, GetWidgetData};
use super::event::{
    Artifact, CHUNK, Citation, Output, PromptSuggestions, SourceInfo, StatusUpdate,
};
use super::request::Widget;
use super::{FunctionCall, Session};
use crate::json::{Json, Kind, Members};
use crate::protocol::schema::Schema;
use crate::protocol::{
    self, Confirmation, Level, Notice, Part, SendError, Session as _, Status, ToolCall, markdown,
};

/// Writes a part of a reply. Front ends from before November 2024 know only text and calls.
pub(super) fn write(
    session: &mut Session,
    part: Part<'_>,
    out: &mut Vec<u8>,
) -> Result<(), SendError> {
    let notice;
    let part = match part {
        Part::Cut(cut) => {
            notice = cut.to_notice();
            Part::Error(&notice)
        }
        part => part,
    };
    let modern = session.era.has_artifacts();
    let output = match part {
        Part::Status(status) if modern => step(status)?,
        Part::ToolRun(run) if modern => step(&run.to_status())?,
        Part::Cite(citation) if modern => cite(citation, session)?,
        Part::Table(table) if modern => {
            let artifact = Artifact::table(&table.rows)?;
            named(artifact, &table.name, table.description.as_deref(), session)
        }
        Part::Chart(chart) if modern => {
            let artifact = Artifact::chart(&chart.kind, &chart.rows)?;
            named(artifact, &chart.name, chart.description.as_deref(), session)
        }
        Part::Error(notice) if modern => failure(notice)?,
        Part::Table(table) => table.to_markdown().into(),
        Part::Chart(chart) => chart.to_markdown().into(),
        Part::Error(notice) => notice.to_markdown().into(),
        // Sources are written at the end: a list of sources here could interrupt a sentence.
        Part::Cite(citation) => {
            session.sources.push(citation.clone());
            return Ok(());
        }
        // Front ends of this era have no steps, and a step is not part of the answer. The protocol has no
        // event for reasoning and tokens.
        Part::Status(_) | Part::ToolRun(_) | Part::Reasoning(_) | Part::Usage(_) | Part::Cut(_) => {
            return Ok(());
        }
        Part::Confirm(confirmation) => {
            let text = confirmation.to_text()?;
            // The sources come before the question, which must be the end of the text.
            sources(session, out);
            return confirm(confirmation, &text, session, out);
        }
        Part::Calls(calls) => {
            // A reply has at most one call; the others are sent back and forth in its state.
            let mut queue = CallQueue::new();
            let widgets = session
                .widgets
                .iter()
                .map(|(tool, widget)| (&**tool, widget));
            let widgets = widgets.collect();
            for call in calls {
                queue.push(self::call(call, session, &widgets)?);
            }
            return match queue.next() {
                Some(call) => session.ending(&call, out),
                None => Ok(()),
            };
        }
    };
    output.write(session, out)
}

/// Writes the sources that a front end without citations reads as text, once.
pub(super) fn sources(session: &mut Session, out: &mut Vec<u8>) {
    // The list is emptied, so that the end of the turn does not repeat sources that were written before a question or a
    // call.
    let sources = std::mem::take(&mut session.sources);
    if !sources.is_empty() {
        CHUNK.write(&markdown::sources(&sources), out);
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
    let details = details.map(|(name, value)| (name.clone(), super::request::string(value)));
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
fn cite(citation: &protocol::Citation, session: &mut Session) -> Result<Output, SendError> {
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
        details.push("Name", super::request::string(&citation.title));
    }
    if let Some(excerpt) = &citation.excerpt {
        details.push("Excerpt", super::request::string(excerpt));
    }
    if !details.is_empty() {
        cited = cited.detail(&details)?;
    }
    Ok(cited.into())
}

fn named(artifact: Artifact, name: &str, about: Option<&str>, session: &Session) -> Output {
    let artifact = artifact
        .uuid(session.env.uuid())
        .name(name)
        .description(about.unwrap_or_default());
    artifact.into()
}

/// Writes the question as text, and its answers as suggestions. The user's answer is the next message. A yes is never
/// suggested, because the user must read the question to find its code.
fn confirm(
    confirmation: &Confirmation,
    text: &str,
    session: &mut Session,
    out: &mut Vec<u8>,
) -> Result<(), SendError> {
    CHUNK.write(text, out);
    if session.era.has_artifacts() {
        let answers = match confirmation.answers.as_slice() {
            [] => PromptSuggestions::new(["No"]),
            answers => PromptSuggestions::new(answers),
        };
        Output::from(answers).write(session, out)?;
    }
    Ok(())
}

/// Creates a call: of an MCP tool, which the browser runs, or for the data of a widget that is
/// offered as a tool.
fn call(
    call: &ToolCall,
    session: &Session,
    widgets: &HashMap<&str, &Widget>,
) -> Result<FunctionCall, SendError> {
    if call.arguments.kind() != Kind::Object {
        return Err(SendError::Invalid(
            "the arguments of a call must be an object".into(),
        ));
    }
    if let Some(tool) = session.tools.get(&call.name) {
        let arguments = match &tool.input_schema {
            Some(schema) => Schema::new(schema).coerce(&call.arguments),
            None => call.arguments.clone(),
        };
        return Ok(ExecuteAgentTool::new(tool, &arguments)?.into());
    }
    let Some(widget) = widgets.get(&*call.name) else {
        return Err(SendError::Unsupported(
            "a tool that the request does not offer",
        ));
    };
    // The front end would run the call as it is; here the agent learns of a wrong argument.
    let schema = Schema::new(&widget.schema());
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
