//! An emulated page with `useChat`.

use std::mem;

use bytes::Bytes;

use crate::front_end::typed_answer;
use crate::heard::effects;
use crate::vocabulary::text;
use crate::{CONVERSATION, Effect, FrontEnd, Next, ToolOutcome, post, question};
use copilot_wire::json::{Json, Wire};
use copilot_wire::protocol::{Confirmation, EventDecoder, EventError, ToolCall, ToolRun};
use copilot_wire::ui_stream::{
    Approval, ChatRequest, Data, Event, ToolInputAvailable, Trigger, UiMessage, UiPart, UiStream,
};

/// An emulated web page on the AI SDK: it stores the conversation as `useChat` does, runs its tools, answers approval
/// requests and sends results by itself.
///
/// The page is as strict as version 5.0.0. A truncated stream that the page would treat as complete, and a reply after
/// which it would post for ever, are [broken](Next::Broken) here.
#[derive(Debug)]
pub struct ChatPage {
    request: ChatRequest,
    /// The number of ids that the page has given to messages.
    ids: u64,
    /// The message of the assistant. `None` until the reply begins.
    message: Option<UiMessage>,
    /// `true` if the reply continues the last message of the conversation.
    continues: bool,
    /// The open blocks: their ids, and the index of their part in the message.
    open: Vec<(String, usize)>,
    /// The calls of the page's tools. The next field is the call of the question to the user.
    calls: Vec<String>,
    asked: Option<String>,
    failed: bool,
    over: bool,
    broken: Option<&'static str>,
    decoder: EventDecoder<UiStream>,
}

impl ChatPage {
    /// Creates a page with an empty chat.
    pub fn new() -> Self {
        Self::continuing(ChatRequest::default())
    }

    /// Creates a page that continues the conversation of a request.
    pub fn continuing(mut request: ChatRequest) -> Self {
        if request.id.is_empty() {
            request.id = CONVERSATION.to_owned();
        }
        if request.trigger.as_str().is_empty() {
            request.trigger = Trigger::SubmitMessage;
        }
        Self {
            request,
            ids: 0,
            message: None,
            continues: false,
            open: Vec::new(),
            calls: Vec::new(),
            asked: None,
            failed: false,
            over: false,
            broken: None,
            decoder: EventDecoder::new(),
        }
    }

    /// Returns the messages of the chat.
    pub fn messages(&self) -> &[UiMessage] {
        &self.request.messages
    }

    fn next_id(&mut self) -> String {
        self.ids += 1;
        format!("id-{}", self.ids)
    }

    /// Records the first fault that makes a real page fail.
    fn breaks(&mut self, why: &'static str) {
        self.broken.get_or_insert(why);
    }

    fn message(&mut self) -> &mut UiMessage {
        if self.message.is_none() {
            let continued = self.request.continued().cloned();
            self.continues = continued.is_some();
            let id = self.next_id();
            // A copy: the page stores the message at the end of the reply.
            self.message = Some(continued.unwrap_or_else(|| UiMessage::new(id, "assistant", [])));
        }
        self.message.get_or_insert_default()
    }

    fn put(&mut self, part: UiPart) {
        self.message().parts.push(part);
    }

    /// Adds a chunk as a part, with all of its members.
    fn keep(&mut self, chunk: &impl Wire) {
        self.put(UiPart::from_raw(&chunk.to_raw()).unwrap_or_default());
    }

    fn begin(&mut self, id: &str, kind: &str) {
        let at = self.message().parts.len();
        let mut part = UiPart::new(kind);
        part.text = Some(String::new());
        part.state = Some("streaming".into());
        self.put(part);
        self.open.push((id.to_owned(), at));
    }

    /// Returns the part of an open block.
    fn block(&mut self, id: &str) -> Option<&mut UiPart> {
        let found = self.open.iter().find(|(open, _)| open == id);
        let Some(at) = found.map(|(_, at)| *at) else {
            self.breaks("a piece of a block that is not open");
            return None;
        };
        self.message().parts.get_mut(at)
    }

    fn add(&mut self, id: &str, delta: &str) {
        if let Some(text) = self.block(id).and_then(|part| part.text.as_mut()) {
            text.push_str(delta);
        }
    }

