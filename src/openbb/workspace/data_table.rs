//! The table in the user's browser that contains a widget's data.

use crate::json::{List, Members, Wire};

/// The table in the user's browser that contains a widget's data, on which the agent can have SQL run: see
/// [`Widget::data_table`](super::Widget::data_table).
///
/// The names are those that OpenBB's own agent reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct DataTable {
    /// The dialect of SQL: `duckdb-wasm`, or one that this crate does not know.
    #[wire(always)]
    pub dialect: String,
    /// The name of the table in SQL.
    #[wire(always)]
    pub table_name: String,
    /// The content of the table.
    pub description: String,
    /// The number of rows.
    pub row_count: Option<u64>,
    /// The columns of the table.
    #[wire(always)]
    pub columns: List<DataColumn>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// One column of a [`DataTable`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct DataColumn {
    /// The name in SQL.
    #[wire(always)]
    pub name: String,
    /// The type in SQL, such as `VARCHAR`, `DOUBLE`, `BIGINT`, `BOOLEAN`, `DATE` or `TIMESTAMP`.
    #[wire(name = "type", always)]
    pub kind: String,
    /// The name that users see.
    pub label: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}
