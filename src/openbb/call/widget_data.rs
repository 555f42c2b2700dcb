//! Asking for data.

use super::FunctionCall;
use super::function_call::with_members;
use crate::json::model::{Field, model};
use crate::json::{Json, List, Members};
use crate::openbb::request::{Era, Widget};
use crate::protocol::SendError;

/// One widget with the arguments to show it with.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DataSource {
    /// The widget on the dashboard; for one that is not there, none.
    pub widget_uuid: Option<String>,
    /// The backend. Required.
    pub origin: String,
    /// The widget's id there, which requests call `widget_id`. Required.
    pub id: String,
    /// The values of the widget's parameters: an object.
    pub input_args: Json,
    /// What to ask a widget that is backed by SQL on the server.
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

model!(DataSource {
    widget_uuid: "widget_uuid",
    origin: "origin",
    id: "id",
    input_args: "input_args" always,
    ssm_request: "ssm_request",
});

impl DataSource {
    /// A widget of a backend that need not be on the dashboard.
    #[must_use]
    pub fn new(origin: impl Into<String>, id: impl Into<String>) -> Self {
        Self {
            origin: origin.into(),
            id: id.into(),
            ..Self::default()
        }
    }

    /// Sets the arguments.
    #[must_use]
    pub fn args(mut self, arguments: &Members) -> Self {
        self.input_args = arguments.to_raw();
        self
    }

    /// Sets one argument.
    #[must_use]
    pub fn arg(self, name: &str, value: Json) -> Self {
        self.with_each(vec![(name.to_owned(), value)])
    }

    /// Sets several arguments.
    pub(in crate::openbb) fn with_each(mut self, arguments: Vec<(String, Json)>) -> Self {
        self.input_args = with_members(&self.input_args, arguments);
        self
    }
}

/// The widget with the arguments that it is shown with.
impl From<&Widget> for DataSource {
    fn from(widget: &Widget) -> Self {
        Self {
            widget_uuid: widget.id().map(Into::into),
            ..Self::new(&*widget.origin, &*widget.widget_id).args(&widget.arguments())
        }
    }
}