    fn end(&mut self, id: &str) {
        if let Some(part) = self.block(id) {
            part.state = Some("done".into());
        }
        self.open.retain(|(open, _)| open != id);
    }

    /// Returns the part of a tool call.
    fn tool(&mut self, id: &str) -> Option<&mut UiPart> {
        let parts = self.message().parts.iter();
        // Searched from the end: a provider may use an id again in a later step.
        let mut parts = parts.rev();
        let found = parts.position(|part| part.tool_call_id.as_deref() == Some(id));
        let Some(back) = found else {
            self.breaks("a chunk of a tool call that there is none of");
            return None;
        };
        self.message().parts.iter_mut().rev().nth(back)
    }

    /// Sets the state of a tool call.
    fn turns(&mut self, id: &str, state: &str) {
        if let Some(part) = self.tool(id) {
            part.state = Some(state.into());
        }
    }

    fn called(&mut self, call: &ToolInputAvailable) {
        let name = &call.tool_name;
        let mut part = match call.dynamic {
            true => UiPart::new("dynamic-tool"),
            false => UiPart::new(format!("tool-{name}")),
        };
        part.tool = call.dynamic.then(|| name.clone());
        part.tool_call_id = Some(call.tool_call_id.clone());
        part.state = Some("input-available".into());
        part.input = Some(call.input.clone());
        part.provider_executed = call.provider_executed;
        let id = Some(&*call.tool_call_id);
        let mut parts = self.message().parts.iter_mut();
        match parts.find(|part| part.tool_call_id.as_deref() == id) {
            // Streamed arguments already have a part, which the complete call replaces.
            Some(started) => *started = part,
            None => self.put(part),
        }
    }

    /// Records the outcome of a tool call. A call of a question has no effect of its own.
    fn ended(&mut self, id: &str, outcome: Result<Json, String>) -> Vec<Effect> {
        let Some(part) = self.tool(id) else {
            return Vec::new();
        };
        settle(part, outcome.clone());
        let (name, arguments) = (part.tool_name().unwrap_or_default(), part.input.clone());
        let arguments = arguments.unwrap_or_default();
        let run = match outcome {
            Ok(output) => ToolRun::new(name, &arguments, &output),
            Err(message) => ToolRun::failed(name, &arguments, message),
        };
        let run = run.ok().filter(|_| part.approval.is_none());
        run.map(Effect::ToolRun).into_iter().collect()
    }

    fn data(&mut self, data: &Data) {
        if !data.transient {
            let mut part = UiPart::new(&*data.kind);
            part.id.clone_from(&data.id);
            part.data = Some(data.data.clone());
            let parts = &mut self.message().parts;
            let same = parts
                .iter_mut()
                // Data replaces earlier data with the same id, which is how a page shows progress.
                .find(|old| data.id.is_some() && (&old.kind, &old.id) == (&data.kind, &data.id));
            match same {
                Some(same) => *same = part,
                None => self.put(part),
            }
        }
    }

    /// Returns the parts of the last step.
    fn last_step(&self) -> &[UiPart] {
        let Some(message) = self.request.continued() else {
            return &[];
        };
        let mut steps = message.parts.rsplit(|part| part.kind == "step-start");
        steps.next().unwrap_or_default()
    }

    /// Returns `true` if all tools of the last step are finished. Version 5.0.0 then posts their results, after an
    /// error too.
    fn posts_for_ever(&self) -> bool {
        let tools = self.last_step().iter();
        let mut tools = tools.filter(|part| part.tool_name().is_some()).peekable();
        let finished = ["output-available", "output-error", "approval-responded"];
        let finished = |part: &UiPart| finished.iter().any(|state| is(part, state));
        tools.peek().is_some() && tools.all(finished)
    }

    /// Returns the next action of the page after a reply.
    fn then(&mut self) -> Next {
        let tools = |part: &&UiPart| part.tool_name().is_some();
        let pending = self.last_step().iter().filter(tools);
        let pending = pending.filter(|part| is(part, "input-available") && !part.provider_executed);
        let id = |part: &UiPart| part.tool_call_id.clone().unwrap_or_default();
        let calls: Vec<(String, ToolCall)> = pending
            .filter_map(|part| Some((id(part), call(part)?)))
            .collect();
        if !calls.is_empty() {
            let (ids, calls) = calls.into_iter().unzip();
            self.calls = ids;
            return Next::Calls(calls);
        }
        let mut parts = self.last_step().iter().rev();
        if let Some(part) = parts.find(|part| is(part, "approval-requested")) {
            let (asked, id) = (confirmation(part), id(part));
            self.asked = Some(id);
            return Next::Question(asked);
        }
        let text = self.request.continued().map(text_of).unwrap_or_default();
        question(&text).map_or(Next::Nothing, Next::Question)
    }
}

