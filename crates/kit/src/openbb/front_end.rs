//! An emulated OpenBB Workspace.

use std::mem;

use bytes::Bytes;
use http::HeaderValue;

use super::dashboard::{Dashboard, WIDGET_DATA, entry};
use crate::heard::effects;
use crate::{CONVERSATION, Effect, FrontEnd, Next, ToolOutcome, post, question};
use copilot_wire::json::{Json, Members, Wire};
use copilot_wire::openbb::{
    Artifact, ArtifactType, AttachedContext, AttachedDocument, ContextEntry, DataFormat, Event,
    EventType, FunctionCall, Message, OpenBb, OptionValue, Options, Output, QueryRequest, Role,
    StatusUpdate, Tier, Tiers, Tool, Widget, Widgets,
};
use copilot_wire::protocol::{self, EventDecoder, EventError, ToolCall};

/// An emulated Workspace: a dashboard with widgets, and a chat.
///
/// The Workspace answers calls of `get_widget_data` and `execute_agent_tool` for widgets and MCP tools that have an
/// answer, and of `get_params_options` for parameters that have choices.
#[derive(Debug)]
pub struct Workspace {
    request: QueryRequest,
    dashboard: Dashboard,
    trace: String,
    answer: String,
    called: Option<FunctionCall>,
    /// The call of the previous turn, until it has a result.
    open: Option<FunctionCall>,
    /// `true` if the latest message is the user's, not the result of a call.
    first: bool,
    decoder: EventDecoder<OpenBb>,
}

impl Workspace {
    /// Creates an empty dashboard.
    pub fn new() -> Self {
        Self::continuing(QueryRequest::default())
    }

    /// Creates a dashboard with the widgets, tools and options of a request; its messages become
    /// the history.
    pub fn continuing(request: QueryRequest) -> Self {
        Self {
            request,
            dashboard: Dashboard::default(),
            trace: CONVERSATION.into(),
            answer: String::new(),
            called: None,
            open: None,
            first: true,
            decoder: EventDecoder::new(),
        }
    }

    /// Sets the id of the chat, for an agent with several conversations, or one that outlives the test. The default id
    /// is constant.
    #[must_use]
    pub fn conversation_id(mut self, id: impl Into<String>) -> Self {
        self.trace = id.into();
        self
    }

    /// Adds a widget with its data to the dashboard.
    #[must_use]
    pub fn widget(mut self, tier: Tier, widget: Widget, data: ToolOutcome) -> Self {
        self.dashboard.add_data(&widget, data);
        let mut tiers = match self.request.widgets.take() {
            Some(Widgets::Tiers(tiers)) => tiers,
            Some(Widgets::Flat(secondary)) => {
                let mut tiers = Tiers::default();
                tiers.secondary = secondary;
                tiers
            }
            _ => Tiers::default(),
        };
        match tier {
            Tier::Primary => tiers.primary.push(widget),
            Tier::Secondary => tiers.secondary.push(widget),
            _ => tiers.extra.push(widget),
        }
        self.request.widgets = Some(Widgets::Tiers(tiers));
        self
    }

    /// Sets an option of the agent, as the user would: `option("web-search", true)`, or `option("style", "brief")` for
    /// a text or a choice. An option that is off is not sent.
    #[must_use]
    pub fn option<'a>(mut self, id: &str, value: impl Into<OptionValue<'a>>) -> Self {
        let none = || Options::Map(Members::new());
        let options = self.request.workspace_options.get_or_insert_with(none);
        options.set(id, &value.into());
        self
    }

    /// Adds an MCP tool that the agent may have run, with the answer to its calls.
    #[must_use]
    pub fn tool(mut self, tool: Tool, answer: ToolOutcome) -> Self {
        self.dashboard.add_tool(&tool, answer);
        self.request.tools.push(tool);
        self
    }

    /// Attaches a file, which is sent inline with every request of the chat. The extension of the name, as in
    /// `notes.md`, gives the format.
    #[must_use]
    pub fn file(mut self, name: impl Into<String>, bytes: &[u8]) -> Self {
        let id = format!("file-{}", self.request.documents.len() + 1);
        let file = AttachedDocument::new(id, name, bytes);
        self.request.documents.push(file);
        self
    }

    /// Turns the text so far into a message, and returns its question.
    fn end_message(&mut self) -> Option<protocol::Confirmation> {
        let answer = mem::take(&mut self.answer);
        if answer.is_empty() {
            return None;
        }
        self.request.messages.push(Message::ai(&answer));
        question(&answer)
    }

    fn status(&mut self, status: &StatusUpdate) {
        if status.event_type == EventType::Error {
            // The status `ERROR` is meant for a context overflow: the Workspace deletes the latest
            // call and its result.
            let mut messages: Vec<_> = mem::take(&mut self.request.messages).into_iter().collect();
            if let Some(at) = messages.iter().rposition(|m| *m.role() == Role::Tool) {
                messages.drain(at.saturating_sub(1)..=at);
            }
            self.request.messages = messages.into_iter().collect();
        }
    }

    /// Adds an artifact to the context of the next request, and its marker to the text.
    fn add_artifact(&mut self, artifact: &Artifact) {
        self.answer.push_str("<|start_artifact_id|>");
        self.answer.push_str(&artifact.name);
        self.answer.push_str("<|end_artifact_id|>");
        // The Workspace leaves dashboards out of the context.
        if artifact.kind == ArtifactType::App {
            return;
        }
        let mut entries = match self.request.context.take() {
            Some(AttachedContext::Entries(entries)) => entries,
            _ => Default::default(),
        };
        entries.push(context(artifact));
        self.request.context = Some(AttachedContext::Entries(entries));
    }
}

