//! Writing one reply.

use std::collections::HashSet;
use std::sync::Arc;

use super::chunk::{
    Abort, Error, Finish, FinishStep, MessageMetadata, ReasoningDelta, ReasoningEnd,
    ReasoningStart, SourceDocument, SourceUrl, Start, StartStep, TextEnd, TextStart,
    ToolApprovalRequest, ToolInputAvailable, ToolOutputDenied,
};
use super::data::PREFIX;
use super::event::frame;
use super::mount::Settings;
use super::{ChatRequest, Data, Ending, Event, Output};
use crate::json::wire::raw_object;
use crate::json::{Escape, Json, Kind, Members, ObjectWriter};
use crate::protocol::{
    self, Chart, ChartKind, Citation, Conversation as _, Env, Failure, Level, Part, Question,
    SendError, Session as _, Status, Table, TextFrame, ToolCall, ToolRun, Usage,
};

/// The tool whose call stands for a confirmation.
pub(super) const QUESTION: &str = "confirm";

/// One reply: its blocks and steps.
///
/// AI SDK UI message stream, 3.2 and 4: a piece of text belongs to a block that is open; a reply
/// always has a step; a failure is always told, because a stream that is only cut looks finished.
#[derive(Debug)]
pub struct Session {
    env: Env,
    settings: Arc<Settings>,
    message_id: String,
    /// The chunk that settles the question that the request answers.
    settled: Option<Event>,
    /// The names of the tools that the page has.
    tools: HashSet<String>,
    /// The ids of the calls that outputs may belong to.
    calls: HashSet<String>,
    open: Option<Block>,
    /// The number of the newest block.
    blocks: u64,
    /// The number of sources in the message, which an earlier reply may have begun.
    sources: usize,
    /// `true` if the step has the output of a tool. It must not be the last step then: a page that
    /// finds only finished tools in the last step posts again, and again.
    step_is_over: bool,
    /// `true` if the previous step is such a one, and nothing was written since: pages notice a new
    /// step with the first part in it.
    step_is_hidden: bool,
    /// `true` after an `error` chunk, which only `[DONE]` may follow.
    failed: bool,
}

/// A block that is open.
#[derive(Debug)]
enum Block {
    Text(String, TextFrame),
    Reasoning(String),
}

impl Session {
    pub(super) fn new(request: &ChatRequest, env: &Env) -> Self {
        let continued = request.continued();
        let id = continued.map(|message| message.id.clone());
        let answered = request.decided().and_then(|part| {
            let tool_call_id = part.tool_call_id.clone()?;
            let approved = part.approval.as_ref()?.approved == Some(true);
            Some(match approved {
                true => ToolInputAvailable::new(tool_call_id, QUESTION, Json::default())
                    .dynamic()
                    .output(raw_object(|answer| {
                        answer.bool("approved", true);
                    }))
                    .into(),
                false => ToolOutputDenied {
                    tool_call_id,
                    ..ToolOutputDenied::default()
                }
                .into(),
            })
        });
        let parts = continued.into_iter().flat_map(|message| &message.parts);
        let sources = parts.clone();
        let sources = sources.filter(|part| part.source_id.is_some()).count();
        Self {
            env: env.clone(),
            settings: Arc::clone(&request.settings),
            message_id: id
                .filter(|id| !id.is_empty())
                .unwrap_or_else(|| env.new_id("msg")),
            settled: answered,
            tools: request.tools().map(|tool| tool.name.into_owned()).collect(),
            // A reply that continues a message may also give the output of a call in it.
            calls: parts.filter_map(|part| part.tool_call_id.clone()).collect(),
            open: None,
            blocks: 0,
            sources,
            step_is_over: false,
            step_is_hidden: continued.is_some(),
            failed: false,
        }
    }

