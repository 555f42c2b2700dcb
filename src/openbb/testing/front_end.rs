//! The OpenBB Workspace.

use std::mem;

use bytes::Bytes;
use http::HeaderValue;

use crate::json::model::Field;
use crate::json::{Json, Members};
use crate::openbb::{
    Artifact, ArtifactType, Citation, Context, ContextEntry, DataFormat, Event, EventType,
    FunctionCall, Message, OpenBb, QueryRequest, Role, Say, StatusUpdate, Tier, Tiers, Widget,
    Widgets,
};
use crate::protocol::{self, EventDecoder, EventError, Status, Table, ToolCall};
use crate::testing::{Answer, CONVERSATION, FrontEnd, Heard, Next, post, question};

/// The OpenBB Workspace of today: a dashboard with widgets, and a chat beside it.
///
/// It answers calls of `get_widget_data` for the widgets whose data it was given.
#[derive(Debug)]
pub struct Workspace {
    request: QueryRequest,
    data: Vec<(String, Answer)>,
    trace: String,
    said: String,
    called: Option<FunctionCall>,
    /// The call of the turn before, while it has no answer.
    open: Option<FunctionCall>,
    /// Whether the newest message is the user's, not the result of a call.
    first: bool,
    decoder: EventDecoder<OpenBb>,
}

/// The function that the Workspace answers from its widgets.
const WIDGET_DATA: &str = "get_widget_data";

impl Workspace {
    /// An empty dashboard.
    #[must_use]
    pub fn new() -> Self {
        Self::continuing(QueryRequest::default())
    }

    /// A dashboard with the widgets, tools and options of a request; its messages count as said.
    #[must_use]
    pub fn continuing(request: QueryRequest) -> Self {
        Self {
            request,
            data: Vec::new(),
            trace: CONVERSATION.into(),
            said: String::new(),
            called: None,
            open: None,
            first: true,
            decoder: EventDecoder::new(),
        }
    }

    /// Sets the id of the chat, which is otherwise always the same: for an agent that has several
    /// conversations, or outlives the test.
    #[must_use]
    pub fn conversation_id(mut self, id: impl Into<String>) -> Self {
        self.trace = id.into();
        self
    }

    /// Puts a widget on the dashboard, with the data that it has.
    #[must_use]
    pub fn widget(mut self, tier: Tier, widget: Widget, data: Answer) -> Self {
        if let Some(id) = widget.id() {
            self.data.push((id.into_owned(), data));
        }
        let mut tiers = match self.request.widgets.take() {
            Some(Widgets::Tiers(tiers)) => tiers,
            Some(Widgets::Flat(secondary)) => Tiers {
                secondary,
                ..Tiers::default()
            },
            None => Tiers::default(),
        };
        match tier {
            Tier::Primary => tiers.primary.push(widget),
            Tier::Secondary => tiers.secondary.push(widget),
            Tier::Extra => tiers.extra.push(widget),
        }
        self.request.widgets = Some(Widgets::Tiers(tiers));
        self
    }

    /// What was said so far becomes a message.
    fn settle(&mut self) -> Option<protocol::Confirmation> {
        let said = mem::take(&mut self.said);
        if said.is_empty() {
            return None;
        }
        self.request.messages.push(Message::ai(&said));
        question(&said)
    }

    fn status(&mut self, status: &StatusUpdate) -> Vec<Heard> {
        if status.event_type == EventType::Error {
            // Meant for a context that overflowed: the newest call and its result are forgotten.
            let mut messages: Vec<_> = mem::take(&mut self.request.messages).into_iter().collect();
            if let Some(at) = messages.iter().rposition(|m| *m.role() == Role::Tool) {
                messages.drain(at.saturating_sub(1)..=at);
            }
            self.request.messages = messages.into_iter().collect();
        }
        if status.hidden {
            return Vec::new();
        }
        let mut step = match status.event_type {
            EventType::Info => Status::new(&status.message),
            _ => Status::warning(&status.message),
        };
        let details = status.details.iter().flat_map(|details| details.iter());
        for (name, value) in details.flat_map(Json::members) {
            step = step.detail(name, plain(&value));
        }
        let artifacts = status.artifacts.iter().flat_map(|list| list.iter());
        let artifacts: Vec<_> = artifacts.map(artifact).collect();
        std::iter::once(Heard::Status(step))
            .chain(artifacts)
            .collect()
    }

