//! Formats of results.

use crate::json::{Json, Members, Wire};
use crate::openbb::event::QueryDataSource;

/// The format of an item's content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct DataFormat {
    /// The type of the data: `object` for values, or the kind of a file: `pdf`, `csv`, `png`, ...
    pub data_type: String,
    /// The interpretation of values: `table`, `text`, `chart`, `html`, ... Values without it are a
    /// table.
    pub parse_as: String,
    /// The interpretation in results of November 2024 to January 2025. Use
    /// [`parse_as`](Self::parse_as()).
    #[wire(name = "type")]
    pub kind: String,
    /// The file's name.
    pub filename: String,
    /// The axes of a chart.
    pub chart_params: Option<Json>,
    /// The data source on which a query runs.
    pub query_data_source: Option<QueryDataSource>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl DataFormat {
    /// Returns the interpretation of values, in the form of any era; `table` by default.
    pub fn parse_as(&self) -> &str {
        match (self.parse_as.as_str(), self.kind.as_str()) {
            ("", "") => "table",
            ("", kind) => kind,
            (parse_as, _) => parse_as,
        }
    }

    /// Returns `true` if an inline file of this kind is plain text: `txt`, `md` and `html`.
    pub(super) fn is_text_file(&self) -> bool {
        matches!(self.data_type.as_str(), "txt" | "md" | "html")
    }
}
