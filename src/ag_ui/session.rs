//! Writing one reply.

use std::collections::HashMap;
use std::mem;

use super::outcome::{Interrupt, RunOutcome, TokenUsage};
use super::payload::{
    ActivitySnapshot, Custom, ReasoningEnd, ReasoningMessageContent, ReasoningMessageEnd,
    ReasoningMessageStart, ReasoningStart, RunError, RunFinished, RunStarted, StepFinished,
    StepStarted, TextMessageContent, TextMessageEnd, TextMessageStart, ToolCallArgs, ToolCallEnd,
    ToolCallResult, ToolCallStart,
};
use super::request::FAILED;
use super::{Ending, Event, Output, RunAgentInput, Settings, ToolCall, check};
use crate::json::{Json, Kind, List, Members, Wire};
use crate::protocol::{
    self, Block, Blocks, ChartKind, Citation, End, Env, FrameEvent as _, Level, Part, Question,
    SendError, Session, Status, Table, ToolRun, Writer,
};

/// One reply with its messages, steps and calls.
///
/// AG-UI, 4: everything open is closed before `RUN_FINISHED`; a piece needs a start event; nothing follows the end of
/// the run. A failure is always sent, because clients accept a truncated stream as complete.
#[derive(Debug)]
pub struct Reply {
    settings: Settings,
    thread_id: String,
    run_id: String,
    /// Random text in the ids of this reply, and the number of the newest id.
    unique: String,
    ids: u64,
    /// The id of the newest message with text or reasoning.
    block: String,
    /// The id of the assistant's message that the next call belongs to.
    message: Option<String>,
    /// The name of the open step.
    step: Option<String>,
    /// The ids of calls of tools that the agent runs itself; `true` if the call is open.
    calls: HashMap<String, bool>,
    /// The outcome of the run.
    end: RunFinished,
}

/// The writer of a reply.
type To<'a> = Writer<'a, Reply>;

pub(super) fn session(input: &RunAgentInput, settings: Settings, env: &Env) -> Session<Reply> {
    let unique = env.hex_id([""; 2]);
    let or_new = |id: &str, prefix: &str| match id {
        "" => format!("{prefix}_{unique}"),
        id => id.to_owned(),
    };
    let reply = Reply {
        settings,
        thread_id: or_new(&input.thread_id, "thread"),
        run_id: or_new(&input.run_id, "run"),
        unique,
        ids: 0,
        block: String::new(),
        message: None,
        step: None,
        calls: HashMap::new(),
        end: RunFinished::default(),
    };
    Session::new(reply).tools(input.tools.iter().map(|tool| tool.name.clone()))
}

impl Blocks for Reply {
    type Output = Output;
    type Ending = Ending;
    type Event = Event;

    const TRIMS: bool = true;

    fn write(&self, event: &Event, out: &mut Vec<u8>) {
        event.write(out);
    }

    fn begin(&mut self, to: &mut To<'_>) {
        let start = RunStarted {
            thread_id: self.thread_id.clone(),
            run_id: self.run_id.clone(),
            ..RunStarted::default()
        };
        to.event(self, start);
    }

    fn open(&mut self, block: Block, to: &mut To<'_>) {
        if block == Block::Text {
            self.block = self.next_id("msg");
            self.message = Some(self.block.clone());
            let start = TextMessageStart {
                message_id: self.block.clone(),
                role: Some("assistant".to_owned()),
                ..TextMessageStart::default()
            };
            return to.event(self, start);
        }
        self.message = None;
        self.block = self.next_id("reasoning");
        let start = ReasoningStart {
            message_id: self.block.clone(),
            ..ReasoningStart::default()
        };
        to.event(self, start);
        let start = ReasoningMessageStart {
            message_id: self.block.clone(),
            role: "reasoning".to_owned(),
            ..ReasoningMessageStart::default()
        };
        to.event(self, start);
    }

    fn piece(&self, block: Block, delta: String) -> Option<Event> {
        let message_id = self.block.clone();
        if block == Block::Text {
            return Some(TextMessageContent::new(message_id, delta).into());
        }
        let piece = ReasoningMessageContent {
            message_id,
            delta,
            ..ReasoningMessageContent::default()
        };
        Some(piece.into())
    }