    /// The next request takes an artifact along; in the text its name stands where it was shown.
    fn keep(&mut self, artifact: &Artifact) {
        self.said.push_str("<|start_artifact_id|>");
        self.said.push_str(&artifact.name);
        self.said.push_str("<|end_artifact_id|>");
        if artifact.kind == ArtifactType::App {
            return;
        }
        let mut entries = match self.request.context.take() {
            Some(Context::Entries(entries)) => entries,
            _ => Default::default(),
        };
        entries.push(context(artifact));
        self.request.context = Some(Context::Entries(entries));
    }

    /// The data of the widget that a source of a call names.
    fn data_of(&self, source: &Json) -> Option<&Answer> {
        let text = |key: &str| Some(source.get(key)?.string()?.into_owned());
        let id = text("widget_uuid").or_else(|| {
            let (origin, widget) = (text("origin")?, text("id")?);
            let mut widgets = self.request.widgets();
            let found = widgets.find(|(_, w)| w.origin == origin && w.widget_id == widget);
            found?.1.id().map(Into::into)
        })?;
        let mut data = self.data.iter();
        data.find(|(own, _)| *own == id).map(|(_, data)| data)
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

    fn say(&mut self, text: &str) {
        self.first = true;
        // Who types on has not answered.
        self.open = None;
        // What the input field of the Workspace makes of a typed text.
        let text = text.replace('\u{a0}', " ").replace('\u{2011}', "-");
        self.request.messages.push(Message::human(&text));
    }

    fn request(&self) -> http::Request<Bytes> {
        let mut query = self.request.clone();
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
        self.decoder.next(input)
    }

    fn hear(&mut self, event: &Event) -> Vec<Heard> {
        let say = match event {
            Event::Say(say) => say,
            Event::FunctionCall(call) => {
                self.settle();
                self.called = Some(call.clone());
                return Vec::new();
            }
        };
        match say {
            Say::MessageChunk(text) => {
                self.said.push_str(text);
                vec![Heard::Text(text.clone())]
            }
            Say::StatusUpdate(update) => {
                self.settle();
                self.status(update)
            }
            Say::MessageArtifact(shown) => {
                self.keep(shown);
                vec![artifact(shown)]
            }
            Say::CitationCollection(collection) => {
                let citations = collection.citations.iter();
                // The Workspace shows no citation without an id.
                let citations = citations.filter(|citation| !citation.id.is_empty());
                let heard = citations.map(|citation| {
                    self.said.push_str("<|start_citation_id|>");
                    self.said.push_str(&citation.id);
                    self.said.push_str("<|end_citation_id|>");
                    cited(citation)
                });
                heard.collect()
            }
            Say::PromptSuggestions(prompts) => {
                vec![Heard::Suggestions(
                    prompts.suggestions.iter().cloned().collect(),
                )]
            }
            Say::TokenUsage(usage) => vec![Heard::other("copilotTokenUsage", usage.to_raw())],
            Say::ConversationSummary(summary) => {
                vec![Heard::other("copilotConversationSummary", summary.to_raw())]
            }
            Say::Raw(raw) => vec![Heard::other(raw.name(), raw.data().clone())],
        }
    }

    fn next(&mut self) -> Next {
        self.decoder = EventDecoder::new();
        let asked = self.settle();
        self.open = self.called.take();
        if let Some(call) = &self.open {
            return Next::Calls(vec![ToolCall {
                name: call.function.clone(),
                arguments: call.input_arguments.clone(),
            }]);
        }
        asked.map_or(Next::Nothing, Next::Question)
    }

    fn own_answer(&self, call: &ToolCall) -> Option<Answer> {
        if call.name != WIDGET_DATA {
            return None;
        }
        let sources = call.arguments.get("data_sources")?;
        let answers = sources.elements().map(|source| {
            let data = self.data_of(&source)?;
            Some(entry(WIDGET_DATA, data))
        });
        let answers: Vec<Json> = answers.collect::<Option<_>>()?;
        Json::encode(&answers).ok().map(Answer::Raw)
    }

    fn answer(&mut self, answers: Vec<Answer>) {
        let (Some(call), Some(answer)) = (self.open.take(), answers.into_iter().next()) else {
            return;
        };
        self.first = false;
        let data = match answer {
            Answer::Raw(data) => data,
            answer => Json::encode(&[entry(&call.function, &answer)]).unwrap_or_default(),
        };
        // The Workspace leaves this pair out of the next request.
        let state = call.extra_state.as_ref();
        if call.function == WIDGET_DATA
            && state.is_none_or(|state| state.members().next().is_none())
        {
            return;
        }
        self.request.messages.push(Message::ai_call(&call));
        self.request.messages.push(Message::tool(&call, data));
    }

    fn decide(&mut self, accepted: bool) {
        self.say(if accepted { "Yes" } else { "No" });
    }
}

/// One entry of a result, as the function has it.
fn entry(function: &str, answer: &Answer) -> Json {
    let reads = [
        WIDGET_DATA,
        "get_extra_widget_data",
        "get_params_options",
        "execute_agent_tool",
    ];
    let entry = match answer {
        Answer::Raw(json) => return json.clone(),
        Answer::Failed(why) if reads.contains(&function) => {
            serde_json::json!({ "error_type": "unexpected_error", "content": why })
        }
        Answer::Failed(why) => serde_json::json!({ "status": "error", "message": why }),
        Answer::Data(data) if reads.contains(&function) => {
            serde_json::json!({ "items": [{ "content": data.text() }] })
        }
        Answer::Text(text) if reads.contains(&function) => serde_json::json!({
            "items": [{
                "content": text,
                "data_format": { "data_type": "object", "parse_as": "text" },
            }],
        }),
        Answer::Data(data) => return done(data),
        Answer::Text(text) => serde_json::json!({ "status": "success", "message": text }),
    };
    Json::encode(&entry).unwrap_or_default()
}

/// A command that was carried out, with what it gave.
fn done(data: &Json) -> Json {
    let mut entry = Members::new();
    entry.push("status", Json::parse("\"success\"").unwrap_or_default());
    entry.push("data", data.clone());
    Json::encode(&entry).unwrap_or_default()
}

/// An artifact as it comes back in later requests.
fn context(artifact: &Artifact) -> ContextEntry {
    let format = DataFormat {
        data_type: "object".into(),
        parse_as: artifact.kind.as_str().into(),
        chart_params: artifact.chart_params.as_ref().map(Field::to_raw),
        query_data_source: artifact.query_data_source.clone(),
        ..DataFormat::default()
    };
    let content = artifact.content.as_ref().map_or("null", Json::text);
    let data = serde_json::json!({ "items": [{ "content": content, "data_format": format }] });
    ContextEntry {
        uuid: artifact.uuid.clone(),
        name: artifact.name.clone(),
        description: artifact.description.clone(),
        data: Json::encode(&data).ok(),
        ..ContextEntry::default()
    }
}

fn artifact(artifact: &Artifact) -> Heard {
    let rows = artifact.content.clone().unwrap_or_default();
    let table = Table {
        name: artifact.name.clone(),
        description: Some(artifact.description.clone()).filter(|text| !text.is_empty()),
        rows,
    };
    match artifact.kind {
        ArtifactType::Table => Heard::Table(table),
        ArtifactType::Chart => Heard::Chart(table),
        _ => Heard::other("artifact", artifact.to_raw()),
    }
}

fn cited(citation: &Citation) -> Heard {
    let source = &citation.source_info;
    let names = [&source.name, &source.widget_id, &source.origin];
    let name = names.into_iter().find(|name| !name.is_empty());
    let mut heard = protocol::Citation::new(name.map_or("", String::as_str));
    if source.kind == "web" {
        heard.url = Some(source.name.clone());
    }
    heard.document = Some(source.uuid.clone()).filter(|id| !id.is_empty());
    Heard::Citation(heard)
}

/// A value as a reader would write it: strings without quotes.
fn plain(value: &Json) -> String {
    let string = value.string();
    string.map_or_else(|| value.text().to_owned(), Into::into)
}