impl Default for ChatPage {
    fn default() -> Self {
        Self::new()
    }
}

impl FrontEnd for ChatPage {
    type Protocol = UiStream;

    const PATH: &'static str = "/api/chat";

    fn prompt(&mut self, text: &str) {
        let id = self.next_id();
        self.request.messages.push(UiMessage::user(id, text));
        self.request.message_id = None;
    }

    fn request(&self) -> http::Request<Bytes> {
        post(Self::PATH, self.request.to_json())
    }

    fn decode(&mut self, input: &mut &[u8]) -> Result<Option<Event>, EventError> {
        Ok(self.decoder.next(input)?.cloned())
    }

    fn receive(&mut self, event: &Event) -> Vec<Effect> {
        // A page reads nothing after an error, and nothing follows `[DONE]`.
        if self.failed {
            return Vec::new();
        }
        let effects = effects::<UiStream>(event);
        match event {
            Event::Start(start) => {
                let Some(id) = &start.message_id else {
                    return Vec::new();
                };
                let same = self.message().id == *id;
                if self.continues && !same {
                    self.breaks("the reply continues a message under another id");
                }
                self.message().id.clone_from(id);
            }
            Event::StartStep(_) => self.put(UiPart::new("step-start")),
            // The SDK drops its open blocks here, so a later piece of one fails.
            Event::FinishStep(_) => self.open.clear(),
            Event::TextStart(start) => self.begin(&start.id, "text"),
            Event::ReasoningStart(start) => self.begin(&start.id, "reasoning"),
            Event::TextDelta(piece) => {
                self.add(&piece.id, &piece.delta);
            }
            Event::ReasoningDelta(piece) => {
                self.add(&piece.id, &piece.delta);
            }
            Event::TextEnd(end) => self.end(&end.id),
            Event::ReasoningEnd(end) => self.end(&end.id),
            Event::SourceUrl(source) => self.keep(source),
            Event::SourceDocument(source) => self.keep(source),
            Event::File(file) => {
                self.keep(file);
                let kind = Json::encode(&file.media_type).unwrap_or_default();
                return vec![Effect::other("file", kind)];
            }
            Event::ToolInputStart(start) => {
                let (id, name) = (&*start.tool_call_id, &*start.tool_name);
                let mut call = ToolInputAvailable::new(id, name, Json::default());
                call.provider_executed = start.provider_executed;
                call.dynamic = start.dynamic;
                self.called(&call);
                self.turns(id, "input-streaming");
            }
            Event::ToolInputDelta(piece) => drop(self.tool(&piece.tool_call_id)),
            Event::ToolInputAvailable(call) => self.called(call),
            Event::ToolOutputAvailable(output) => {
                return self.ended(&output.tool_call_id, Ok(output.output.clone()));
            }
            Event::ToolOutputError(output) => {
                return self.ended(&output.tool_call_id, Err(output.error_text.clone()));
            }
            Event::ToolApprovalRequest(request) => {
                if let Some(part) = self.tool(&request.tool_call_id) {
                    part.state = Some("approval-requested".into());
                    let approval = part.approval.insert(Approval::default());
                    approval.id.clone_from(&request.approval_id);
                }
            }
            Event::ToolOutputDenied(output) => self.turns(&output.tool_call_id, "output-denied"),
            Event::MessageMetadata(chunk) => {
                self.message().metadata = Some(chunk.metadata.clone());
                if chunk.metadata.get("usage").is_none() {
                    return vec![Effect::other("metadata", chunk.metadata.clone())];
                }
            }
            Event::Data(data) => {
                self.data(data);
                if effects.is_empty() {
                    let name = format!("data-{}", data.name());
                    return vec![Effect::other(name, data.data.clone())];
                }
            }
            Event::Error(_) => self.failed = true,
            Event::Finish(_) | Event::Abort(_) => self.over = true,
            Event::ToolInputError(_) | Event::Unknown(_) => {
                self.breaks("a chunk that version 5.0.0 does not know");
            }
            _ => {}
        }
        effects
    }

