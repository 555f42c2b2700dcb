//! A call that adds the agent's own content to the dashboard.

use serde::Serialize;

use crate::json::{Json, Members, Wire};
use crate::openbb::event::{ChartParams, no_axes};
use crate::protocol::{ChartKind, SendError, Table};

/// A call that adds a note, a table, a chart or HTML to the open dashboard.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[must_use]
pub struct AddGenerativeWidget {
    /// The type: `chart`, `table`, `note` or `html`.
    #[wire(always)]
    pub widget_type: String,
    /// The content: a string for a note and HTML, an array of objects for a table and a chart.
    #[wire(always)]
    pub data: Json,
    /// The name.
    #[wire(always)]
    pub name: String,
    /// The description.
    #[wire(set = "Sets the description of the widget.")]
    pub description: String,
    /// The axes of a chart.
    pub chart_params: Option<ChartParams>,
    /// The name of the dashboard's tab.
    pub inner_tab: String,
    /// Citations to display with it.
    pub citations: Option<Json>,
    /// Artifacts to display with it.
    pub artifacts: Option<Json>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl AddGenerativeWidget {
    fn of(widget_type: &str, name: impl Into<String>, data: Json) -> Self {
        Self {
            widget_type: widget_type.into(),
            data,
            name: name.into(),
            ..Self::default()
        }
    }

    /// Creates a note in Markdown as a widget, which the Workspace adds to the dashboard.
    pub fn note(name: impl Into<String>, markdown: &str) -> Self {
        Self::of("note", name, crate::openbb::text::string(markdown))
    }

    /// Creates a widget of HTML.
    pub fn html(name: impl Into<String>, html: &str) -> Self {
        Self::of("html", name, crate::openbb::text::string(html))
    }

    /// Creates a table of rows.
    ///
    /// # Errors
    ///
    /// If the rows are not an array of objects.
    pub fn table<T: Serialize + ?Sized>(
        name: impl Into<String>,
        rows: &T,
    ) -> Result<Self, SendError> {
        let table = Table::new(name, rows)?;
        Ok(Self::of("table", table.name, table.rows))
    }

    /// Creates a line, bar or scatter chart of rows.
    ///
    /// # Errors
    ///
    /// If the chart has no axes, its axes are not in the rows, or the rows are not an array of
    /// objects.
    pub fn chart<T: Serialize + ?Sized>(
        name: impl Into<String>,
        kind: &ChartKind,
        rows: &T,
    ) -> Result<Self, SendError> {
        let rows = Table::new("", rows)?.rows;
        let params = ChartParams::new(kind, &rows)?;
        // Pie and donut have no `xKey`, which this function requires: there is no such widget.
        if params.x_key.is_empty() {
            return Err(no_axes());
        }
        Ok(Self {
            chart_params: Some(params),
            ..Self::of("chart", name, rows)
        })
    }

    /// Sets the dashboard tab to add the widget to.
    pub fn inner_tab(mut self, tab: impl Into<String>) -> Self {
        self.inner_tab = tab.into();
        self
    }
}