    /// Closes the block that is open, and the step if it is over, before something that pages take
    /// note of.
    fn close(&mut self, out: &mut Vec<u8>) {
        self.step_is_hidden = false;
        let (id, unknown) = (String::new(), Members::new());
        match self.open.take() {
            Some(Block::Text(id, _)) => frame(&TextEnd { id, unknown }, out),
            Some(Block::Reasoning(id)) => frame(&ReasoningEnd { id, unknown }, out),
            None => drop(id),
        }
        if std::mem::take(&mut self.step_is_over) {
            frame(&FinishStep::default(), out);
            frame(&StartStep::default(), out);
        }
    }

    /// Closes what is open at the end of the reply. A step without a part gets one: an empty text.
    fn close_all(&mut self, out: &mut Vec<u8>) {
        let needs_part = self.step_is_over || self.step_is_hidden;
        self.close(out);
        if needs_part {
            self.begin_text(out);
            self.close(out);
        }
    }

    fn next_block(&mut self, letter: char) -> String {
        self.blocks += 1;
        format!("{letter}{}", self.blocks)
    }

    /// Writes Markdown that is not the agent's, which brings its own blank lines. A new block needs
    /// none at its beginning.
    fn markdown(&mut self, markdown: &str, out: &mut Vec<u8>) -> Result<(), SendError> {
        match self.open {
            Some(Block::Text(..)) => self.text(markdown, out),
            _ => self.text(markdown.trim_start_matches('\n'), out),
        }
    }

    fn begin_text(&mut self, out: &mut Vec<u8>) -> TextFrame {
        self.close(out);
        let id = self.next_block('t');
        // The id is a letter and digits: nothing in it needs to be escaped.
        let head = format!("data: {{\"type\":\"text-delta\",\"id\":\"{id}\",\"delta\":\"");
        let text_frame = TextFrame::new(head, &b"\"}\n\n"[..], Escape::JsonAndSeparators);
        let start = TextStart {
            id: id.clone(),
            ..TextStart::default()
        };
        frame(&start, out);
        self.open = Some(Block::Text(id, text_frame.clone()));
        text_frame
    }

    fn reasoning(&mut self, text: &str, out: &mut Vec<u8>) {
        if text.is_empty() {
            return;
        }
        let id = match &self.open {
            Some(Block::Reasoning(id)) => id.clone(),
            _ => {
                self.close(out);
                let id = self.next_block('r');
                let start = ReasoningStart {
                    id: id.clone(),
                    ..ReasoningStart::default()
                };
                frame(&start, out);
                self.open = Some(Block::Reasoning(id.clone()));
                id
            }
        };
        let delta = ReasoningDelta {
            id,
            delta: text.to_owned(),
            ..ReasoningDelta::default()
        };
        frame(&delta, out);
    }

    /// Writes a source. The block that is open stays open: a text in two blocks would be shown as
    /// two paragraphs.
    fn cite(&mut self, citation: &Citation, out: &mut Vec<u8>) {
        self.sources += 1;
        // A source is a part, with which pages notice the step.
        self.step_is_hidden = false;
        let id = self.sources.to_string();
        let title = Some(&*citation.title).filter(|title| !title.is_empty());
        match citation.web_url() {
            Some(url) => {
                let mut source = SourceUrl::new(id, url);
                source.title = title.map(str::to_owned);
                frame(&source, out);
            }
            // No page may get a link with a script in it.
            None => {
                let title = title.or(citation.url.as_deref());
                let title = title.unwrap_or("(untitled)");
                frame(&SourceDocument::new(id, "text/plain", title), out);
            }
        }
    }

    /// Writes data of a part of the shared vocabulary.
    fn data(
        name: &str,
        transient: bool,
        write: impl FnOnce(&mut ObjectWriter<'_>),
        out: &mut Vec<u8>,
    ) {
        let data = Data {
            kind: format!("{PREFIX}{name}"),
            data: raw_object(write),
            transient,
            ..Data::default()
        };
        frame(&data, out);
    }

    fn status(status: &Status, out: &mut Vec<u8>) {
        let write = |data: &mut ObjectWriter<'_>| {
            let level = match status.level {
                Level::Info => "info",
                Level::Warning => "warning",
                Level::Error => "error",
            };
            data.str("level", level).str("message", &status.message);
            status.write_details(data);
        };
        Self::data("status", true, write, out);
    }

