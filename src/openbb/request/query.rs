//! The whole of a request.

use std::borrow::Cow;

use bytes::Bytes;
use http::StatusCode;

use super::{
    ApiKeys, AttachedDocument, Context, Message, OptionValue, Options, Role, SelectedSkill,
    SkillSummary, Tier, Tool, UploadedFile, Widget, Widgets, WorkspaceState,
};
use crate::json::model::{Field, model};
use crate::json::{Json, Kind, List, Members};
use crate::openbb::result::CallResult;
use crate::openbb::{Citation, FunctionCall, Url};
use crate::protocol::Refusal;

/// A query request of any era.
///
/// Members that are absent, empty lists and `false` are the same here; what was really there is
/// told apart when the request is written again. An optional member of another type than the
/// protocol's, `null` included, is kept in `unknown` like one that this crate does not know.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct QueryRequest {
    /// The prompt, in requests of January and February 2024. Use
    /// [`prompt`](crate::protocol::Conversation::prompt).
    pub query: String,
    /// The conversation, oldest message first.
    pub messages: List<Message>,
    /// What was put in context: artifacts of this chat, in older requests widgets.
    pub context: Option<Context>,
    /// The widgets that the user selected and has on screen.
    pub widgets: Option<Widgets>,
    /// Pages to read. The Workspace sends at most four; more are read all the same, and how many are
    /// too many is the agent's to say.
    pub urls: List<Url>,
    /// Keys of the user's own.
    pub api_keys: Option<ApiKeys>,
    /// The user's time zone by its IANA name. Only on the request that a person caused. Use
    /// [`timezone_or`](Self::timezone_or).
    pub timezone: String,
    /// What the user has on screen. On requests that carry a result it is mostly left out.
    pub workspace_state: Option<WorkspaceState>,
    /// The switches of the agent that the user set. Use [`option`](Self::option).
    pub workspace_options: Option<Options>,
    /// The MCP tools that the Workspace can run.
    pub tools: List<Tool>,
    /// The model that the user picked from the descriptor's list.
    pub model: String,
    /// The skills that `get_skill_content` can fetch.
    pub skills_catalog: List<SkillSummary>,
    /// The skills that were picked, with their content.
    pub selected_skills: List<SelectedSkill>,
    /// Semantic views that the user named.
    pub semantic_views: List<String>,
    /// Files, inline or by URL.
    pub documents: List<AttachedDocument>,
    /// Files, in the form of a third-party server.
    pub uploaded_files: List<UploadedFile>,
    /// Whether to use uploaded documents (2024).
    pub use_docs: bool,
    /// Whether to search the web (2024).
    pub force_web_search: bool,
    /// Whether to search OpenBB's own index (2024).
    pub force_findb_search: bool,
    /// Whether direct retrieval is allowed (2024).
    pub allow_direct_retrieval: bool,
    /// State at the root of the request, as a draft of the protocol has it. Use
    /// [`extra_state`](Self::extra_state).
    pub root_state: Option<Json>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(QueryRequest {
    query: "query",
    messages: "messages",
    context: "context",
    widgets: "widgets",
    urls: "urls",
    api_keys: "api_keys",
    timezone: "timezone",
    workspace_state: "workspace_state",
    workspace_options: "workspace_options",
    tools: "tools",
    model: "model",
    skills_catalog: "skills_catalog",
    selected_skills: "selected_skills",
    semantic_views: "semantic_views",
    documents: "documents",
    uploaded_files: "uploaded_files",
    use_docs: "use_docs",
    force_web_search: "force_web_search",
    force_findb_search: "force_findb_search",
    allow_direct_retrieval: "allow_direct_retrieval",
    root_state: "extra_state",
});

/// A task that another agent handed over: see [`QueryRequest::delegation`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Delegation<'a> {
    /// What to do.
    pub task: Cow<'a, str>,
    /// Who asks: `openbb-copilot` is the Workspace's own agent.
    pub agent_id: &'a str,
}

