//! Writing one reply.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::Arc;

use super::event::{frame, write_call};
use super::mount::Settings;
use super::outcome::{Interrupt, Outcome, TokenUsage};
use super::payload::{
    ActivitySnapshot, Custom, ReasoningEnd, ReasoningMessageContent, ReasoningMessageEnd,
    ReasoningMessageStart, ReasoningStart, RunError, RunFinished, RunStarted, StepFinished,
    StepStarted, TextMessageEnd, TextMessageStart, ToolCallEnd, ToolCallResult,
};
use super::request::FAILED;
use super::{Ending, Event, Output, RunAgentInput, ToolCall, check};
use crate::json::wire::raw_object;
use crate::json::{Escape, Json, Kind, ObjectWriter, ValueWriter};
use crate::protocol::{
    self, ChartKind, Citation, Env, Failure, Level, Part, Question, SendError, Session as _,
    Status, Table, TextFrame, ToolRun, markdown,
};

/// One reply: the messages, steps and calls that are open.
///
/// AG-UI, 4: what is open is closed before `RUN_FINISHED`; a piece needs its start; nothing follows
/// the end of the run. A failure is always told, because a stream that is only cut looks finished.
#[derive(Debug)]
pub struct Session {
    settings: Arc<Settings>,
    thread_id: String,
    run_id: String,
    /// Random text in the ids of this reply, and the number of the newest id.
    unique: String,
    ids: u64,
    /// The names of the tools that the request offered.
    tools: HashSet<String>,
    open: Option<Block>,
    /// The assistant's message that the next call belongs to.
    message: Option<String>,
    /// The name of the step that is open.
    step: Option<String>,
    /// The calls of tools that the agent runs itself: whether each is open.
    calls: HashMap<String, bool>,
    citations: Vec<Citation>,
    /// The outcome of the run.
    end: RunFinished,
    /// `true` once the stream is closed.
    done: bool,
}

/// A message that is open.
#[derive(Debug)]
enum Block {
    Text(String, TextFrame),
    Reasoning(String),
}

impl Session {
    pub(super) fn new(input: &RunAgentInput, env: &Env) -> Self {
        let unique = env.uuid().replace('-', "");
        let or_new = |id: &str, prefix: &str| match id {
            "" => format!("{prefix}_{unique}"),
            id => id.to_owned(),
        };
        Self {
            settings: Arc::clone(&input.settings),
            thread_id: or_new(&input.thread_id, "thread"),
            run_id: or_new(&input.run_id, "run"),
            unique,
            ids: 0,
            tools: input.tools.iter().map(|tool| tool.name.clone()).collect(),
            open: None,
            message: None,
            step: None,
            calls: HashMap::new(),
            citations: Vec::new(),
            end: RunFinished::default(),
            done: false,
        }
    }

    fn next_id(&mut self, prefix: &str) -> String {
        self.ids += 1;
        format!("{prefix}_{}_{}", self.unique, self.ids)
    }

    /// Closes the message that is open.
    fn close(&mut self, out: &mut Vec<u8>) {
        match self.open.take() {
            Some(Block::Text(message_id, _)) => frame(
                &TextMessageEnd {
                    message_id,
                    ..TextMessageEnd::default()
                },
                out,
            ),
            Some(Block::Reasoning(id)) => {
                let end = ReasoningMessageEnd {
                    message_id: id.clone(),
                    ..ReasoningMessageEnd::default()
                };
                frame(&end, out);
                let end = ReasoningEnd {
                    message_id: id,
                    ..ReasoningEnd::default()
                };
                frame(&end, out);
            }
            None => {}
        }
    }

    /// Closes the message that is open before something else comes that is shown in its place.
    fn interrupt(&mut self, out: &mut Vec<u8>) {
        self.close(out);
        self.message = None;
    }

    fn close_step(&mut self, out: &mut Vec<u8>) {
        if let Some(step_name) = self.step.take() {
            let end = StepFinished {
                step_name,
                ..StepFinished::default()
            };
            frame(&end, out);
        }
    }