    /// Writes rows: as data for a component of the page, and as Markdown unless the page has one.
    fn rows(
        &mut self,
        name: &str,
        table: &Table,
        kind: Option<&ChartKind>,
        out: &mut Vec<u8>,
    ) -> Result<(), SendError> {
        self.close(out);
        Self::data(name, false, |data| table.write_to(kind, data), out);
        match self.settings.markdown {
            true => self.markdown(&table.to_markdown(), out),
            false => Ok(()),
        }
    }

    fn confirm(&mut self, question: &Question<'_>, out: &mut Vec<u8>) -> Result<(), SendError> {
        if !self.settings.approvals {
            return self.markdown(&question.to_text()?, out);
        }
        self.close(out);
        let input = raw_object(|input| question.write_to(input));
        let call = ToolInputAvailable::new(self.env.new_id("call"), QUESTION, input).dynamic();
        frame(&call, out);
        let request = ToolApprovalRequest {
            approval_id: question.id.clone(),
            tool_call_id: call.tool_call_id,
            ..ToolApprovalRequest::default()
        };
        frame(&request, out);
        Ok(())
    }

    /// Calls tools of the page.
    fn calls(&mut self, calls: &[ToolCall], out: &mut Vec<u8>) -> Result<(), SendError> {
        for call in calls {
            if !self.tools.contains(&call.name) {
                let reason = "a tool that neither the request nor the mount names";
                return Err(SendError::Unsupported(reason));
            }
            if call.arguments.kind() != Kind::Object {
                return Err(SendError::Invalid("arguments must be an object".into()));
            }
        }
        self.close(out);
        for call in calls {
            let id = self.env.new_id("call");
            let call = ToolInputAvailable::new(id, &*call.name, call.arguments.clone());
            frame(&call, out);
        }
        Ok(())
    }

    /// Writes a run of a tool. The page must not run it again.
    fn tool_run(&mut self, run: &ToolRun, out: &mut Vec<u8>) {
        self.close(out);
        let id = self.env.new_id("call");
        let call = ToolInputAvailable::new(id, &*run.name, run.arguments.clone());
        let call = call.provider_executed();
        frame(&call, out);
        match &run.outcome {
            Ok(output) => frame(&call.output(output.clone()), out),
            Err(message) => frame(&call.failure(message), out),
        }
        self.step_is_over = true;
    }

    /// Writes the usage by the names of the SDK, as metadata, which the page merges: the last one
    /// counts.
    fn usage(usage: &Usage, out: &mut Vec<u8>) {
        let metadata = raw_object(|metadata| {
            // Numbers always write.
            let _ = metadata.object("usage", |figures| {
                figures
                    .u64("inputTokens", usage.input_tokens)
                    .u64("outputTokens", usage.output_tokens)
                    .u64("totalTokens", usage.total_tokens())
                    .u64("cachedInputTokens", usage.cached_input_tokens)
                    .u64("reasoningTokens", usage.reasoning_tokens);
                Ok(())
            });
        });
        frame(&MessageMetadata::new(metadata), out);
    }

    /// Checks that an output or a piece of input belongs to a call.
    fn check_call(&self, id: &str) -> Result<(), SendError> {
        match self.calls.contains(id) {
            true => Ok(()),
            false => Err(SendError::Invalid("no tool call has this id".into())),
        }
    }

    fn begin_call(&mut self, id: &str, out: &mut Vec<u8>) {
        self.close(out);
        self.calls.insert(id.to_owned());
    }

    fn end_call(&mut self, id: &str, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.check_call(id)?;
        self.close(out);
        self.step_is_over = true;
        Ok(())
    }

    fn error(&mut self, message: &str, out: &mut Vec<u8>) {
        // The first error is the cause, and pages stop reading at it.
        if !std::mem::replace(&mut self.failed, true) {
            self.close_all(out);
            frame(&Error::new(message), out);
        }
    }
}

impl protocol::Session for Session {
    type Output = Output;
    type Ending = Ending;