    fn close(&mut self, block: Block, to: &mut To<'_>) {
        let message_id = self.block.clone();
        if block == Block::Text {
            let end = TextMessageEnd {
                message_id,
                ..TextMessageEnd::default()
            };
            return to.event(self, end);
        }
        let end = ReasoningMessageEnd {
            message_id: message_id.clone(),
            ..ReasoningMessageEnd::default()
        };
        to.event(self, end);
        let end = ReasoningEnd {
            message_id,
            ..ReasoningEnd::default()
        };
        to.event(self, end);
    }

    fn output(&mut self, output: &Output, to: &mut To<'_>) -> Result<(), SendError> {
        self.check(output)?;
        let mut event = Event::from(output.clone()).strict();
        let mut size = Vec::new();
        // Written to measure it: the limit applies to the bytes of the complete event.
        event.write(&mut size);
        check::size(size.len())?;
        match &mut event {
            Event::ToolCallStart(start) => {
                let parent = self.parent(to);
                start.parent_message_id.get_or_insert(parent);
                self.calls.insert(start.tool_call_id.clone(), true);
            }
            Event::ToolCallEnd(end) => {
                self.calls.insert(end.tool_call_id.clone(), false);
            }
            Event::ToolCallResult(_) | Event::MessagesSnapshot(_) | Event::ActivitySnapshot(_) => {
                self.interrupt(to);
            }
            _ => {}
        }
        to.event(self, event);
        Ok(())
    }

    fn ending(&mut self, ending: &Ending, to: &mut To<'_>) -> Result<(), SendError> {
        match ending {
            Ending::Calls(calls) => {
                for call in calls {
                    check::text(&call.function.arguments)?;
                }
                to.sources(self)?;
                let parent = self.parent(to);
                for call in calls {
                    self.write_call(call, &parent, to);
                }
            }
            Ending::Finished(end) => self.finished(end)?,
            Ending::Error(error) => self.fail_with(error.clone(), to),
        }
        Ok(())
    }

    fn part(&mut self, part: Part<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        match part {
            Part::Status(status) => self.status(status, to),
            Part::ToolRun(run) => return self.tool_run(run, to),
            Part::Usage(usage) => self.end.usage = vec![TokenUsage::from(usage)].into(),
            Part::Sources(citations) => return self.sources(citations, to),
            Part::Table(table) => return self.rows("table", table, None, to),
            Part::Chart(chart) => {
                return self.rows("chart", &chart.to_table(), Some(&chart.kind), to);
            }
            Part::Confirm(question) => return self.confirm(question, to),
            Part::Calls(calls) => return self.calls(calls, to),
            part => return to.part(self, part),
        }
        Ok(())
    }

    fn end(&mut self, end: End<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        if let End::Failed(failure) = end {
            let mut error = RunError::new(failure.message);
            error.code = failure.retryable.then(|| "retryable".to_owned());
            self.fail_with(error, to);
            return Ok(());
        }
        to.close(self);
        for (id, open) in mem::take(&mut self.calls) {
            // The agent has not ended this call, and clients fail if a call is open when the run finishes.
            if open {
                to.event(self, ToolCallEnd::new(id));
            }
        }
        self.close_step(to);
        let mut end = mem::take(&mut self.end);
        end.thread_id = mem::take(&mut self.thread_id);
        end.run_id = mem::take(&mut self.run_id);
        to.event(self, Event::RunFinished(end).strict());
        Ok(())
    }
}

impl Reply {
    /// Writes a step, which stays open until the next status. It does not interrupt the text.
    fn status(&mut self, status: &Status, to: &mut To<'_>) {
        let mut start = StepStarted {
            step_name: status.message.clone(),
            ..StepStarted::default()
        };
        let level = match status.level {
            Level::Info => None,
            Level::Warning => Some("warning"),
            Level::Error => Some("error"),
        };
        if level.is_some() || !status.details.is_empty() {
            start.metadata = Members::from_raw(&Json::object(|metadata| {
                metadata.opt_str("level", level);
                status.write_details(metadata);
            }));
        }
        // Clients fail if a step is open at the end, or if two open steps have the same name: at most one is open here.
        self.close_step(to);
        to.event(self, start);
        self.step = Some(status.message.clone());
    }

