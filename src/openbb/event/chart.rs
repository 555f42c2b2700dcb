//! How a chart is drawn.

use super::ArtifactError;
use crate::json::model::{model, names};
use crate::json::{Json, Kind, List, Members};
use crate::protocol::ChartKind;

/// The kind of a chart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChartType {
    /// A line for every `yKey`.
    Line,
    /// A bar for every `yKey`.
    Bar,
    /// A dot for every `yKey`.
    Scatter,
    /// A sector a row.
    Pie,
    /// A sector a row, with a hole in the middle.
    Donut,
    /// One that this crate does not know.
    Other(String),
}

names!(ChartType {
    Line: "line",
    Bar: "bar",
    Scatter: "scatter",
    Pie: "pie",
    Donut: "donut",
});

impl Default for ChartType {
    fn default() -> Self {
        Self::Other(String::new())
    }
}

/// How a chart is drawn. Made from a [`ChartKind`], so that a kind has its own parameters and no
/// others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChartParams {
    /// The kind.
    pub chart_type: ChartType,
    /// `line`, `bar`, `scatter`: the member on the horizontal axis.
    pub x_key: String,
    /// `line`, `bar`, `scatter`: the members on the vertical axis.
    pub y_key: List<String>,
    /// `pie`, `donut`: the member that is the size of a sector.
    pub angle_key: String,
    /// `pie`, `donut`: the member that names a sector.
    pub callout_label_key: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(ChartParams {
    chart_type: "chartType" always,
    x_key: "xKey",
    y_key: "yKey",
    angle_key: "angleKey",
    callout_label_key: "calloutLabelKey",
});

impl ChartParams {
    /// Creates the parameters of a chart. The axes of a scatter chart, and the sizes of sectors, are
    /// numbers in every row that has them. A member that no row has is drawn as nothing, as the
    /// official SDK does.
    ///
    /// # Errors
    ///
    /// [`ArtifactError`] when a member is not a number where it must be, or there is nothing on the
    /// vertical axis.
    pub fn new(kind: &ChartKind, rows: &Json) -> Result<Self, ArtifactError> {
        let axes = |chart_type, x: &String, y: &[String], numeric| {
            if y.is_empty() {
                return Err(ArtifactError::NoAxes);
            }
            for key in std::iter::once(x).chain(y) {
                check(rows, key, numeric)?;
            }
            Ok(Self {
                chart_type,
                x_key: x.clone(),
                y_key: y.iter().cloned().collect(),
                ..Self::default()
            })
        };
        let sectors = |chart_type, angle: &String, label: &String| {
            check(rows, angle, true)?;
            check(rows, label, false)?;
            Ok(Self {
                chart_type,
                angle_key: angle.clone(),
                callout_label_key: label.clone(),
                ..Self::default()
            })
        };
        match kind {
            ChartKind::Line { x, y } => axes(ChartType::Line, x, y, false),
            ChartKind::Bar { x, y } => axes(ChartType::Bar, x, y, false),
            ChartKind::Scatter { x, y } => axes(ChartType::Scatter, x, y, true),
            ChartKind::Pie { angle, label } => sectors(ChartType::Pie, angle, label),
            ChartKind::Donut { angle, label } => sectors(ChartType::Donut, angle, label),
        }
    }
}

/// Checks that a member has a name, and is a number where it has to be.
fn check(rows: &Json, key: &str, numeric: bool) -> Result<(), ArtifactError> {
    if key.is_empty() {
        return Err(ArtifactError::NoAxes);
    }
    let mut values = rows.elements().filter_map(|row| row.get(key));
    if numeric && values.any(|value| !matches!(value.kind(), Kind::Number | Kind::Null)) {
        return Err(ArtifactError::NotNumeric(key.to_owned()));
    }
    Ok(())
}
