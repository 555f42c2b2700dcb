//! Responses as a dialect of models.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use bytes::Bytes;

use super::stored_turn::is_own_id;
use super::{
    ContentPart, ErrorObject, Event, EventKind, Item, Reply, Response, Responses, ResponsesRequest,
    StreamEvent, Tool,
};
use crate::json::{Json, Kind, List, Members, Wire};
use crate::models::{self, Names, Profile, Prompt, PromptResult, Upstream};
use crate::protocol::{
    self, Call, CallDelta, CallForm, Citation, CompletedItem, Completion, Content, Conversation,
    Cut, Delta, Failure, FrameKind, Native, NativeForm, Part, Session, ToolChoice, Usage,
};

/// A relay of another server's events into a reply.
pub type Relay = models::Relay<Responses>;

/// The value of `include` that asks for reasoning in encrypted form.
const ENCRYPTED: &str = "reasoning.encrypted_content";

impl Upstream for Responses {
    const PROVIDER: &'static str = "openai";

    fn prompt(conversation: &impl Conversation, profile: &Profile) -> ResponsesRequest {
        ResponsesRequest::for_profile(conversation, profile)
    }

    fn document(document: &Json) -> Option<Vec<Event>> {
        let response = Response::from_raw(document).filter(|it| !it.status.is_empty())?;
        let mut events: Vec<_> = (0..)
            .zip(&response.output)
            .flat_map(|(index, item)| {
                let parts = item.content.parts().iter();
                let annotations = parts.flat_map(|part| part.annotations.iter().flatten());
                let mut events: Vec<_> = annotations
                    .map(|annotation| {
                        let mut added = StreamEvent::new(EventKind::AnnotationAdded);
                        added.output_index = Some(index);
                        added.annotation = Some(Box::new(annotation.clone()));
                        added
                    })
                    .collect();
                let mut done = StreamEvent::new(EventKind::ItemDone);
                done.output_index = Some(index);
                done.item = Some(Box::new(item.clone()));
                events.push(done);
                events.into_iter().map(Event::from)
            })
            .collect();
        let kind = match &*response.status {
            "failed" => EventKind::Failed,
            "incomplete" => EventKind::Incomplete,
            _ => EventKind::Completed,
        };
        let mut end = StreamEvent::new(kind);
        end.response = Some(document.clone());
        events.push(Event::Stream(Box::new(end)));
        Some(events)
    }

    fn follow(session: &mut Session<Reply>, event: &Event) -> FrameKind {
        session.follow().0.follow(event)
    }

    fn native(event: &Event) -> Option<StreamEvent> {
        let event = event.stream()?;
        let is_call = event
            .item
            .as_ref()
            .is_some_and(|item| item.client_tool().is_some());
        // Reasons that every dialect has are written at the end of the relay.
        let cut = || event.response().and_then(|it| cut(&it));
        let is_end = event.kind == EventKind::Incomplete && cut() != Some(Cut::Other);
        (!is_call && !is_end).then(|| event.clone())
    }
}

impl Prompt for ResponsesRequest {
    type Upstream = Responses;

    const LIMITS: &'static [&'static str] = &["max_output_tokens"];

    /// Copies a request for a server that shall not store it. The copy has all items, without the ids that this crate
    /// has assigned, and without reasoning that only a server with stored items can read.
    fn again(&self) -> Self {
        let mut request = self.clone();
        request.input = match std::mem::take(&mut request.input) {
            Content::Parts(items) => {
                let items = items.into_iter().filter(Item::is_readable).map(|mut item| {
                    item.id.take_if(|id| is_own_item(&item.kind, id));
                    item
                });
                Content::Parts(items.collect())
            }
            text => text,
        };
        (request.previous_response_id, request.conversation) = (None, None);
        let unknown = &mut request.unknown;
        unknown.retain(|name| !matches!(name, "previous_response_id" | "background" | "store"));
        unknown.push("store", false.to_raw());
        request
    }

    fn conform(&mut self, profile: &Profile, names: &mut Names) {
        super::profile::conform(self, profile, names);
    }

    /// Also requests reasoning in encrypted form if the model shall reason and the answer is not stored.
    fn body(&mut self, is_stream: bool) -> Bytes {
        self.stream = Some(is_stream);
        self.include_reasoning();
        self.to_json()
    }

    fn extend(&mut self, answer: Completion, calls: Vec<(Call<'_>, PromptResult<'_>)>) {
        self.extend(Response::from(answer).output, calls);
    }

    fn offer(&mut self, tools: Vec<protocol::Tool<'_>>) {
        let names: HashSet<_> = tools.iter().map(|tool| &*tool.name).collect();
        let is_other = |tool: &Tool| {
            let name = tool.name.as_deref().filter(|_| tool.kind == "function");
            name.is_none_or(|name| !names.contains(name))
        };
        self.tools.retain(is_other);
        self.tools.extend(tools.into_iter().map(Tool::from));
    }

    fn choose(&mut self, choice: &ToolChoice<'_>) {
        self.choose(choice);
    }
}

