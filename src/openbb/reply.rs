//! The state of one reply.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::event::{Names, SourceInfo};
use super::legacy::Era;
use super::workspace::{Tool, Widget};
use crate::protocol::{Env, Writer};
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
    pub(super) known: Option<HashMap<String, SourceInfo>>,
}

/// The writer of a reply.
pub(super) type To<'a> = Writer<'a, Reply>;

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
