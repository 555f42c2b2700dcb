//! A chat client of Meilisearch.

use std::mem;

use bytes::Bytes;

use crate::json::Json;
use crate::meilisearch::{
    ChatRequest, Event, History, Meilisearch, Message, Outcome, Tools, Unknown, escape,
};
use crate::protocol::{Citation, EventDecoder, EventError, Notice, Status};
use crate::testing::{Answer, FrontEnd, Heard, Next, post, question};

/// A chat client of Meilisearch: it keeps the history that the server asks it to keep.
#[derive(Debug)]
pub struct SearchChat {
    workspace: String,
    /// Everything but the messages, which are the history's.
    request: ChatRequest,
    history: History,
    said: String,
    decoder: EventDecoder<Meilisearch>,
}

impl SearchChat {
    /// A client of this workspace with all notifications on.
    #[must_use]
    pub fn new(workspace: impl Into<String>) -> Self {
        let request = ChatRequest::new("gpt-4o-mini", []).tools(Tools::ALL);
        Self::continuing(workspace, request)
    }

    /// A client with the model, notifications and parameters of a request; its messages count as
    /// said.
    #[must_use]
    pub fn continuing(workspace: impl Into<String>, mut request: ChatRequest) -> Self {
        let said = mem::take(&mut request.messages);
        Self {
            workspace: workspace.into(),
            request,
            history: said.into(),
            said: String::new(),
            decoder: EventDecoder::new(),
        }
    }

    /// The model to ask for.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.request.model = model.into();
        self
    }

    /// The notifications to switch on.
    #[must_use]
    pub fn tools(mut self, tools: Tools) -> Self {
        self.request.tools = tools;
        self
    }
}

impl FrontEnd for SearchChat {
    type Protocol = Meilisearch;

    const PATH: &'static str = "/chats/{workspace}/chat/completions";

    fn say(&mut self, text: &str) {
        self.history.push(Message::user(text));
    }

    fn request(&self) -> http::Request<Bytes> {
        let path = Self::PATH.replace("{workspace}", &escape(&self.workspace));
        let mut request = self.request.clone();
        request.messages = self.history.messages();
        post(&path, request.to_json())
    }

    fn decode(&mut self, input: &mut &[u8]) -> Result<Option<Event>, EventError> {
        self.decoder.next(input)
    }

    fn hear(&mut self, event: &Event) -> Vec<Heard> {
        self.history.apply(event);
        match event {
            Event::Text(text) | Event::Refusal(text) => {
                self.said.push_str(text);
                vec![Heard::Text(text.clone())]
            }
            Event::Progress(progress) => {
                let words = progress.search().ok().and_then(|search| search.q);
                let words = words.unwrap_or_default();
                vec![Heard::Status(Status::new(format!(
                    "Searching for {words:?}"
                )))]
            }
            Event::Sources(sources) => sources.iter().map(|found| source(&found)).collect(),
            Event::Error(failure) => {
                let notice = Notice::new(&failure.message).code(failure.kind.clone());
                vec![Heard::Error(notice)]
            }
            Event::Unknown(Unknown::Call(call)) => {
                let arguments = Json::encode(&call.arguments).unwrap_or_default();
                vec![Heard::other(call.name.clone(), arguments)]
            }
            Event::Unknown(Unknown::Frame(frame)) => vec![Heard::other("frame", frame.clone())],
            Event::Append(_) | Event::RoundBreak | Event::Finish(_) | Event::Done => Vec::new(),
        }
    }

    fn next(&mut self) -> Next {
        self.history.settle();
        let said = mem::take(&mut self.said);
        match mem::take(&mut self.decoder).decoder().outcome() {
            Outcome::Answered(_) => question(&said).map_or(Next::Nothing, Next::Question),
            // The failure has been heard.
            Outcome::Failed(_) => Next::Nothing,
            Outcome::Incomplete => Next::Broken("the stream ended without a finish_reason"),
            Outcome::Truncated => Next::Broken("the stream ended without [DONE]"),
        }
    }

    /// A client of Meilisearch runs no tools.
    fn answer(&mut self, _: Vec<Answer>) {}

    fn decide(&mut self, accepted: bool) {
        self.say(if accepted { "yes" } else { "no" });
    }
}

/// A document; its title is under one of the usual names.
fn source(found: &Json) -> Heard {
    let text = |names: &[&str]| {
        let mut values = names.iter().filter_map(|name| found.get(name));
        values.find_map(|value| value.string().map(std::borrow::Cow::into_owned))
    };
    let title = text(&["title", "name", "label", "headline", "id"]);
    let mut citation = Citation::new(title.unwrap_or_else(|| found.text().to_owned()));
    citation.url = text(&["url", "link", "href"]);
    Heard::Citation(citation)
}