    /// Writes a run of a tool by the agent: a call and its result.
    fn tool_run(&mut self, run: &ToolRun, to: &mut To<'_>) -> Result<(), SendError> {
        // All sizes are checked before the first event, because written events cannot be removed.
        check::text(run.arguments.text())?;
        let content = match &run.outcome {
            Ok(result) => result.string().unwrap_or_else(|| result.text().into()),
            Err(message) => message.into(),
        };
        check::text(&content)?;
        let parent = self.parent(to);
        let id = self.next_id("call");
        let call = ToolCall::new(&*id, &*run.name, run.arguments.text());
        self.write_call(&call, &parent, to);
        let message = self.next_id("msg");
        let mut result = ToolCallResult::new(message, id, content);
        if run.outcome.is_err() {
            result.metadata = Members::from_raw(&Json::object(|metadata| {
                metadata.bool(FAILED, true);
            }));
        }
        to.event(self, result);
        // The next call follows the result, so it belongs to another message.
        self.message = None;
        Ok(())
    }

    /// Writes the sources at the end of the answer: as data for a component of the app, and as Markdown if `markdown`
    /// is set.
    fn sources(&mut self, citations: &[Citation], to: &mut To<'_>) -> Result<(), SendError> {
        let custom = Custom {
            name: "citations".to_owned(),
            value: citations.iter().map(source).collect::<List<_>>().to_raw(),
            ..Custom::default()
        };
        to.event(self, custom);
        match self.settings.markdown {
            true => to.part(self, Part::Sources(citations)),
            false => Ok(()),
        }
    }

    fn confirm(&mut self, question: &Question<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        if !self.settings.interrupts {
            return to.part(self, Part::Confirm(question));
        }
        to.sources(self)?;
        let texts = [&*question.title, &*question.message];
        let texts: Vec<&str> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        let interrupt = Interrupt::new(&*question.id, "confirm")
            .message(texts.join("\n\n"))
            .response_schema(answer_schema())
            .metadata(Json::object(|metadata| question.write_to(metadata)));
        self.end.outcome = Some(RunOutcome::interrupt([interrupt]));
        Ok(())
    }

    fn calls(&mut self, calls: &[protocol::ToolCall], to: &mut To<'_>) -> Result<(), SendError> {
        for call in calls {
            check::text(call.arguments.text())?;
        }
        to.sources(self)?;
        let parent = self.parent(to);
        for call in calls {
            let id = self.next_id("call");
            let call = ToolCall::new(id, &*call.name, call.arguments.text());
            self.write_call(&call, &parent, to);
        }
        Ok(())
    }

    fn next_id(&mut self, prefix: &str) -> String {
        self.ids += 1;
        format!("{prefix}_{}_{}", self.unique, self.ids)
    }

    /// Closes the open message before an event that is shown after it.
    fn interrupt(&mut self, to: &mut To<'_>) {
        to.close(self);
        self.message = None;
    }

    fn close_step(&mut self, to: &mut To<'_>) {
        if let Some(step_name) = self.step.take() {
            let end = StepFinished {
                step_name,
                ..StepFinished::default()
            };
            to.event(self, end);
        }
    }

    /// Returns the id of the message that a call belongs to: the message directly before the call.
    fn parent(&mut self, to: &mut To<'_>) -> String {
        to.close(self);
        // For a call without a message before it, the client creates a message with this id.
        let id = self.message.take().unwrap_or_else(|| self.next_id("msg"));
        self.message = Some(id.clone());
        id
    }

    /// Writes a complete call.
    fn write_call(&self, call: &ToolCall, parent: &str, to: &mut To<'_>) {
        let mut start = ToolCallStart::new(&*call.id, &*call.function.name);
        start.parent_message_id = Some(parent.to_owned());
        to.event(self, start);
        let arguments = &*call.function.arguments;
        // Empty arguments are omitted instead of sent as an empty piece.
        if !arguments.is_empty() {
            to.event(self, ToolCallArgs::new(&*call.id, arguments));
        }
        to.event(self, ToolCallEnd::new(&*call.id));
    }

