//! An emulated app with `@ag-ui/client`.

use std::mem;

use bytes::Bytes;
use serde_json::Value;

use super::state::apply;
use super::verify::Verify;
use crate::call::tool_call;
use crate::front_end::typed_answer;
use crate::heard::effects;
use crate::vocabulary::text;
use crate::{CONVERSATION, Effect, FrontEnd, Next, ToolOutcome, post, question};
use copilot_wire::ag_ui::{
    AgUi, Content, Event, Interrupt, Message, ResumeEntry, RunAgentInput, ToolCall, ToolCallResult,
    ToolCallStart,
};
use copilot_wire::json::{Json, Wire};
use copilot_wire::protocol::{
    self, Confirmation, Conversation as _, EventDecoder, EventError, FrameEvent as _, HistoryItem,
    Role, ToolRun,
};

/// An emulated AG-UI app: it stores messages and state as `@ag-ui/client` does, runs its tools and answers interrupts.
///
/// The app verifies the order of events as the client does. A truncated stream, which the client treats as complete,
/// is [broken](Next::Broken) here.
#[derive(Debug)]
pub struct App {
    input: RunAgentInput,
    /// The number of ids that the app has given to messages.
    ids: u64,
    runs: u64,
    verify: Verify,
    /// The ids of the calls of this run that have no result.
    calls: Vec<String>,
    interrupts: Vec<Interrupt>,
    failed: bool,
    broken: Option<&'static str>,
    decoder: EventDecoder<AgUi>,
}

impl App {
    /// Creates an app with an empty conversation.
    pub fn new() -> Self {
        Self::continuing(RunAgentInput::new("", "", []))
    }

    /// Creates an app that continues the conversation of a request.
    pub fn continuing(mut input: RunAgentInput) -> Self {
        if input.thread_id.is_empty() {
            input.thread_id = CONVERSATION.to_owned();
        }
        if input.run_id.is_empty() {
            input.run_id = "run-1".to_owned();
        }
        Self {
            input,
            ids: 0,
            runs: 1,
            verify: Verify::default(),
            calls: Vec::new(),
            interrupts: Vec::new(),
            failed: false,
            broken: None,
            decoder: EventDecoder::new(),
        }
    }

    /// Returns the next request so far: messages, state and answers to interrupts.
    pub fn input(&self) -> &RunAgentInput {
        &self.input
    }

    fn next_id(&mut self) -> String {
        self.ids += 1;
        format!("id-{}", self.ids)
    }

    /// Changes the message with this id. A missing message is created with `role`.
    fn change(&mut self, id: &str, role: &str, change: impl FnOnce(&mut Message)) {
        let messages = &mut self.input.messages;
        if let Some(message) = messages.iter_mut().find(|message| message.id == id) {
            return change(message);
        }
        let mut message = Message::new(id, role);
        change(&mut message);
        messages.push(message);
    }

    fn add(&mut self, id: &str, role: &str, delta: &str) {
        self.change(id, role, |message| {
            let said = message.content.text().into_owned();
            message.content = Content::Text(said + delta);
        });
    }

    fn called(&mut self, start: &ToolCallStart) {
        let (id, name) = (&*start.tool_call_id, &*start.tool_call_name);
        self.calls.push(id.to_owned());
        // As in the client, a call without a parent is a message with the id of the call.
        let message = start.parent_message_id.as_deref().unwrap_or(id);
        let call = ToolCall::new(id, name, "");
        self.change(message, "assistant", |message| {
            message.tool_calls.push(call);
        });
    }

    /// Returns a call of the conversation.
    fn call(&mut self, id: &str) -> Option<&mut ToolCall> {
        let calls = self.input.messages.iter_mut().rev();
        let mut calls = calls.flat_map(|message| &mut message.tool_calls);
        calls.find(|call| call.id == id)
    }

