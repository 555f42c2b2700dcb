//! The state of one reply.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::OnceLock;

use super::event::{CALL, CHUNK, Names, write_event};
use super::legacy::Era;
use super::request::{Piece, Role, Tool, pieces, widget_tools};
use super::{FunctionCall, Output, QueryRequest, SourceInfo, Widget, call};
use crate::protocol::{Blocks, End, Env, Part, SendError, Session, Writer};
use crate::vocabulary::schema::Schema;

/// A schema that is parsed when the first call needs it.
pub(super) type Parsed = OnceLock<Box<Schema>>;

/// Returns the schema of a tool, which accepts everything if the tool has none.
pub(super) fn schema_of_tool<'a>(tool: &Tool, parsed: &'a Parsed) -> &'a Schema {
    let parse = || Schema::new(&tool.input_schema.clone().unwrap_or_default());
    parsed.get_or_init(|| Box::new(parse()))
}

/// The state of one reply: the features that the request switched on, and the names that are taken.
#[derive(Debug)]
pub struct Reply {
    pub(super) env: Env,
    pub(super) era: Era,
    pub(super) has_client_sql: bool,
    pub(super) has_orchestration: bool,
    /// The MCP tools by their names. The first of several with one name counts.
    pub(super) tools: HashMap<String, Box<(Tool, Parsed)>>,
    /// The widgets of the dashboard, each with the name of the tool that it is offered as.
    pub(super) widgets: Vec<(String, Widget, Parsed)>,
    /// The artifacts in context: id and name.
    pub(super) context: Vec<(String, String)>,
    pub(super) names: Names,
    /// The sources that a citation can name, by their ids; made by the first citation.
    known: Option<HashMap<String, SourceInfo>>,
}

/// The writer of a reply.
pub(super) type To<'a> = Writer<'a, Reply>;

pub(super) fn session(request: &QueryRequest, env: &Env) -> Session<Reply> {
    let state = request.workspace_state.as_ref();
    let agents = state.is_some_and(|state| !state.agents.is_empty());
    let entries = request.context.iter().flat_map(|context| context.entries());
    let context: Vec<_> = entries
        .map(|entry| (entry.uuid.clone(), entry.name.clone()))
        .collect();
    let mut names = Names::default();
    // The Workspace finds an artifact by its name in the chat, so a new one must not reuse a name. The context has
    // the artifacts that the Workspace still stores; markers name those that it no longer stores.
    for (uuid, name) in &context {
        names.take(name, uuid);
    }
    for message in request
        .messages
        .iter()
        .filter(|message| message.role == Role::Ai)
    {
        let text = message.raw_text().unwrap_or_default();
        for piece in pieces(&text) {
            if let Piece::Artifact(name) = piece {
                names.take_if_free(name);
            }
        }
    }
    let reply = Reply {
        env: env.clone(),
        era: Era::from_request(request),
        has_client_sql: request.option("client-sql").is_on(),
        has_orchestration: agents || request.option("agent-orchestration").is_on(),
        // In reverse, because the last one remains.
        tools: (request.tools.iter().rev())
            .map(|tool| (tool.name.clone(), Box::new((tool.clone(), Parsed::new()))))
            .collect(),
        widgets: widget_tools(request)
            .map(|(name, _, widget)| (name, widget.clone(), Parsed::new()))
            .collect(),
        context,
        names,
        known: None,
    };
    // Events are independent: text is not framed by others.
    Session::new(reply).frame(CHUNK).unchecked()
}

impl Reply {
    /// Returns the source with this id: a widget by its id or the name of its tool, else an
    /// artifact in context by its id. The first of several matches counts.
    pub(super) fn find_source(&mut self, id: &str) -> Option<SourceInfo> {
        let (widgets, context) = (&self.widgets, &self.context);
        // The map is created on first use: a dashboard can have many widgets, and many replies cite none.
        let known = self
            .known
            .get_or_insert_with(|| known_sources(widgets, context));
        known.get(id).cloned()
    }
}

impl Blocks for Reply {
    type Output = Output;
    type Ending = FunctionCall;
    type Event = Infallible;

    fn write(&self, never: &Infallible, _: &mut Vec<u8>) {
        match *never {}
    }

    fn part(&mut self, part: Part<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        self.write_part(part, to)
    }

    fn output(&mut self, output: &Output, to: &mut To<'_>) -> Result<(), SendError> {
        output.write(self, to.stream())
    }

    fn ending(&mut self, call: &FunctionCall, to: &mut To<'_>) -> Result<(), SendError> {
        let call = call::prepare(&call.clone().filled(), self)?;
        // The citations are written first, because nothing may follow the call.
        to.sources(self)?;
        write_event(CALL, &call, to.stream());
        Ok(())
    }

    // The end of the body is the end of the turn.
    fn end(&mut self, end: End<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        if let End::Failed(failure) = end {
            // The message starts a new paragraph, because text may have been written before.
            to.text(self, &format!("\n\n{}", failure.message));
        }
        Ok(())
    }
}

fn known_sources(
    widgets: &[(String, Widget, Parsed)],
    context: &[(String, String)],
) -> HashMap<String, SourceInfo> {
    let mut known = HashMap::new();
    for (tool, widget, _) in widgets {
        let source = SourceInfo::widget(widget, &widget.arguments());
        for id in widget.id().into_iter().chain([tool.into()]) {
            // The first entry of an id counts, even if the name of a tool is the id of a later widget.
            let entry = known.entry(id.into_owned());
            entry.or_insert_with(|| source.clone());
        }
    }
    for (uuid, name) in context {
        let source = || SourceInfo::artifact(uuid.as_str(), name.as_str());
        known.entry(uuid.clone()).or_insert_with(source);
    }
    known
}