impl QueryRequest {
    /// A request with these messages, for clients.
    #[must_use]
    pub fn new(messages: impl IntoIterator<Item = Message>) -> Self {
        Self {
            messages: messages.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Reads the body of a request of any era.
    ///
    /// Refused are only: what is not JSON (400), and a body without messages (422). A request of
    /// January 2024 may have its prompt in `query` and no messages.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] with the status and the place of the fault.
    pub(crate) fn read(body: &Bytes) -> Result<Self, Refusal> {
        let unprocessable = |message| Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, message);
        let Some(request) = Self::parse_any(body)? else {
            return Err(unprocessable("must be an object"));
        };
        if !request.messages.is_empty() || !request.query.is_empty() {
            return Ok(request);
        }
        let message = match request.unknown.get("messages").map(Json::kind) {
            None => "is missing",
            Some(Kind::Array) => "must not be empty",
            Some(_) => "must be an array",
        };
        Err(unprocessable(message).at("messages"))
    }

    /// All widgets with the tier that each is in: primary, secondary, extra.
    pub fn widgets(&self) -> impl Iterator<Item = (Tier, &Widget)> + Send {
        let tier = |tier| {
            let widgets = self.widgets.as_ref().map(|widgets| widgets.tier(tier));
            widgets
                .into_iter()
                .flatten()
                .map(move |widget| (tier, widget))
        };
        tier(Tier::Primary)
            .chain(tier(Tier::Secondary))
            .chain(tier(Tier::Extra))
    }

    /// The widget with this id, given or derived: see [`Widget::id`].
    #[must_use]
    pub fn widget(&self, id: &str) -> Option<&Widget> {
        self.widgets()
            .map(|(_, widget)| widget)
            .find(|widget| widget.id().is_some_and(|own| own == id))
    }

    /// How the user set a switch of the agent. What is absent is off: the Workspace never writes
    /// `false`.
    #[must_use]
    pub fn option(&self, id: &str) -> OptionValue<'_> {
        match &self.workspace_options {
            Some(options) => options.get(id),
            None => OptionValue::Off,
        }
    }

    /// Returns the user's time zone by its IANA name, or `default` where the request names none.
    #[must_use]
    pub fn timezone_or<'a>(&'a self, default: &'a str) -> &'a str {
        match self.timezone.as_str() {
            "" => default,
            zone => zone,
        }
    }

    /// What came back from all calls of the conversation, oldest first, each with the call that
    /// it answers.
    #[must_use]
    pub fn call_results(&self) -> Vec<CallResult> {
        CallResult::all(self.messages.iter())
    }

    /// What came back from the call that the agent made last; `None` when a person speaks now.
    #[must_use]
    pub fn last_result(&self) -> Option<CallResult> {
        self.is_result()
            .then(|| self.newest_result(CallResult::new))?
    }

    /// Whether the newest message is the result of a call.
    pub(in crate::openbb) fn is_result(&self) -> bool {
        let newest = self.messages.last();
        newest.is_some_and(|message| *message.role() == Role::Tool)
    }

    /// The newest result of the conversation, whoever spoke since.
    fn newest_result(
        &self,
        read: impl FnOnce(&Message, Option<FunctionCall>) -> CallResult,
    ) -> Option<CallResult> {
        let mut messages = self.messages.iter().rev();
        let tool = messages.find(|message| *message.role() == Role::Tool)?;
        Some(read(tool, messages.next().and_then(Message::call)))
    }

    /// The state that the agent sent with the newest call that has a result.
    ///
    /// Only the newest one is safe to rely on, and it crossed the browser: never trust it further
    /// than the user. A typed way is [`State`](crate::openbb::State).
    #[must_use]
    pub fn extra_state(&self) -> Option<Json> {
        let object = |json: &Json| json.kind() == Kind::Object;
        let newest = self.newest_result(CallResult::without_outcomes);
        let state = newest.and_then(|result| result.extra_state);
        state.or_else(|| self.root_state.clone()).filter(object)
    }

    /// The task that another agent handed over, when that is what this request is: its last
    /// message is from an agent with an id.
    #[must_use]
    pub fn delegation(&self) -> Option<Delegation<'_>> {
        let last = self.messages.last()?;
        if last.role != Role::Ai || last.agent_id.is_empty() || last.call().is_some() {
            return None;
        }
        Some(Delegation {
            task: last.text()?,
            agent_id: &last.agent_id,
        })
    }

    /// Citations that came with results, for the agent to pass on.
    #[must_use]
    pub fn extra_citations(&self) -> Vec<Citation> {
        let results = self.call_results();
        let outcomes = results.iter().flat_map(|result| &result.outcomes);
        outcomes
            .flat_map(|outcome| outcome.extra_citations().cloned())
            .collect()
    }

    /// Endpoints for direct retrieval that the user added (2024), as raw JSON objects.
    #[must_use]
    pub fn direct_retrieval_endpoints(&self) -> List<Json> {
        let endpoints = self.unknown.get("custom_direct_retrieval_endpoints");
        endpoints.and_then(Field::from_raw).unwrap_or_default()
    }
}