    fn ran(&mut self, result: &ToolCallResult) -> Option<Effect> {
        // The agent ran this call itself, so the app must not run it.
        self.calls.retain(|id| *id != result.tool_call_id);
        let (id, call) = (&*result.message_id, &*result.tool_call_id);
        let mut message = Message::tool(id, call, result.content.text());
        // Kept in the history, so that the agent learns in the next request that the tool failed.
        let metadata = result.metadata.as_ref().map(Wire::to_raw);
        message.metadata = metadata.unwrap_or_default();
        let failed = message.is_failure();
        self.input.messages.push(message);
        let call = self.call(&result.tool_call_id);
        let call = call.and_then(|call| converted(call));
        let call = call.map(|call| (call.name, call.arguments));
        let (name, arguments) = call.unwrap_or_default();
        let text = result.content.text().into_owned();
        let run = match (failed, Json::parse(text.clone())) {
            (true, _) => ToolRun::failed(name, &arguments, text),
            (false, Ok(json)) => ToolRun::new(name, &arguments, &json),
            (false, Err(_)) => ToolRun::new(name, &arguments, &text),
        };
        run.ok().map(Effect::ToolRun)
    }

    /// Applies a patch to the shared state.
    fn state(&mut self, patch: &[Json]) {
        let mut state: Value = self.input.state.decode().unwrap_or_default();
        let patch: Vec<Value> = patch.iter().flat_map(Json::decode).collect();
        match apply(&mut state, &patch) {
            Some(()) => self.input.state = Json::encode(&state).unwrap_or_default(),
            // A patch is applied completely or not at all (RFC 6902, section 5).
            None => self.breaks("changes that do not fit the state: the app drops them"),
        }
    }

    /// Records the first fault that makes a real app fail.
    fn breaks(&mut self, why: &'static str) {
        self.broken.get_or_insert(why);
    }

    /// Begins the next run.
    fn begin(&mut self) {
        self.runs += 1;
        self.input.run_id = format!("run-{}", self.runs);
        self.input.resume = Vec::new().into();
    }
}

impl Default for App {
    fn default() -> Self {
        Self::new()
    }
}

impl FrontEnd for App {
    type Protocol = AgUi;

    const PATH: &'static str = "/agui";

    fn prompt(&mut self, text: &str) {
        let id = self.next_id();
        self.input.messages.push(Message::user(id, text));
        // The client starts no run while an interrupt has no answer.
        let passed = mem::take(&mut self.interrupts).into_iter();
        let passed = passed.map(|interrupt| ResumeEntry::cancelled(interrupt.id));
        self.input.resume = passed.collect();
    }

    fn request(&self) -> http::Request<Bytes> {
        post(Self::PATH, self.input.to_json())
    }

    fn decode(&mut self, input: &mut &[u8]) -> Result<Option<Event>, EventError> {
        Ok(self.decoder.next(input)?.cloned())
    }

    fn receive(&mut self, event: &Event) -> Vec<Effect> {
        // A client reads nothing after a failed run.
        if self.failed || self.broken.is_some() {
            return Vec::new();
        }
        let mut frame = Vec::new();
        // The event is verified in its serialized form, as in the client.
        event.write(&mut frame);
        let json = frame.strip_prefix(b"data: ").unwrap_or_default();
        let json = serde_json::from_slice(json).unwrap_or_default();
        if let Err(fault) = self.verify.take(&json) {
            self.breaks(fault.effect());
            return Vec::new();
        }
        let effects = effects::<AgUi>(event);
        match event {
            Event::TextMessageStart(start) => {
                let role = start.role.as_deref().unwrap_or("assistant");
                self.add(&start.message_id, role, "");
            }
            Event::TextMessageContent(piece) => {
                self.add(&piece.message_id, "assistant", &piece.delta);
            }
            Event::ReasoningMessageStart(start) => self.add(&start.message_id, "reasoning", ""),
            Event::ReasoningMessageContent(piece) => {
                self.add(&piece.message_id, "reasoning", &piece.delta);
            }
            Event::ToolCallStart(start) => self.called(start),
            Event::ToolCallArgs(piece) => {
                if let Some(call) = self.call(&piece.tool_call_id) {
                    call.function.arguments.push_str(&piece.delta);
                }
            }
            Event::ToolCallResult(result) => return self.ran(result).into_iter().collect(),
            Event::StateSnapshot(state) => {
                self.input.state.clone_from(&state.snapshot);
                return vec![Effect::other("state", state.snapshot.clone())];
            }
            Event::StateDelta(changes) => {
                self.state(&changes.delta);
                return vec![Effect::other("state", self.input.state.clone())];
            }
            Event::MessagesSnapshot(snapshot) => {
                self.input.messages.clone_from(&snapshot.messages);
            }
            Event::ActivitySnapshot(activity) if effects.is_empty() => {
                return vec![Effect::other(
                    &*activity.activity_type,
                    activity.content.clone(),
                )];
            }
            Event::ActivityDelta(changes) => {
                let name = format!("{} changes", changes.activity_type);
                let patch = Json::encode(&*changes.patch).unwrap_or_default();
                return vec![Effect::other(name, patch)];
            }
            Event::Custom(custom) if custom.name != "citations" => {
                return vec![Effect::other(&*custom.name, custom.value.clone())];
            }
            Event::Raw(raw) => return vec![Effect::other("raw", raw.event.clone())],
            Event::RunFinished(end) => {
                self.interrupts = end.interrupts().to_vec();
            }
            Event::RunError(_) => self.failed = true,
            Event::Unknown(_) => self.breaks("an event that the app does not know"),
            // Clients split a chunk into a start, a piece and an end; no server of this crate writes chunks.
            Event::TextMessageChunk(_)
            | Event::ToolCallChunk(_)
            | Event::ReasoningMessageChunk(_) => {
                self.breaks("a chunk, which this app does not read");
            }
            _ => {}
        }
        effects
    }

