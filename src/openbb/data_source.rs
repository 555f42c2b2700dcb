//! Calls for data.

use super::function_call::{FunctionCall, with_members};
use super::workspace::Widget;
use crate::json::{Json, List, Members, Wire};

/// A widget and its arguments, as the source of data.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(new = "Creates a source for a widget of a backend, which need not be on the dashboard.")]
#[must_use]
pub struct DataSource {
    /// The id of the widget on the dashboard; `None` for a widget that is not on it.
    pub widget_uuid: Option<String>,
    /// The name of the backend that has the widget. Required.
    #[wire(new)]
    pub origin: String,
    /// The id of the widget at its backend, which requests call `widget_id`. Required.
    #[wire(new)]
    pub id: String,
    /// The values of the widget's parameters: an object.
    #[wire(always)]
    pub input_args: Json,
    /// The query for a widget that is backed by SQL on the server.
    pub ssm_request: Option<Json>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl Default for DataSource {
    fn default() -> Self {
        Self {
            widget_uuid: None,
            origin: String::new(),
            id: String::new(),
            input_args: Members::new().to_raw(),
            ssm_request: None,
            unknown: Members::new(),
        }
    }
}

impl DataSource {
    /// Sets all arguments.
    pub fn args(mut self, arguments: &Members) -> Self {
        self.input_args = arguments.to_raw();
        self
    }

    /// Sets one argument.
    pub fn arg(self, name: &str, value: Json) -> Self {
        self.with_each(vec![(name.to_owned(), value)])
    }

    /// Sets several arguments.
    pub(super) fn with_each(mut self, arguments: Vec<(String, Json)>) -> Self {
        self.input_args = with_members(&self.input_args, arguments);
        self
    }
}

/// Converts a widget with its current arguments.
impl From<&Widget> for DataSource {
    fn from(widget: &Widget) -> Self {
        Self {
            widget_uuid: widget.id().map(Into::into),
            ..Self::new(&*widget.origin, &*widget.widget_id).args(&widget.arguments())
        }
    }
}

/// A call for the data of widgets.
///
/// It is written in the form of the request's era. One call can request several widgets; the results are in the order
/// of the sources. A source without the ids that this form needs is left out; a call without any complete source is
/// refused.
///
/// ```
/// use copilot_wire::openbb::{FunctionCall, GetWidgetData, QueryRequest};
///
/// fn fetch_all(request: &QueryRequest) -> FunctionCall {
///     GetWidgetData::new(request.widgets().map(|(_, widget)| widget)).into()
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(new = "Creates a call for the data of widgets, with their current arguments.")]
pub struct GetWidgetData {
    /// The widgets whose data is requested.
    #[wire(always, new, into)]
    pub data_sources: List<DataSource>,
    /// Set if the widgets are of the tier `extra`, for which the function has another name.
    #[wire(skip, set = "Marks the widgets as those of the tier `extra`.")]
    pub extra: bool,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl From<GetWidgetData> for FunctionCall {
    fn from(call: GetWidgetData) -> Self {
        let function = match call.extra {
            true => "get_extra_widget_data",
            false => "get_widget_data",
        };
        Self::made(function, call.to_raw())
    }
}

/// A call for the choices of parameters whose `get_options` is true.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(new = "Creates a call with these queries.")]
pub struct GetParamsOptions {
    /// One query for each parameter.
    #[wire(always, new)]
    pub param_options_queries: List<ParamOptionsQuery>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// A query for the choices of one parameter.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct ParamOptionsQuery {
    /// The name of the backend that has the widget.
    #[wire(always)]
    pub origin: String,
    /// The id of the widget at its backend.
    #[wire(always)]
    pub id: String,
    /// The name of the parameter.
    #[wire(always)]
    pub param: String,
    /// The values of the parameters that the choices depend on: an object.
    #[wire(always)]
    pub options_endpoint_input_args: Json,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl Default for ParamOptionsQuery {
    fn default() -> Self {
        Self {
            origin: String::new(),
            id: String::new(),
            param: String::new(),
            options_endpoint_input_args: Members::new().to_raw(),
            unknown: Members::new(),
        }
    }
}

impl ParamOptionsQuery {
    /// Creates a query for the possible values of one parameter of a widget.
    pub fn new(widget: &Widget, param: impl Into<String>, arguments: &Members) -> Self {
        Self {
            origin: widget.origin.clone(),
            id: widget.widget_id.clone(),
            param: param.into(),
            options_endpoint_input_args: arguments.to_raw(),
            unknown: Members::new(),
        }
    }
}

/// Returns the data sources in the arguments of a call, in the form of any era.
pub(super) fn data_sources(arguments: &Json) -> Vec<DataSource> {
    if let Some(sources) = arguments.get("data_sources") {
        let sources: Option<List<DataSource>> = Wire::from_raw(&sources);
        return sources.unwrap_or_default().into_iter().collect();
    }
    let of_uuid = |uuid: Json| DataSource {
        widget_uuid: uuid.string().map(Into::into),
        ..DataSource::default()
    };
    if let Some(uuids) = arguments.get("widget_uuids") {
        return uuids.elements().map(of_uuid).collect();
    }
    if let Some(uuid) = arguments.get("widget_uuid") {
        return vec![of_uuid(uuid)];
    }
    // In the first form of direct retrieval the arguments are one data source.
    let is_source = arguments.get("origin").is_some() && arguments.get("id").is_some();
    let source = is_source.then(|| DataSource::from_raw(arguments)).flatten();
    source.into_iter().collect()
}
