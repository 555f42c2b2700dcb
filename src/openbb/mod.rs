//! The protocol of OpenBB Workspace agents, in every published form from January 2024 on.
//!
//! The Workspace runs in a browser: it posts the whole conversation and reads named events. When
//! the agent makes a call, for example for a widget's data, it posts again with the result.
//! [`QueryRequest`] reads the requests of every [`Era`], and a reply is written in the form of the
//! request that it answers.
//!
//! | Part | Event | Before November 2024 |
//! |---|---|---|
//! | text | `copilotMessageChunk` | the same |
//! | status | `copilotStatusUpdate`, `INFO` or `WARNING` | nothing |
//! | tool_run | the same, with arguments and result as details | nothing |
//! | reasoning, usage | nothing | nothing |
//! | cite | `copilotCitationCollection`, of a widget, an artifact or a page | a Markdown link at the end |
//! | table, chart | `copilotMessageArtifact` | a Markdown table |
//! | error | `copilotStatusUpdate`, `WARNING`; never `ERROR`, which deletes the latest call from the chat | text |
//! | confirm | the question as text, and `copilotPromptSuggestions` with its answers, by default no; the user's next message answers it with its code | the question as text |
//! | call, calls | `copilotFunctionCall`: `execute_agent_tool` for an MCP tool, `get_widget_data` for a widget; of several the first, the others follow one by one | the same |
//! | cut | as an error | the same |
//!
//! The failure of an agent is a text chunk; there is no event for it. The end of the body ends the turn; there is no
//! final event. Events are independent, and every piece of text has the same frame.
//!
//! ```
//! use copilot_wire::openbb::{GetWidgetData, OpenBb, Tier};
//! use copilot_wire::protocol::AgentError;
//! use copilot_wire::{Agent, Reply, Request, async_trait};
//!
//! struct Analyst;
//!
//! #[async_trait]
//! impl Agent<OpenBb> for Analyst {
//!     async fn answer(&self, request: Request<OpenBb>, reply: Reply<OpenBb>) -> Result<(), AgentError> {
//!         if let Some(result) = request.last_result() {
//!             let rows: Vec<serde_json::Value> = result.rows()?;
//!             reply.text(&format!("The widget has {} rows.", rows.len())).await?;
//!             return Ok(());
//!         }
//!         let selected = request.widgets().find(|(tier, _)| *tier == Tier::Primary);
//!         match selected {
//!             Some((_, widget)) => Ok(reply.end(GetWidgetData::new([widget]))?),
//!             None => Ok(reply.text("Attach a widget first.").await?),
//!         }
//!     }
//! }
//! ```
//!
//! # Types by task
//!
//! | task | types |
//! |---|---|
//! | mount an agent | [`Descriptor`], [`Switch`], [`Control`], [`ControlChoice`], [`Model`]; [`feedback()`], [`Feedback`] |
//! | read a request | [`QueryRequest`], [`Widget`], [`Tier`], [`Param`], [`AttachedContext`], [`OptionValue`], [`Tool`], [`WorkspaceState`], [`Delegation`] |
//! | read a result | [`CallResult`], [`CallOutcome`], [`ResultItem`], [`ParamOptions`] |
//! | reply | [`Artifact`], [`Citation`], [`StatusUpdate`], [`PromptSuggestions`], [`RawEvent`] |
//! | make a call | [`GetWidgetData`], [`GetParamsOptions`], [`ExecuteAgentTool`], [`AddWidgetToDashboard`], [`UpdateWidgetInDashboard`], [`AddGenerativeWidget`], [`ManageNavigationBar`], [`GetSkillContent`], [`SaveSkill`], [`AssignTasksToAgents`], [`ExecuteClientSql`], [`PrepareClientSqlTables`], [`FunctionCall`] for any other; several with a [`CallQueue`] |
//! | send state with a call | [`State`], [`Untrusted`] |
//! | write a client | [`Message`], [`Event`], [`Output`], [`Arguments`], [`Decoder`], [`agents`] |
//! | older forms | [`Era`], [`Widgets::Flat`], [`Options::List`], [`Arguments::GetDirectRetrievalData`] |

/// Implements `Wire` for an enum of two forms: an array, and any other value.
macro_rules! two_forms {
    ($name:ident: $array:ident, $other:ident($type:ty)) => {
        impl $crate::json::Wire for $name {
            fn read_from(
                reader: &mut $crate::json::Reader<'_>,
            ) -> Result<Option<Self>, $crate::json::JsonError> {
                if reader.is($crate::json::Kind::Array) {
                    return Ok($crate::json::List::read_from(reader)?.map(Self::$array));
                }
                Ok(<$type>::read_from(reader)?.map(Self::$other))
            }

            fn write_to(&self, to: $crate::json::ValueWriter<'_>) {
                match self {
                    Self::$array(list) => list.write_to(to),
                    Self::$other(other) => other.write_to(to),
                }
            }
        }
    };
}

mod call;
mod data_source;
mod deltas;
mod descriptor;
mod event;
mod feedback;
mod function_call;
mod legacy;
mod marker;
mod message;
mod mount;
mod numbers;
mod reply;
mod request;
mod result;
mod secret;
mod session;
mod text;
mod url;
mod vocabulary;
mod workspace;