    fn next(&mut self) -> Next {
        self.decoder = EventDecoder::new();
        self.begin();
        // The rules apply to one run: the next one begins without open messages and calls.
        let over = mem::take(&mut self.verify).is_done();
        let calls = mem::take(&mut self.calls);
        if mem::take(&mut self.failed) {
            return Next::Nothing;
        }
        if let Some(why) = mem::take(&mut self.broken) {
            return Next::Broken(why);
        }
        if !over {
            return Next::Broken("the stream ended without RUN_FINISHED: it looks complete");
        }
        if let Some(interrupt) = self.interrupts.first() {
            return Next::Question(confirmation(interrupt));
        }
        if !calls.is_empty() {
            let made = calls.iter();
            let made = made.filter_map(|id| converted(self.call(id)?)).collect();
            self.calls = calls;
            return Next::Calls(made);
        }
        let mut said = self.input.raw_history().filter_map(|item| match item {
            HistoryItem::Message(message) if message.role == Role::Assistant => Some(message),
            _ => None,
        });
        let asked = said.next_back().and_then(|message| question(&message.text));
        asked.map_or(Next::Nothing, Next::Question)
    }

    fn answer(&mut self, answers: Vec<ToolOutcome>) {
        for (call, answer) in mem::take(&mut self.calls).into_iter().zip(answers) {
            let id = self.next_id();
            let mut message = Message::tool(id, call, "");
            match answer {
                ToolOutcome::Failed(why) => message.error = Some(why),
                answer => message.content = answer.into_text().into(),
            }
            self.input.messages.push(message);
        }
    }

    fn decide(&mut self, question: &Confirmation, accepted: bool) {
        if self.interrupts.is_empty() {
            return self.prompt(typed_answer(question, accepted));
        }
        let answers = mem::take(&mut self.interrupts).into_iter();
        let answers = answers.map(|interrupt| {
            let data = interrupt.metadata.get("data");
            let payload = serde_json::json!({ "accepted": accepted, "data": data });
            ResumeEntry::new(interrupt.id, Json::encode(&payload).unwrap_or_default())
        });
        self.input.resume = answers.collect();
    }
}

fn converted(call: &ToolCall) -> Option<protocol::ToolCall> {
    tool_call(call, &call.function.name, &call.function.arguments)
}

/// Converts an interrupt to a question. Its texts are in the metadata.
fn confirmation(interrupt: &Interrupt) -> Confirmation {
    let part = |name: &str| text(&interrupt.metadata, name);
    let message = part("message").or_else(|| interrupt.message.clone());
    let title = part("title").unwrap_or_default();
    Confirmation::new(&*interrupt.id, title, message.unwrap_or_default())
}