    /// Writes rows as an activity for a component of the app, and as Markdown if `markdown` is set.
    fn rows(
        &mut self,
        activity_type: &str,
        table: &Table,
        kind: Option<&ChartKind>,
        to: &mut To<'_>,
    ) -> Result<(), SendError> {
        let content = Json::object(|content| table.write_to(kind, content));
        check::size(content.text().len())?;
        self.interrupt(to);
        let activity = ActivitySnapshot {
            message_id: self.next_id("activity"),
            activity_type: activity_type.to_owned(),
            content,
            ..ActivitySnapshot::default()
        };
        to.event(self, activity);
        match self.settings.markdown {
            true => to.markdown(self, &table.to_markdown()),
            false => Ok(()),
        }
    }

    /// Checks an event of the agent for faults that make a client fail the run.
    fn check(&self, output: &Output) -> Result<(), SendError> {
        match output {
            Output::ToolCallStart(event) if self.calls.contains_key(&event.tool_call_id) => {
                let rule = "a tool call has this id already";
                Err(SendError::Invalid(rule.to_owned()))
            }
            Output::ToolCallArgs(event) => self.check_call(&event.tool_call_id, true),
            Output::ToolCallEnd(event) => self.check_call(&event.tool_call_id, true),
            Output::ToolCallResult(event) => self.check_call(&event.tool_call_id, false),
            output => check::content(output),
        }
    }

    /// Checks that a call of a tool that the agent runs is known, and is open, or with `open: false` has ended.
    fn check_call(&self, id: &str, open: bool) -> Result<(), SendError> {
        match self.calls.get(id) {
            Some(is_open) if *is_open == open => Ok(()),
            Some(true) => Err(SendError::Invalid("the tool call has not ended".into())),
            Some(false) => Err(SendError::Invalid("the tool call has ended".into())),
            None => Err(SendError::Invalid("no tool call has this id".into())),
        }
    }

    /// Records the end of the run.
    fn finished(&mut self, end: &RunFinished) -> Result<(), SendError> {
        let outcome = match &end.outcome {
            Some(outcome) if outcome.kind == "interrupt" && !outcome.interrupts.is_empty() => {
                let object = |json: &Json| matches!(json.kind(), Kind::Object | Kind::Null);
                if !outcome.interrupts.iter().all(|interrupt| {
                    object(&interrupt.metadata) && object(&interrupt.response_schema)
                }) {
                    let rule = "metadata and schema of an interrupt must be objects";
                    return Err(SendError::Invalid(rule.to_owned()));
                }
                Some(RunOutcome::interrupt(outcome.interrupts.clone()))
            }
            Some(outcome) if outcome.kind != "success" => {
                let reason = "an outcome other than success and interrupts";
                return Err(SendError::Unsupported(reason));
            }
            // A success is sent without an outcome: its members came with 1.0, and 0.0.59 fails at them.
            _ => None,
        };
        let usage = mem::take(&mut self.end.usage);
        self.end = RunFinished {
            outcome,
            ..end.clone()
        };
        if self.end.usage.is_empty() {
            self.end.usage = usage;
        }
        Ok(())
    }

    /// Writes the end of a failed run.
    fn fail_with(&mut self, error: RunError, to: &mut To<'_>) {
        to.fail();
        to.close(self);
        self.close_step(to);
        to.event(self, error);
    }
}

/// Returns a source as data for a component of the app.
fn source(citation: &Citation) -> Json {
    Json::object(|source| {
        source
            .str("title", &citation.title)
            .opt_str("url", citation.url.as_deref())
            .opt_str("document", citation.document.as_deref())
            .opt_str("excerpt", citation.excerpt.as_deref());
    })
}

/// Returns the schema of the answer to a confirmation.
fn answer_schema() -> Json {
    let schema =
        br#"{"type":"object","properties":{"accepted":{"type":"boolean"}},"required":["accepted"]}"#;
    // Valid JSON.
    Json::parse(&schema[..]).unwrap_or_default()
}