pub use call::{
    AddGenerativeWidget, AddWidgetToDashboard, Arguments, AssignTasksToAgents, CallQueue,
    ExecuteAgentTool, ExecuteClientSql, GetSkillContent, ManageNavigationBar, NavigationTab,
    PrepareClientSqlTables, SaveSkill, SqlQuery, SqlWidget, State, StateError, TaskRequest,
    TurnState, TurnUsage, Untrusted, UpdateWidgetInDashboard, WidgetUpdate,
};
pub use data_source::{DataSource, GetParamsOptions, GetWidgetData, ParamOptionsQuery};
pub use descriptor::{Control, ControlChoice, Descriptor, Endpoints, Model, Switch, agents};
pub use event::{
    Artifact, ArtifactType, BoundingBox, ChartParams, ChartType, Citation, CitationCollection,
    ConversationSummary, Event, EventType, Output, PromptSuggestions, QueryDataSource, RawEvent,
    SourceInfo, StatusUpdate, TokenCount, TokenUsage,
};
pub use feedback::{Feedback, Vote};
pub use function_call::FunctionCall;
pub use legacy::Era;
pub use marker::{Piece, pieces, strip_markers};
pub use message::{Message, Role};
pub use mount::feedback;
pub use reply::Reply;
pub use request::{
    ApiKeys, AttachedContext, AttachedDocument, ContextEntry, Delegation, OptionValue, Options,
    QueryRequest, UploadedFile,
};
pub use result::{
    BridgeError, BridgeResult, CallOutcome, CallResult, CommandResult, DataFormat, ErrorResult,
    Items, ParamChoice, ParamChoices, ParamOptions, ResultItem,
};
pub use secret::Secret;
pub use url::Url;
pub use workspace::{
    AgentInfo, DashboardInfo, DashboardTab, DashboardWidget, DataColumn, DataTable, DefaultValue,
    OptionsParam, Param, SelectedSkill, SkillSummary, Tier, Tiers, Tool, Widget, Widgets,
    WorkspaceState,
};

use std::borrow::Cow;

use bytes::Bytes;
use http::HeaderMap;
use http::request::Parts;

use crate::protocol::{
    AgentError, Capabilities, Decode, Delta, Env, EventError, Events, Extras, Protocol, Refusal,
    Session, TextMember,
};
use crate::sse;

/// The protocol of the OpenBB Workspace.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OpenBb;

impl Protocol for OpenBb {
    type Request = QueryRequest;
    type Event = Event;
    type Settings = ();
    type Blocks = Reply;
    type Decoder = Decoder;

    const NAME: &'static str = "openbb";
    const CAPABILITIES: Capabilities = Capabilities::STEPS
        .with(Capabilities::CITATIONS)
        .with(Capabilities::TABLES)
        .with(Capabilities::CHARTS)
        .with(Capabilities::ERRORS)
        .with(Capabilities::CALLS)
        .with(Capabilities::TOOL_RUNS);
    const EXTRAS: Extras<Self> = Extras {
        next_call: |request| Some(CallQueue::of(request).next()?.state_from(request)),
        // The failure starts a new paragraph, because the text may have ended in the middle of a word.
        lost: |_, _, out| event::CHUNK.write(&format!("\n\n{}", AgentError::LOST), out),
        ..Extras::NONE
    };

    fn read(_: &Parts, body: Bytes) -> Result<QueryRequest, Refusal> {
        QueryRequest::read(&body)
    }

    /// Returns the header `X-Trace-Id`, which is the same for all requests of a chat.
    fn conversation_id<'a>(_: &'a QueryRequest, headers: &'a HeaderMap) -> Option<Cow<'a, str>> {
        trace_id(headers).map(Cow::Borrowed)
    }

    fn deltas(event: &Self::Event, to: &mut dyn FnMut(Delta<'_>)) {
        deltas::deltas(event, to);
    }

    fn session(request: &QueryRequest, (): &(), env: &Env) -> Session<Reply> {
        session::session(request, env)
    }
}

/// A decoder of events. It retains nothing between frames; the end of the body is the end of the
/// turn.
///
/// The decoder is not a [`FrameDecoder`](crate::protocol::FrameDecoder): the name of the frame determines the type of
/// an event, its data has no type, and no event ends the stream.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Decoder;

impl Decode for Decoder {
    type Event = Event;

    fn frame(
        &mut self,
        frame: &sse::Event<'_>,
        events: &mut Events<Event>,
    ) -> Result<(), EventError> {
        events.push(Event::read(frame)?);
        Ok(())
    }

    fn text(event: &mut Event) -> Option<TextMember<'_>> {
        match event {
            Event::Output(Output::MessageChunk(text)) => Some(TextMember::new(text, &["delta"])),
            _ => None,
        }
    }
}

/// Returns the id of the chat from the header `X-Trace-Id`; `None` if it is absent or empty.
pub(crate) fn trace_id(headers: &HeaderMap) -> Option<&str> {
    let id = headers.get("x-trace-id")?.to_str().ok()?;
    (!id.is_empty()).then_some(id)
}

/// The playground's script for this front end.
#[cfg(feature = "playground")]
pub(crate) const PLAYGROUND: &str = concat!(
    include_str!("playground/samples.js"),
    include_str!("playground/workspace.js"),
    include_str!("playground/front.js"),
);
