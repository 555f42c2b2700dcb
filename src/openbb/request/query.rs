//! The query request.

use std::borrow::Cow;

use bytes::Bytes;
use http::StatusCode;

use super::{ApiKeys, AttachedContext, AttachedDocument, OptionValue, Options, UploadedFile};
use crate::json::{Json, Kind, List, Members, Wire};
use crate::openbb::result::CallResult;
use crate::openbb::workspace::{
    SelectedSkill, SkillSummary, Tier, Tool, Widget, Widgets, WorkspaceState,
};
use crate::openbb::{Citation, FunctionCall, Message, Role, Url};
use crate::protocol::Refusal;

/// A request of the OpenBB Workspace, in the form of any [`Era`](crate::openbb::Era) since January
/// 2024.
///
/// Absent members read as empty lists and `false`; a request that was read is written with exactly
/// the members that it had. An optional member with a wrong type, `null` included, is retained in
/// `unknown`.
#[derive(Clone, Debug, Default, PartialEq, Wire)]
#[non_exhaustive]
#[wire(new = "Creates a request with these messages, for clients.")]
pub struct QueryRequest {
    /// The prompt, in requests of January and February 2024. Use
    /// [`prompt`](crate::protocol::Conversation::prompt).
    pub query: String,
    /// The conversation, oldest message first.
    #[wire(new)]
    pub messages: List<Message>,
    /// The context: artifacts of this chat; in older requests, widgets.
    pub context: Option<AttachedContext>,
    /// The widgets: those that the user selected, and those on the dashboard.
    pub widgets: Option<Widgets>,
    /// Web pages to read. The Workspace sends at most four; this crate sets no limit.
    pub urls: List<Url>,
    /// The user's own API keys.
    pub api_keys: Option<ApiKeys>,
    /// The user's time zone as an IANA name; sent only with requests that the user started.
    pub timezone: String,
    /// The visible part of the Workspace. It is usually absent from requests that carry a result.
    pub workspace_state: Option<Box<WorkspaceState>>,
    /// The agent's options as set by the user. Use [`option`](Self::option).
    pub workspace_options: Option<Options>,
    /// The MCP tools that the Workspace can run.
    pub tools: List<Tool>,
    /// The model that the user selected from the descriptor's list.
    pub model: String,
    /// The skills that `get_skill_content` can fetch.
    pub skills_catalog: List<SkillSummary>,
    /// The selected skills, with their content.
    pub selected_skills: List<SelectedSkill>,
    /// The semantic views that the user named.
    pub semantic_views: List<String>,
    /// Files, inline or by URL.
    pub documents: List<AttachedDocument>,
    /// Files in the form that a third-party server sends.
    pub uploaded_files: List<UploadedFile>,
    /// Set if uploaded documents should be used (2024).
    pub use_docs: bool,
    /// Set if the agent should search the web (2024).
    pub force_web_search: bool,
    /// Set if the agent should search OpenBB's own index (2024).
    pub force_findb_search: bool,
    /// Set if direct retrieval is allowed (2024).
    pub allow_direct_retrieval: bool,
    /// The state at the root of the request, where a draft of the protocol has it. Use
    /// [`extra_state`](Self::extra_state).
    #[wire(name = "extra_state")]
    pub root_state: Option<Json>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// A task delegated by another agent, see [`QueryRequest::delegation`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Delegation<'a> {
    /// The task.
    pub task: Cow<'a, str>,
    /// The id of the agent that delegates; `openbb-copilot` is the Workspace's own agent.
    pub agent_id: &'a str,
}

impl QueryRequest {
    /// Reads the body of a request, in the form of any era.
    ///
    /// The body must be JSON (400) and have messages (422). A request of January 2024 may instead
    /// have its prompt in `query`.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] with the status and the position of the error.
    pub(crate) fn read(body: &Bytes) -> Result<Self, Refusal> {
        let unprocessable = |message| Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, message);
        match Self::parse_any(body) {
            Ok(Some(request)) if !request.messages.is_empty() || !request.query.is_empty() => {
                Ok(request)
            }
            Ok(Some(request)) => {
                let refusal = Refusal::required("messages", Kind::Array, &request.unknown);
                Err(refusal.at_list("messages", &request.messages))
            }
            Ok(None) => Err(unprocessable("must be an object")),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns an iterator over all widgets with their tiers: primary, secondary, extra.
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

    /// Returns the widget with this id, sent or derived, see [`Widget::id`].
    pub fn widget(&self, id: &str) -> Option<&Widget> {
        self.widgets()
            .map(|(_, widget)| widget)
            .find(|widget| widget.id().is_some_and(|own| own == id))
    }

    /// Returns the user's setting of an option. An absent one is off: the Workspace never sends
    /// `false`.
    pub fn option(&self, id: &str) -> OptionValue<'_> {
        match &self.workspace_options {
            Some(options) => options.get(id),
            None => OptionValue::Off,
        }
    }

    /// Returns the results of all calls of the conversation, oldest first, each with its call.
    pub fn call_results(&self) -> Vec<CallResult> {
        CallResult::all(self.messages.iter())
    }

    /// Returns the result of the agent's last call; `None` if the latest message is not a result.
    pub fn last_result(&self) -> Option<CallResult> {
        self.is_result()
            .then(|| self.latest_result(CallResult::new))?
    }

    /// Returns `true` if the latest message is the result of a call.
    pub(in crate::openbb) fn is_result(&self) -> bool {
        let latest = self.messages.last();
        latest.is_some_and(|message| *message.role() == Role::Tool)
    }

    /// Returns the latest result of the conversation, even if other messages follow it.
    fn latest_result(
        &self,
        read: impl FnOnce(&Message, Option<FunctionCall>) -> CallResult,
    ) -> Option<CallResult> {
        let mut messages = self.messages.iter().rev();
        let tool = messages.find(|message| *message.role() == Role::Tool)?;
        Some(read(tool, messages.next().and_then(Message::call)))
    }

    /// Returns the state that the agent sent with the latest call that has a result.
    ///
    /// The browser can change it: trust it no more than the user. [`State`](crate::openbb::State)
    /// is a typed and signed alternative.
    pub fn extra_state(&self) -> Option<Json> {
        let object = |json: &Json| json.kind() == Kind::Object;
        let latest = self.latest_result(CallResult::without_outcomes);
        let state = latest.and_then(|result| result.extra_state);
        // The message first: only a draft of the protocol has the state at the root.
        state.or_else(|| self.root_state.clone()).filter(object)
    }

    /// Returns the task that another agent delegates, if the last message is from an agent with an
    /// id.
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

    /// Returns the citations that came with results, for the agent to pass on.
    pub fn extra_citations(&self) -> Vec<Citation> {
        let results = self.call_results();
        let outcomes = results.iter().flat_map(|result| &result.outcomes);
        outcomes
            .flat_map(|outcome| outcome.extra_citations().cloned())
            .collect()
    }
}