impl ResponsesRequest {
    /// Requests reasoning in encrypted form if the model shall reason and its answer is not stored: only in this form it
    /// can go back to the server.
    fn include_reasoning(&mut self) {
        let reasons = self
            .unknown
            .get("reasoning")
            .is_some_and(|it| !it.is_null());
        if !reasons || self.is_stored() {
            return;
        }
        let include = self.unknown.get("include").cloned().unwrap_or_default();
        let wanted = Json::encode(ENCRYPTED).unwrap_or_default();
        let others = include.elements().filter(|it| *it != wanted);
        let include: List<Json> = others.chain([wanted.clone()]).collect();
        self.unknown.set("include", include.to_raw());
    }
}

/// Returns `true` for an id that this crate has assigned, in an item that needs none.
fn is_own_item(kind: &str, id: &str) -> bool {
    let needs_none = matches!(kind, "" | "message" | "reasoning")
        || kind.starts_with("function_call")
        || kind.starts_with("custom_tool_call");
    needs_none && is_own_id(id)
}

/// Reads the pieces of an event.
pub(super) fn deltas(event: &Event, to: &mut dyn FnMut(Delta<'_>)) {
    // The answer has an end of its own, and some servers write `[DONE]` after it or elsewhere.
    let Event::Stream(event) = event else {
        return;
    };
    let delta = event.delta.as_deref().unwrap_or_default();
    let key = event.output_index.unwrap_or(0);
    let response = event.response.as_ref();
    if let Some(response) = response.filter(|it| it.kind() == Kind::Object) {
        let members = || response.to_raw();
        let native = Native::of_answer(NativeForm::Latest, &members);
        to(Delta::Native(native));
    }
    match event.item.as_deref() {
        Some(item) => to(Delta::Native(Native::of_item(
            key,
            NativeForm::Whole,
            &|| item.to_raw(),
        ))),
        None => to(Delta::Item(key)),
    }
    match &event.kind {
        EventKind::TextDelta | EventKind::RefusalDelta => to(Delta::Text(delta)),
        EventKind::SummaryDelta | EventKind::ReasoningDelta => {
            to(Delta::Part(Part::Reasoning(delta)));
        }
        EventKind::ArgumentsDelta => {
            let call = CallDelta::new(key, "", "", delta);
            to(Delta::Call(call.form(CallForm::Open)));
        }
        EventKind::ItemAdded | EventKind::ItemDone => {
            let is_done = event.kind == EventKind::ItemDone;
            if let Some(item) = event.item.as_deref() {
                if is_done && item.is_message() {
                    to(Delta::ItemText(&said(item)));
                }
                item_deltas(key, item, is_done, to);
            }
        }
        EventKind::AnnotationAdded => {
            if let Some(source) = event.annotation.as_deref() {
                let mut citation = Citation::new(source.title.clone().unwrap_or_default());
                citation.url.clone_from(&source.url);
                to(Delta::Part(Part::Cite(&citation)));
            }
        }
        EventKind::Completed | EventKind::Incomplete => {
            let response = event.response();
            if let Some(response) = &response {
                to(Delta::Model(&response.model));
                let messages = response.output.iter().filter(|item| item.is_message());
                to(Delta::WholeText(&messages.map(said).collect::<String>()));
                for (key, item) in (0..).zip(&response.output) {
                    item_deltas(key, item, true, to);
                }
            }
            if let Some(cut) = response.as_ref().and_then(cut) {
                to(Delta::Part(Part::Cut(cut)));
            }
            // Responses in earlier events have no usage, or only a partial one.
            if let Some(usage) = response.and_then(|it| it.usage) {
                to(Delta::Part(Part::Usage(&Usage::from(&usage))));
            }
            to(Delta::Finished { needs_end: false });
            to(Delta::End);
        }
        EventKind::Failed | EventKind::Error => {
            to(Delta::Failed(
                event.error().unwrap_or_default().as_failure(),
            ));
        }
        // Some servers omit the type.
        EventKind::Other(name) if name.is_empty() => {
            if let Some(error) = event.error() {
                to(Delta::Failed(error.as_failure()));
            }
        }
        _ => {}
    }
}

impl From<Completion> for Response {
    /// Creates the response of an answer. Items that did not end are incomplete and have what was read of them.
    fn from(completion: Completion) -> Self {
        let calls = completion.partial_calls().into_iter();
        let mut calls: BTreeMap<_, _> = calls.map(|call| (call.key(), call.arguments)).collect();
        let (answer, items) = completion.into_items();
        let mut response = Self::from_raw(&answer).unwrap_or_default();
        let items = items.into_iter().filter(|item| !item.members.is_null());
        let items: List<Item> = items.map(|read| complete(read, &mut calls)).collect();
        // Not every server repeats the items in its last event.
        if response.output.len() < items.len() {
            response.output = items;
        }
        response
    }
}

fn complete(read: CompletedItem, calls: &mut BTreeMap<u64, String>) -> Item {
    let mut item = Item::from_raw(&read.members).unwrap_or_default();
    if item.status.as_deref() != Some("in_progress") {
        return item;
    }
    item.status = Some("incomplete".into());
    if item.is_call() {
        item.arguments = calls.remove(&read.key);
    } else if item.is_message() {
        item.content = vec![ContentPart::output_text(read.text.unwrap_or_default())].into();
    } else if item.kind == "reasoning" {
        let text = read.reasoning.unwrap_or_default();
        item.summary = Some(Box::new(
            vec![ContentPart::new("summary_text", text)].into(),
        ));
    }
    item
}

/// Returns the text of a message, and of its refusal.
fn said(item: &Item) -> String {
    let parts = item.content.parts().iter();
    parts.filter_map(ContentPart::said).collect()
}

/// Reads a call that the client may have to run.
fn item_deltas(key: u64, item: &Item, is_done: bool, to: &mut dyn FnMut(Delta<'_>)) {
    if item.client_tool().is_none() {
        return;
    }
    let name = item.full_name();
    let id = item.call_id.as_deref().unwrap_or_default();
    let mut call = CallDelta::new(key, id, "", "");
    call.form = match is_done {
        true => CallForm::Whole,
        false => CallForm::Open,
    };
    let mut other = None;
    if item.is_call() {
        // A call of another kind has no name: it must not be taken for one of a function.
        call.name = &name;
        call.arguments = item.arguments.as_deref().unwrap_or_default();
        call.members = Cow::Borrowed(&item.unknown);
    } else {
        let input = item
            .unknown
            .get("input")
            .or_else(|| item.unknown.get("action"));
        let text = input.map(|input| match input.string() {
            Some(text) => text.into_owned(),
            None => input.text().to_owned(),
        });
        other = text;
        // The item itself, for a client of the same dialect.
        let members = item.to_raw();
        let members: Members = members.members().collect();
        call.members = Cow::Owned(members);
    }
    if let Some(text) = &other {
        call.arguments = text;
    }
    if is_done && item.status.as_deref() == Some("incomplete") {
        to(Delta::Part(Part::Cut(Cut::Other)));
    }
    to(Delta::Call(call));
}

/// Returns the reason why a response is not complete; `None` if it is complete.
fn cut(response: &Response) -> Option<Cut> {
    let details = response.incomplete_details.as_ref();
    match (&*response.status, details.map(|it| &*it.reason)) {
        ("incomplete", Some("content_filter")) => Some(Cut::Filter),
        ("incomplete", Some("max_output_tokens") | None) => Some(Cut::Length),
        ("incomplete" | "cancelled" | "failed" | "in_progress" | "queued", _) => Some(Cut::Other),
        _ => None,
    }
}

impl ErrorObject {
    fn as_failure(&self) -> Failure<'_> {
        Failure {
            too_long: self.is_too_long(),
            code: self.code.as_deref().or(self.kind.as_deref()),
            ..Failure::new(&self.message)
        }
    }
}