    /// Writes Markdown that is not the agent's, which brings its own blank lines. A new message needs
    /// none at its beginning.
    fn markdown(&mut self, markdown: &str, out: &mut Vec<u8>) -> Result<(), SendError> {
        match self.open {
            Some(Block::Text(..)) => self.text(markdown, out),
            _ => self.text(markdown.trim_start_matches('\n'), out),
        }
    }

    fn reasoning(&mut self, text: &str, out: &mut Vec<u8>) {
        let message_id = match &self.open {
            Some(Block::Reasoning(id)) => id.clone(),
            _ => {
                self.interrupt(out);
                let id = self.next_id("reasoning");
                let start = ReasoningStart {
                    message_id: id.clone(),
                    ..ReasoningStart::default()
                };
                frame(&start, out);
                let start = ReasoningMessageStart {
                    message_id: id.clone(),
                    role: "reasoning".to_owned(),
                    ..ReasoningMessageStart::default()
                };
                frame(&start, out);
                self.open = Some(Block::Reasoning(id.clone()));
                id
            }
        };
        let piece = ReasoningMessageContent {
            message_id,
            delta: text.to_owned(),
            ..ReasoningMessageContent::default()
        };
        frame(&piece, out);
    }

    /// Writes a step, which lasts until the next one. The text goes on meanwhile.
    fn status(&mut self, status: &Status, out: &mut Vec<u8>) {
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
            start.metadata = raw_object(|metadata| {
                metadata.opt_str("level", level);
                status.write_details(metadata);
            });
        }
        self.start_step(&start, out);
    }

    fn start_step(&mut self, start: &StepStarted, out: &mut Vec<u8>) {
        self.close_step(out);
        frame(start, out);
        // Clients fail at a step that is still open at the end, and at two of one name: only one is
        // open.
        self.step = Some(start.step_name.clone());
    }

    /// Writes a tool that the agent ran: a call, and its result.
    fn tool_run(&mut self, run: &ToolRun, out: &mut Vec<u8>) -> Result<(), SendError> {
        // All sizes before the first event: what is written cannot be taken back.
        check::size(run.arguments.as_bytes())?;
        match &run.outcome {
            Ok(result) => check::size(result.as_bytes())?,
            Err(message) => check::size(message.as_bytes())?,
        }
        let parent = self.parent(out);
        let id = self.next_id("call");
        let call = ToolCall::new(&*id, &*run.name, run.arguments.text());
        write_call(&call, Some(&parent), out);
        let message = self.next_id("msg");
        let result = match &run.outcome {
            Ok(result) => {
                let text = result.string().unwrap_or_else(|| result.text().into());
                ToolCallResult::new(message, id, text)
            }
            Err(error) => ToolCallResult {
                metadata: raw_object(|metadata| {
                    metadata.bool(FAILED, true);
                }),
                ..ToolCallResult::new(message, id, error)
            },
        };
        frame(&result, out);
        // The next call comes after the result, so it belongs to another message.
        self.message = None;
        Ok(())
    }

    /// Returns the id of the message that a call belongs to: that of the text right before it.
    fn parent(&mut self, out: &mut Vec<u8>) -> String {
        if let Some(Block::Reasoning(_)) = self.open {
            self.interrupt(out);
        }
        self.close(out);
        // A call without a text before it gets the id of a message that the client creates for it.
        let id = self.message.take().unwrap_or_else(|| self.next_id("msg"));
        self.message = Some(id.clone());
        id
    }

    /// Writes the sources at the end of the answer: as data for a component of the app, and as
    /// Markdown unless the app has one.
    fn sources(&mut self, out: &mut Vec<u8>) -> Result<(), SendError> {
        let citations = mem::take(&mut self.citations);
        if citations.is_empty() {
            return Ok(());
        }
        let mut custom = Custom {
            name: "citations".to_owned(),
            ..Custom::default()
        };
        let mut value = Vec::new();
        // Texts always write.
        let _ = ValueWriter::new(&mut value, Escape::JsonAndSeparators).array(
            &citations,
            |citation, to| {
                to.object(|value| {
                    value
                        .str("title", &citation.title)
                        .opt_str("url", citation.url.as_deref())
                        .opt_str("document", citation.document.as_deref())
                        .opt_str("excerpt", citation.excerpt.as_deref());
                    Ok(())
                })
            },
        );
        // Written by this crate, so it can be read.
        custom.value = Json::parse(value).unwrap_or_default();
        frame(&custom, out);
        match self.settings.markdown {
            true => self.markdown(&markdown::sources(&citations), out),
            false => Ok(()),
        }
    }

    /// Writes rows: as an activity for a component of the app, and as Markdown unless the app has
    /// one.
    fn rows(
        &mut self,
        activity_type: &str,
        table: &Table,
        kind: Option<&ChartKind>,
        out: &mut Vec<u8>,
    ) -> Result<(), SendError> {
        let content = raw_object(|content| table.write_to(kind, content));
        check::size(content.as_bytes())?;
        self.interrupt(out);
        let activity = ActivitySnapshot {
            message_id: self.next_id("activity"),
            activity_type: activity_type.to_owned(),
            content,
            ..ActivitySnapshot::default()
        };
        frame(&activity, out);
        match self.settings.markdown {
            true => self.markdown(&table.to_markdown(), out),
            false => Ok(()),
        }
    }

    fn confirm(&mut self, question: &Question<'_>, out: &mut Vec<u8>) -> Result<(), SendError> {
        if !self.settings.interrupts {
            let text = question.to_text()?;
            // A question in text is the last text: that is how it is found again.
            self.sources(out)?;
            return self.markdown(&text, out);
        }
        self.sources(out)?;
        let texts = [&*question.title, &*question.message];
        let texts: Vec<&str> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        let interrupt = Interrupt::new(&*question.id, "confirm")
            .message(texts.join("\n\n"))
            .response_schema(raw_object(answer_schema))
            .metadata(raw_object(|metadata| question.write_to(metadata)));
        self.end = RunFinished {
            // The usage that was reported before stays part of the end.
            usage: mem::take(&mut self.end.usage),
            ..RunFinished::interrupted([interrupt])
        };
        Ok(())
    }

    /// Calls tools of the app.
    fn calls(&mut self, calls: &[protocol::ToolCall], out: &mut Vec<u8>) -> Result<(), SendError> {
        for call in calls {
            if !self.tools.contains(&call.name) {
                let reason = "a tool that the request did not offer";
                return Err(SendError::Unsupported(reason));
            }
            if call.arguments.kind() != Kind::Object {
                return Err(SendError::Invalid("arguments must be an object".into()));
            }
            check::size(call.arguments.as_bytes())?;
        }
        self.sources(out)?;
        let parent = self.parent(out);
        for call in calls {
            let id = self.next_id("call");
            let call = ToolCall::new(id, &*call.name, call.arguments.text());
            write_call(&call, Some(&parent), out);
        }
        Ok(())
    }

    /// Checks that a call of a tool that the agent runs is, or is not, open.
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
                Some(Outcome::interrupt(outcome.interrupts.clone()))
            }
            Some(outcome) if outcome.kind != "success" => {
                let reason = "an outcome other than success and interrupts";
                return Err(SendError::Unsupported(reason));
            }
            // The members of a success came with 1.0, and 0.0.59 fails at them.
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

    /// Writes the end of a run that failed.
    fn error(&mut self, error: &RunError, out: &mut Vec<u8>) {
        if mem::replace(&mut self.done, true) {
            return;
        }
        self.close(out);
        self.close_step(out);
        frame(error, out);
    }

    /// Checks an event of the agent against the rules that a client fails a run by.
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
}

