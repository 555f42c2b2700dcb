//! The tool names of data sources.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{QueryRequest, widget_tools};
use crate::openbb::DataSource;

/// The names of widget tools, indexed by the members with which data sources identify widgets. The
/// first of several widgets with the same identity counts.
pub(super) struct ToolNames<'a> {
    by_id: HashMap<Cow<'a, str>, String>,
    by_place: HashMap<(&'a str, &'a str), String>,
}

impl<'a> ToolNames<'a> {
    pub(super) fn new(request: &'a QueryRequest) -> Self {
        let (mut by_id, mut by_place) = (HashMap::new(), HashMap::new());
        for (name, _, widget) in widget_tools(request) {
            if let Some(id) = widget.id() {
                by_id.entry(id).or_insert_with(|| name.clone());
            }
            let place = (widget.origin.as_str(), widget.widget_id.as_str());
            by_place.entry(place).or_insert(name);
        }
        Self { by_id, by_place }
    }

    /// Returns the tool name of a data source.
    pub(super) fn of(&self, source: &DataSource) -> Option<String> {
        let name = match &source.widget_uuid {
            // Without a fallback to origin and id: a dashboard can have the same widget twice, with
            // other arguments.
            Some(uuid) => self.by_id.get(uuid.as_str()),
            None => self.by_place.get(&(&*source.origin, &*source.id)),
        };
        name.cloned()
    }
}
