//! Parameters of charts.

use crate::json::{Json, Kind, List, Members, Wire};
use crate::protocol::{ChartKind, SendError};

/// The type of a chart.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
#[wire(empty)]
pub enum ChartType {
    /// A line chart: one line for each `yKey`.
    Line,
    /// A bar chart: one series of bars for each `yKey`.
    Bar,
    /// A scatter chart: one series of points for each `yKey`.
    Scatter,
    /// A pie chart: each row is one slice.
    Pie,
    /// A donut chart: a pie chart with a hole in the middle.
    Donut,
    /// A type that this crate does not know.
    #[wire(other)]
    Other(String),
}

/// The axes of a chart. Created from a [`ChartKind`], so that a chart has only the parameters of
/// its kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(rename_all = "camelCase")]
pub struct ChartParams {
    /// The type.
    #[wire(always)]
    pub chart_type: ChartType,
    /// For `line`, `bar`, `scatter`: the member on the horizontal axis.
    pub x_key: String,
    /// For `line`, `bar`, `scatter`: the members on the vertical axis.
    pub y_key: List<String>,
    /// For `pie`, `donut`: the member with the size of a slice.
    pub angle_key: String,
    /// For `pie`, `donut`: the member with the label of a slice.
    pub callout_label_key: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl ChartParams {
    /// Creates the parameters of a chart. The members on the axes of a scatter chart and the sizes
    /// of slices must be numbers. A member that is absent from all rows is accepted and draws
    /// nothing, as in the official SDK.
    ///
    /// # Errors
    ///
    /// [`SendError`] if a member must be a number and is not, or if the vertical axis has no
    /// member.
    pub(in crate::openbb) fn new(kind: &ChartKind, rows: &Json) -> Result<Self, SendError> {
        let axes = |chart_type, x: &String, y: &[String], numeric| {
            if y.is_empty() {
                return Err(no_axes());
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

/// Checks that a key is not empty, and that its values are numbers if `numeric`.
pub(in crate::openbb) fn no_axes() -> SendError {
    SendError::Invalid("a chart needs members for its axes".into())
}

fn check(rows: &Json, key: &str, numeric: bool) -> Result<(), SendError> {
    if key.is_empty() {
        return Err(no_axes());
    }
    let mut values = rows.elements().filter_map(|row| row.get(key));
    // `null` is a gap in the series, also what NaN and infinities are written as.
    if numeric && values.any(|value| !matches!(value.kind(), Kind::Number | Kind::Null)) {
        return Err(SendError::Invalid(format!(
            "member {key:?} must be a number in every row"
        )));
    }
    Ok(())
}