    fn next(&mut self) -> Next {
        self.decoder = EventDecoder::new();
        self.open.clear();
        let (failed, over) = (mem::take(&mut self.failed), mem::take(&mut self.over));
        if let Some(mut message) = self.message.take() {
            // A page registers a step only with its first part.
            let steps = message.parts.iter().rev();
            let hidden = steps.take_while(|part| part.kind == "step-start").count();
            let seen = message.parts.len() - hidden;
            message.parts = message.parts.into_iter().take(seen).collect();
            match self.request.messages.last_mut() {
                Some(last) if mem::take(&mut self.continues) => *last = message,
                _ => self.request.messages.push(message),
            }
        }
        match mem::take(&mut self.broken) {
            Some(why) => Next::Broken(why),
            None if self.posts_for_ever() => Next::Broken(ENDLESS),
            None if failed => Next::Nothing,
            None if !over => Next::Broken("the stream ended without finish: it looks complete"),
            None => self.then(),
        }
    }

    fn answer(&mut self, answers: Vec<ToolOutcome>) {
        for (id, answer) in mem::take(&mut self.calls).into_iter().zip(answers) {
            let Some(part) = self.sent(&id) else { continue };
            let outcome = match answer {
                ToolOutcome::Failed(why) => Err(why),
                ToolOutcome::Data(json) | ToolOutcome::Raw(json) => Ok(json),
                ToolOutcome::Text(text) => Ok(Json::encode(&text).unwrap_or_default()),
            };
            settle(part, outcome);
        }
    }

    fn decide(&mut self, question: &Confirmation, accepted: bool) {
        let Some(id) = self.asked.take() else {
            return self.prompt(typed_answer(question, accepted));
        };
        if let Some(part) = self.sent(&id) {
            part.state = Some("approval-responded".into());
            part.approval.get_or_insert_default().approved = Some(accepted);
        }
    }
}

impl ChatPage {
    /// Returns a tool part of the last message, which is sent again with its result.
    fn sent(&mut self, id: &str) -> Option<&mut UiPart> {
        let message = self.request.messages.last_mut()?;
        // The SDK sends the id of the message whose parts it has changed.
        self.request.message_id = Some(message.id.clone());
        let mut parts = message.parts.iter_mut();
        parts.find(|part| part.tool_call_id.as_deref() == Some(id))
    }
}

/// The fault of a reply after which a page posts without end.
const ENDLESS: &str = "the last step has finished tools only: the page posts for ever";

/// Sets the outcome of a tool call.
fn settle(part: &mut UiPart, outcome: Result<Json, String>) {
    match outcome {
        Ok(output) => {
            part.state = Some("output-available".into());
            part.output = Some(output);
        }
        Err(why) => {
            part.state = Some("output-error".into());
            part.error_text = Some(why);
        }
    }
}

/// Converts a call to the shared vocabulary.
fn call(part: &UiPart) -> Option<ToolCall> {
    let arguments = part.input.clone().unwrap_or_default();
    ToolCall::new(part.tool_name().unwrap_or_default(), &arguments).ok()
}

/// Returns `true` if a part has this state.
fn is(part: &UiPart, state: &str) -> bool {
    part.state.as_deref() == Some(state)
}

/// Returns all text of a message. Every text part is a separate block.
fn text_of(message: &UiMessage) -> String {
    let texts = message.parts.iter().filter(|part| part.kind == "text");
    let texts = texts.filter_map(|part| part.text.as_deref().filter(|text| !text.is_empty()));
    texts.collect::<Vec<_>>().join("\n\n")
}

/// Converts an approval request to a question: its id, and the texts of the input.
fn confirmation(part: &UiPart) -> Confirmation {
    let part_of = |input: &Json, name: &str| text(input, name).unwrap_or_default();
    let input = part.input.clone().unwrap_or_default();
    let id = part.approval.as_ref().map(|approval| approval.id.clone());
    let (title, message) = (part_of(&input, "title"), part_of(&input, "message"));
    Confirmation::new(id.unwrap_or_default(), title, message)
}