impl protocol::Session for Session {
    type Output = Output;
    type Ending = Ending;

    fn open(&mut self, out: &mut Vec<u8>) {
        let start = RunStarted {
            thread_id: self.thread_id.clone(),
            run_id: self.run_id.clone(),
            ..RunStarted::default()
        };
        frame(&start, out);
    }

    fn text_frame(&self) -> Option<TextFrame> {
        match &self.open {
            Some(Block::Text(_, frame)) => Some(frame.clone()),
            _ => None,
        }
    }

    fn text(&mut self, text: &str, out: &mut Vec<u8>) -> Result<(), SendError> {
        if let Some(Block::Text(_, frame)) = &self.open {
            frame.write(text, out);
            return Ok(());
        }
        self.close(out);
        let id = self.next_id("msg");
        let start = TextMessageStart {
            message_id: id.clone(),
            role: Some("assistant".to_owned()),
            ..TextMessageStart::default()
        };
        frame(&start, out);
        // The id is letters and digits: nothing in it needs to be escaped.
        let head = format!(
            "data: {{\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"{id}\",\"delta\":\""
        );
        let text_frame = TextFrame::new(head, &b"\"}\n\n"[..], Escape::JsonAndSeparators);
        text_frame.write(text, out);
        self.message = Some(id.clone());
        self.open = Some(Block::Text(id, text_frame));
        Ok(())
    }

