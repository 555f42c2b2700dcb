//! The table that a widget's data is in the browser.

use crate::json::model::model;
use crate::json::{List, Members};

/// The table in the user's browser that contains a widget's data, on which the agent can have SQL run: see
/// [`Widget::data_table`](super::Widget::data_table).
///
/// The names are those that OpenBB's own agent reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DataTable {
    /// The dialect of SQL: `duckdb-wasm`, or one that this crate does not know.
    pub dialect: String,
    /// The name of the table in SQL.
    pub table_name: String,
    /// The content of the table.
    pub description: String,
    /// The number of rows.
    pub row_count: Option<u64>,
    /// The columns of the table.
    pub columns: List<DataColumn>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(DataTable {
    dialect: "dialect" always,
    table_name: "table_name" always,
    description: "description",
    row_count: "row_count",
    columns: "columns" always,
});

/// One column of a [`DataTable`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DataColumn {
    /// The name in SQL.
    pub name: String,
    /// The type in SQL, such as `VARCHAR`, `DOUBLE`, `BIGINT`, `BOOLEAN`, `DATE` or `TIMESTAMP`.
    pub kind: String,
    /// The name that users see.
    pub label: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(DataColumn {
    name: "name" always,
    kind: "type" always,
    label: "label",
});
