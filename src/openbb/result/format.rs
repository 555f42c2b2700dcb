//! What the content of a result is.

use crate::json::model::model;
use crate::json::{Json, Members};

/// What the content of an item is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DataFormat {
    /// `object` for values, or the kind of a file: `pdf`, `csv`, `png`, ...
    pub data_type: String,
    /// What to read values as: `table`, `text`, `chart`, `html`, ... For values without it: a
    /// table.
    pub parse_as: String,
    /// The same in results of November 2024 to January 2025. Use [`parse_as`](Self::parse_as()).
    pub kind: String,
    /// The file's name.
    pub filename: String,
    /// How a chart is drawn.
    pub chart_params: Option<Json>,
    /// Where a query is run.
    pub query_data_source: Option<QueryDataSource>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(DataFormat {
    data_type: "data_type",
    parse_as: "parse_as",
    kind: "type",
    filename: "filename",
    chart_params: "chart_params",
    query_data_source: "query_data_source",
});

impl DataFormat {
    /// What to read values as, in any era. Values are a table unless something else is said.
    #[must_use]
    pub fn parse_as(&self) -> &str {
        match (self.parse_as.as_str(), self.kind.as_str()) {
            ("", "") => "table",
            ("", kind) => kind,
            (parse_as, _) => parse_as,
        }
    }

    /// Whether the content is a file, in base64 or by URL. Text formats are not in base64.
    #[must_use]
    pub fn is_file(&self) -> bool {
        !matches!(self.data_type.as_str(), "" | "object")
    }

    /// Whether an inline file of this kind is plain text: `txt`, `md` and `html`.
    #[must_use]
    pub fn is_text_file(&self) -> bool {
        matches!(self.data_type.as_str(), "txt" | "md" | "html")
    }
}

/// Where a Snowflake query is run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueryDataSource {
    /// The backend.
    pub origin: String,
    /// The widget's id there.
    pub id: String,
    /// The widget.
    pub widget_uuid: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(QueryDataSource {
    origin: "origin",
    id: "id",
    widget_uuid: "widget_uuid"
});

impl QueryDataSource {
    /// A data source.
    #[must_use]
    pub fn new(
        origin: impl Into<String>,
        id: impl Into<String>,
        widget_uuid: impl Into<String>,
    ) -> Self {
        Self {
            origin: origin.into(),
            id: id.into(),
            widget_uuid: widget_uuid.into(),
            unknown: Members::new(),
        }
    }
}