    fn part(&mut self, part: Part<'_>, out: &mut Vec<u8>) -> Result<(), SendError> {
        match part {
            Part::Reasoning(text) => self.reasoning(text, out),
            Part::Status(status) => self.status(status, out),
            Part::ToolRun(run) => self.tool_run(run, out)?,
            Part::Cite(citation) => self.citations.push(citation.clone()),
            Part::Table(table) => self.rows("table", table, None, out)?,
            Part::Chart(chart) => self.rows("chart", &chart.to_table(), Some(&chart.kind), out)?,
            // `RUN_ERROR` ends the run, and this turn goes on.
            Part::Error(notice) => self.markdown(&notice.to_markdown(), out)?,
            Part::Usage(usage) => self.end.usage = vec![TokenUsage::from(usage)].into(),
            Part::Confirm(question) => self.confirm(question, out)?,
            Part::Calls(calls) => self.calls(calls, out)?,
        }
        Ok(())
    }

    fn output(&mut self, output: &Output, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.check(output)?;
        let mut event = Event::from(output.clone()).strict();
        let mut size = Vec::new();
        // Written once to measure it: the limit is on the bytes of the whole event.
        event.write(&mut size);
        check::size(&size)?;
        match &mut event {
            Event::ToolCallStart(start) => {
                let parent = self.parent(out);
                start.parent_message_id.get_or_insert(parent);
                self.calls.insert(start.tool_call_id.clone(), true);
            }
            Event::ToolCallEnd(end) => {
                self.calls.insert(end.tool_call_id.clone(), false);
            }
            Event::ToolCallResult(_) | Event::MessagesSnapshot(_) | Event::ActivitySnapshot(_) => {
                self.interrupt(out);
            }
            _ => {}
        }
        event.write(out);
        Ok(())
    }

    fn ending(&mut self, ending: &Ending, out: &mut Vec<u8>) -> Result<(), SendError> {
        match ending {
            Ending::Calls(calls) => {
                self.sources(out)?;
                let parent = self.parent(out);
                for call in calls {
                    write_call(call, Some(&parent), out);
                }
            }
            Ending::Finished(end) => self.finished(end)?,
            Ending::Error(error) => self.error(error, out),
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        if self.done {
            return;
        }
        // Text can always be written.
        let _ = self.sources(out);
        self.done = true;
        self.close(out);
        for (id, open) in mem::take(&mut self.calls) {
            // A call that the agent did not end: clients fail at calls that are open when the run
            // finishes.
            if open {
                frame(&ToolCallEnd::new(id), out);
            }
        }
        self.close_step(out);
        let mut end = mem::take(&mut self.end);
        end.thread_id = mem::take(&mut self.thread_id);
        end.run_id = mem::take(&mut self.run_id);
        Event::RunFinished(end).strict().write(out);
    }

    fn fail(&mut self, failure: &Failure<'_>, out: &mut Vec<u8>) {
        let error = RunError::new(failure.message);
        let error = match failure.retryable {
            true => error.code("retryable"),
            false => error,
        };
        self.error(&error, out);
    }
}

/// Writes the schema of the answer to a confirmation.
fn answer_schema(schema: &mut ObjectWriter<'_>) {
    schema.str("type", "object");
    // Names always write.
    let _ = schema.object("properties", |properties| {
        properties.object("accepted", |accepted| {
            accepted.str("type", "boolean");
            Ok(())
        })?;
        Ok(())
    });
    let _ = schema.array("required", ["accepted"], |name, to| {
        to.str(name);
        Ok(())
    });
}