    fn open(&mut self, out: &mut Vec<u8>) {
        let start = Start {
            message_id: Some(self.message_id.clone()),
            ..Start::default()
        };
        frame(&start, out);
        if let Some(settled) = self.settled.take() {
            // Before the step: the question belongs to the step that the user has answered.
            settled.write(out);
        }
        // Without a step of its own, the reply to the result of a tool leaves that tool in the last
        // step, and the page posts the result for ever.
        frame(&StartStep::default(), out);
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
        let frame = self.begin_text(out);
        frame.write(text, out);
        Ok(())
    }

    fn part(&mut self, part: Part<'_>, out: &mut Vec<u8>) -> Result<(), SendError> {
        match part {
            Part::Status(status) => Self::status(status, out),
            Part::Cite(citation) => self.cite(citation, out),
            Part::Table(table) => self.rows("table", table, None, out)?,
            Part::Chart(chart) => self.chart(chart, out)?,
            // After an `error` chunk the page reads no further, and this turn goes on.
            Part::Error(notice) => self.markdown(&notice.to_markdown(), out)?,
            Part::Confirm(question) => self.confirm(question, out)?,
            Part::Calls(calls) => self.calls(calls, out)?,
            Part::Reasoning(text) => self.reasoning(text, out),
            Part::ToolRun(run) => self.tool_run(run, out),
            Part::Usage(usage) => Self::usage(usage, out),
        }
        Ok(())
    }

    fn output(&mut self, output: &Output, out: &mut Vec<u8>) -> Result<(), SendError> {
        match output {
            Output::ReasoningDelta(ReasoningDelta { delta, .. }) => {
                self.reasoning(delta, out);
                return Ok(());
            }
            Output::Data(data) if data.name().is_empty() || data.name() == data.kind => {
                let rule = "the type of data must be `data-` and a name".into();
                return Err(SendError::Invalid(rule));
            }
            Output::MessageMetadata(chunk) if chunk.metadata.kind() != Kind::Object => {
                return Err(SendError::Invalid("metadata must be an object".into()));
            }
            // These need not interrupt a text.
            Output::Data(Data {
                transient: true, ..
            })
            | Output::MessageMetadata(_) => {}
            Output::SourceUrl(_) | Output::SourceDocument(_) => self.step_is_hidden = false,
            Output::Data(_) | Output::File(_) => self.close(out),
            Output::ToolInputStart(chunk) => self.begin_call(&chunk.tool_call_id, out),
            Output::ToolInputAvailable(chunk) => self.begin_call(&chunk.tool_call_id, out),
            Output::ToolInputDelta(chunk) => self.check_call(&chunk.tool_call_id)?,
            Output::ToolOutputAvailable(chunk) => self.end_call(&chunk.tool_call_id, out)?,
            Output::ToolOutputError(chunk) => self.end_call(&chunk.tool_call_id, out)?,
        }
        // Without unknown members: version 5.0.0 fails the reply at any.
        Event::from(output.clone()).strict().write(out);
        Ok(())
    }

    fn ending(&mut self, ending: &Ending, out: &mut Vec<u8>) -> Result<(), SendError> {
        match ending {
            Ending::Calls(calls) => {
                self.close(out);
                for call in calls {
                    Event::from(call.clone()).strict().write(out);
                }
            }
            Ending::Error(error) => self.error(&error.error_text, out),
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        if !self.failed {
            self.close_all(out);
            frame(&FinishStep::default(), out);
            // No `finishReason`: version 5.0.0 fails at members that it does not know.
            frame(&Finish::default(), out);
        }
        Event::Done.write(out);
    }

    fn cancelled(&mut self, out: &mut Vec<u8>) {
        if !self.failed {
            self.close_all(out);
            frame(&Abort::default(), out);
        }
        Event::Done.write(out);
    }

    fn fail(&mut self, failure: &Failure<'_>, out: &mut Vec<u8>) {
        self.error(failure.message, out);
        Event::Done.write(out);
    }
}

impl Session {
    fn chart(&mut self, chart: &Chart, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.rows("chart", &chart.to_table(), Some(&chart.kind), out)
    }
}