/// The data sources in the arguments of a call, whatever the era's form.
pub(in crate::openbb) fn data_sources(arguments: &Json) -> Vec<DataSource> {
    if let Some(sources) = arguments.get("data_sources") {
        let sources: Option<List<DataSource>> = Field::from_raw(&sources);
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
    // The oldest form of direct retrieval is a source itself.
    let is_source = arguments.get("origin").is_some() && arguments.get("id").is_some();
    let source = is_source.then(|| DataSource::from_raw(arguments)).flatten();
    source.into_iter().collect()
}

/// Asks for the data of widgets.
///
/// It is written in the form of the request's era. Ask for several widgets in one call: the
/// results come back in the order of the sources.
///
/// ```
/// use copilot_wire::openbb::{FunctionCall, GetWidgetData, QueryRequest};
///
/// fn fetch_all(request: &QueryRequest) -> FunctionCall {
///     GetWidgetData::of(request.widgets().map(|(_, widget)| widget)).into()
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GetWidgetData {
    /// The widgets.
    pub data_sources: List<DataSource>,
    /// Whether the widgets are of the tier `extra`, for which the function has another name.
    pub extra: bool,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl GetWidgetData {
    /// Asks for the data of widgets, with the arguments that they are shown with.
    #[must_use]
    pub fn of<S: Into<DataSource>>(sources: impl IntoIterator<Item = S>) -> Self {
        Self {
            data_sources: sources.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// Says that the widgets are of the tier `extra`.
    #[must_use]
    pub fn extra(mut self) -> Self {
        self.extra = true;
        self
    }
}

impl From<GetWidgetData> for FunctionCall {
    fn from(call: GetWidgetData) -> Self {
        let function = if call.extra {
            "get_extra_widget_data"
        } else {
            "get_widget_data"
        };
        Self::made(function, sources_object(&call.data_sources, &call.unknown))
    }
}

/// `{"data_sources": [...]}`
pub(super) fn sources_object(sources: &List<DataSource>, unknown: &Members) -> Json {
    let mut arguments = Members::new();
    arguments.push("data_sources", sources.to_raw());
    arguments.extend(unknown.iter().map(|(key, value)| (key, value.clone())));
    arguments.to_raw()
}

/// The arguments of `get_widget_data` in the form of an era.
///
/// Until October 2024 `{widget_uuid}`; from November `{widget_uuids}`; from January 2025
/// `{data_sources: [{origin, id, input_args}]}`; from May 2025 each with `widget_uuid` before.
pub(super) fn in_era(arguments: &Json, era: Era) -> Result<Option<Json>, SendError> {
    if arguments.get("data_sources").is_none() {
        return Ok(None);
    }
    let sources = data_sources(arguments);
    let invalid = |message: &str| Err(SendError::Invalid(message.to_owned()));
    if sources.is_empty() {
        return invalid("a call for data names no widget");
    }
    if era >= Era::E5 {
        if sources
            .iter()
            .any(|source| source.origin.is_empty() || source.id.is_empty())
        {
            return invalid("a data source needs an origin and an id");
        }
        if era >= Era::V1 {
            return Ok(None);
        }
        let older = sources.into_iter().map(|source| DataSource {
            widget_uuid: None,
            ..source
        });
        return Ok(Some(sources_object(&older.collect(), &Members::new())));
    }
    let uuids: Option<Vec<String>> = sources
        .into_iter()
        .map(|source| source.widget_uuid)
        .collect();
    let Some(uuids) = uuids else {
        return invalid("a widget needs a uuid in this request's form");
    };
    let json = |text: &String| crate::openbb::request::string(text);
    let mut object = Members::new();
    match uuids.as_slice() {
        _ if era >= Era::E4 => {
            let uuids: List<String> = uuids.into();
            object.push("widget_uuids", uuids.to_raw());
        }
        [uuid] => object.push("widget_uuid", json(uuid)),
        _ => return Err(SendError::Unsupported("several widgets in one call")),
    }
    Ok(Some(object.to_raw()))
}

/// Asks for data past the widgets (September 2024, soon given up).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GetDirectRetrievalData {
    /// What to ask.
    pub source: DataSource,
}

impl GetDirectRetrievalData {
    /// Asks one data source.
    #[must_use]
    pub fn new(source: DataSource) -> Self {
        Self { source }
    }
}

impl From<GetDirectRetrievalData> for FunctionCall {
    fn from(call: GetDirectRetrievalData) -> Self {
        Self::made("get_direct_retrieval_data", call.source.to_raw())
    }
}

/// Asks what may be chosen for parameters whose `get_options` is true.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GetParamsOptions {
    /// One query a parameter.
    pub param_options_queries: List<ParamOptionsQuery>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(GetParamsOptions { param_options_queries: "param_options_queries" always });

impl GetParamsOptions {
    /// Asks these queries.
    #[must_use]
    pub fn new(queries: impl IntoIterator<Item = ParamOptionsQuery>) -> Self {
        Self {
            param_options_queries: queries.into_iter().collect(),
            unknown: Members::new(),
        }
    }
}

impl From<GetParamsOptions> for FunctionCall {
    fn from(call: GetParamsOptions) -> Self {
        Self::made("get_params_options", call.to_raw())
    }
}

/// What may be chosen for one parameter?
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParamOptionsQuery {
    /// The backend.
    pub origin: String,
    /// The widget's id there.
    pub id: String,
    /// The parameter.
    pub param: String,
    /// The values of the parameters that the choices depend on: an object.
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

model!(ParamOptionsQuery {
    origin: "origin" always,
    id: "id" always,
    param: "param" always,
    options_endpoint_input_args: "options_endpoint_input_args" always,
});

impl ParamOptionsQuery {
    /// Asks about a parameter of a widget.
    #[must_use]
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