impl Default for Workspace {
    fn default() -> Self {
        Self::new()
    }
}

impl FrontEnd for Workspace {
    type Protocol = OpenBb;

    const PATH: &'static str = "/v1/query";

    fn prompt(&mut self, text: &str) {
        self.first = true;
        // A typed message is not a result: the call stays unanswered.
        self.open = None;
        // The input field of the Workspace makes these replacements.
        let text = text.replace('\u{a0}', " ").replace('\u{2011}', "-");
        self.request.messages.push(Message::human(&text));
    }

    fn request(&self) -> http::Request<Bytes> {
        let mut query = self.request.clone();
        // The Workspace sends the time zone with the user's message only.
        if self.first && query.timezone.is_empty() {
            query.timezone = "Etc/UTC".into();
        }
        let mut request = post(Self::PATH, query.to_json());
        if let Ok(trace) = HeaderValue::from_str(&self.trace) {
            request.headers_mut().insert("x-trace-id", trace);
        }
        request
    }

    fn decode(&mut self, input: &mut &[u8]) -> Result<Option<Event>, EventError> {
        Ok(self.decoder.next(input)?.cloned())
    }

    fn receive(&mut self, event: &Event) -> Vec<Effect> {
        let output = match event {
            Event::Output(output) => output,
            Event::FunctionCall(call) => {
                self.end_message();
                self.called = Some(FunctionCall::clone(call));
                return Vec::new();
            }
            _ => return Vec::new(),
        };
        let mut effects = effects::<OpenBb>(event);
        match output {
            Output::MessageChunk(text) => self.answer.push_str(text),
            Output::StatusUpdate(update) => {
                self.end_message();
                self.status(update);
            }
            Output::MessageArtifact(added) => self.add_artifact(added),
            Output::CitationCollection(collection) => {
                let shown = collection.citations.iter().filter(|it| !it.id.is_empty());
                for citation in shown {
                    self.answer.push_str("<|start_citation_id|>");
                    self.answer.push_str(&citation.id);
                    self.answer.push_str("<|end_citation_id|>");
                }
            }
            Output::PromptSuggestions(prompts) => {
                let suggestions = prompts.suggestions.iter().cloned();
                effects.push(Effect::Suggestions(suggestions.collect()));
            }
            Output::TokenUsage(usage) => {
                effects.push(Effect::other("copilotTokenUsage", usage.to_raw()));
            }
            Output::ConversationSummary(summary) => {
                let name = "copilotConversationSummary";
                effects.push(Effect::other(name, summary.to_raw()));
            }
            Output::Raw(raw) => effects.push(Effect::other(raw.name(), raw.data().clone())),
            _ => {}
        }
        if let (Output::MessageArtifact(added), true) = (output, effects.is_empty()) {
            effects.push(Effect::other("artifact", added.to_raw()));
        }
        effects
    }

    fn next(&mut self) -> Next {
        // Each response is a separate stream.
        self.decoder = EventDecoder::new();
        let question = self.end_message();
        self.open = self.called.take();
        if let Some(call) = &self.open {
            let call = ToolCall::new(&call.function, &call.input_arguments);
            return Next::Calls(call.into_iter().collect());
        }
        question.map_or(Next::Nothing, Next::Question)
    }

    fn own_answer(&self, call: &ToolCall) -> Option<ToolOutcome> {
        self.dashboard.answer(&self.request, call)
    }

    fn answer(&mut self, answers: Vec<ToolOutcome>) {
        let (Some(call), Some(answer)) = (self.open.take(), answers.into_iter().next()) else {
            return;
        };
        self.first = false;
        let data = match answer {
            ToolOutcome::Raw(data) => data,
            answer => Json::encode(&[entry(&call.function, &answer)]).unwrap_or_default(),
        };
        // The Workspace omits a call without state, and its result, from the next request.
        let state = call.extra_state.as_ref();
        let is_empty = state.is_none_or(|state| state.members().next().is_none());
        if call.function == WIDGET_DATA && is_empty {
            return;
        }
        self.request.messages.push(Message::ai_call(&call));
        self.request.messages.push(Message::tool(&call, data));
    }
}

/// Converts an artifact to an entry in the context of later requests.
fn context(artifact: &Artifact) -> ContextEntry {
    let mut format = DataFormat::default();
    format.data_type = "object".into();
    format.parse_as = artifact.kind.as_str().into();
    format.chart_params = artifact.chart_params.as_ref().map(Wire::to_raw);
    let source = &artifact.query_data_source;
    format.query_data_source.clone_from(source);
    // The content is JSON in a string: a text has quotes.
    let content = artifact.content.as_ref().map_or("null", Json::text);
    let data = serde_json::json!({ "items": [{ "content": content, "data_format": format }] });
    let mut entry = ContextEntry::default();
    entry.uuid.clone_from(&artifact.uuid);
    entry.name.clone_from(&artifact.name);
    entry.description.clone_from(&artifact.description);
    entry.data = Json::encode(&data).ok();
    entry
}

/// Formats a value for display: strings without quotes.
pub(super) fn plain(value: &Json) -> String {
    let string = value.string();
    string.map_or_else(|| value.text().to_owned(), Into::into)
}
