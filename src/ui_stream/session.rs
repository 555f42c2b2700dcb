//! Writing one reply.

use std::collections::HashMap;
use std::mem;

use super::chunk::{
    Abort, Error, Finish, FinishStep, MessageMetadata, ReasoningDelta, ReasoningEnd,
    ReasoningStart, SourceDocument, SourceUrl, Start, StartStep, TextDelta, TextEnd, TextStart,
    ToolApprovalRequest, ToolInputAvailable, ToolOutputDenied,
};
use super::data::PREFIX;
use super::{ChatRequest, Data, Ending, Event, Output, Settings};
use crate::json::{Json, Kind, Members, ObjectWriter};
use crate::protocol::{
    Block, Blocks, ChartKind, Citation, Conversation as _, Cut, End, Env, FrameEvent as _, Level,
    Part, Question, SendError, Session, Status, Table, ToolCall, ToolRun, Usage, Writer,
};

/// The name of the tool whose call represents a confirmation.
pub(super) const QUESTION: &str = "confirm";

/// One reply with its blocks and steps.
///
/// AI SDK UI message stream, 3.2 and 4: a piece of text belongs to an open block; a reply always has a step; a failure
/// is always sent, because a page takes a truncated stream for a complete one.
#[derive(Debug)]
pub struct Reply {
    env: Env,
    approvals: bool,
    markdown: bool,
    message_id: String,
    /// The chunk that settles the question answered by the request.
    settled: Option<Event>,
    /// The calls by id, for which outputs are accepted.
    calls: HashMap<String, CallState>,
    /// The `finishReason` of the reply. `None` if pages reject it.
    finish_reason: Option<&'static str>,
    /// The id of the newest block.
    block: String,
    /// The number of the newest block.
    blocks: u64,
    /// The number of sources in the message, including those of earlier replies.
    sources: usize,
    /// `true` if the step contains the output of a tool. It must then not be the last step: a page that finds only
    /// finished tools in the last step posts again and again.
    step_is_over: bool,
    /// `true` if the previous step contains the output of a tool and the new step is empty: pages recognize the new
    /// step by its first part.
    step_is_hidden: bool,
}

/// What is still missing of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallState {
    /// Its input, which arrives in pieces.
    Input,
    /// Its output, from the page.
    Output,
    /// Nothing, or only the output of the server.
    Nothing,
}

/// The writer of a reply.
type To<'a> = Writer<'a, Reply>;

pub(super) fn session(request: &ChatRequest, settings: &Settings, env: &Env) -> Session<Reply> {
    let continued = request.continued();
    let id = continued.map(|message| message.id.clone());
    let parts = continued.into_iter().flat_map(|message| &message.parts);
    let sources = parts.clone().filter(|part| part.source_id.is_some());
    let reply = Reply {
        env: env.clone(),
        approvals: settings.approvals,
        markdown: settings.markdown,
        message_id: id
            .filter(|id| !id.is_empty())
            .unwrap_or_else(|| env.new_id("msg")),
        settled: settled(request),
        sources: sources.count(),
        // A reply that continues a message may also send the output of a call in that message.
        calls: parts
            .filter_map(|part| Some((part.tool_call_id.clone()?, CallState::Nothing)))
            .collect(),
        finish_reason: settings.finish_reason.then_some("stop"),
        block: String::new(),
        blocks: 0,
        step_is_over: false,
        step_is_hidden: continued.is_some(),
    };
    Session::new(reply).tools(request.tools().map(|tool| tool.name.into_owned()))
}

/// Returns the chunk that settles the question answered by the request.
fn settled(request: &ChatRequest) -> Option<Event> {
    let part = request.decided()?;
    let tool_call_id = part.tool_call_id.clone()?;
    if part.approval.as_ref()?.approved != Some(true) {
        let unknown = Members::new();
        return Some(Event::from(ToolOutputDenied {
            tool_call_id,
            unknown,
        }));
    }
    let answer = Json::object(|answer| {
        answer.bool("approved", true);
    });
    let call = ToolInputAvailable::new(tool_call_id, QUESTION, Json::default());
    Some(call.dynamic().output(answer).into())
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
        let start = Start {
            message_id: Some(mem::take(&mut self.message_id)),
            ..Start::default()
        };
        to.event(self, start);
        if let Some(settled) = self.settled.take() {
            // Before the new step: the question belongs to the step that contains the user's answer.
            to.event(self, settled);
        }
        // Without a new step, the reply to the result of a tool would leave this tool in the last step, and the page
        // would post the result again and again.
        to.event(self, StartStep::default());
    }

    fn open(&mut self, block: Block, to: &mut To<'_>) {
        self.interrupt(to);
        self.blocks += 1;
        let letter = if block == Block::Text { 't' } else { 'r' };
        self.block = format!("{letter}{}", self.blocks);
        let (id, unknown) = (self.block.clone(), Members::new());
        match block {
            Block::Text => to.event(self, TextStart { id, unknown }),
            _ => to.event(self, ReasoningStart { id, unknown }),
        }
    }

    fn piece(&self, block: Block, delta: String) -> Option<Event> {
        let (id, unknown) = (self.block.clone(), Members::new());
        Some(match block {
            Block::Text => TextDelta { id, delta, unknown }.into(),
            _ => ReasoningDelta { id, delta, unknown }.into(),
        })
    }

    fn close(&mut self, block: Block, to: &mut To<'_>) {
        let (id, unknown) = (self.block.clone(), Members::new());
        match block {
            Block::Text => to.event(self, TextEnd { id, unknown }),
            _ => to.event(self, ReasoningEnd { id, unknown }),
        }
    }

    fn output(&mut self, output: &Output, to: &mut To<'_>) -> Result<(), SendError> {
        match output {
            Output::ReasoningDelta(piece) => {
                to.piece(self, Block::Reasoning, &piece.delta);
                return Ok(());
            }
            Output::Data(data) if data.name().is_empty() || data.name() == data.kind => {
                let rule = "the type of data must be `data-` and a name".into();
                return Err(SendError::Invalid(rule));
            }
            Output::MessageMetadata(chunk) if chunk.metadata.kind() != Kind::Object => {
                return Err(SendError::Invalid("metadata must be an object".into()));
            }
            // Transient data does not interrupt a block of text.
            Output::Data(Data {
                transient: true, ..
            })
            | Output::MessageMetadata(_) => {}
            Output::SourceUrl(_) | Output::SourceDocument(_) => self.step_is_hidden = false,
            Output::Data(_) | Output::File(_) => self.interrupt(to),
            Output::ToolInputStart(chunk) => {
                self.begin_call(&chunk.tool_call_id, CallState::Input, to);
            }
            Output::ToolInputAvailable(chunk) => {
                let missing = match chunk.provider_executed {
                    true => CallState::Nothing,
                    false => CallState::Output,
                };
                self.begin_call(&chunk.tool_call_id, missing, to);
            }
            // Pages fail a reply with a piece of an input that has not started or is complete.
            Output::ToolInputDelta(chunk) => match self.calls.get(&chunk.tool_call_id) {
                Some(CallState::Input) => {}
                _ => {
                    let rule = "no tool input with this id is open".into();
                    return Err(SendError::Invalid(rule));
                }
            },
            Output::ToolOutputAvailable(chunk) => self.end_call(&chunk.tool_call_id, to)?,
            Output::ToolOutputError(chunk) => self.end_call(&chunk.tool_call_id, to)?,
        }
        // Without unknown members, for which version 5.0.0 fails the reply.
        to.event(self, Event::from(output.clone()).strict());
        Ok(())
    }

    fn ending(&mut self, ending: &Ending, to: &mut To<'_>) -> Result<(), SendError> {
        match ending {
            Ending::Calls(calls) => {
                self.interrupt(to);
                self.set_reason("tool-calls");
                for call in calls {
                    to.event(self, Event::from(call.clone()).strict());
                }
            }
            Ending::Error(error) => self.fail_with(&error.error_text, to),
        }
        Ok(())
    }

    fn part(&mut self, part: Part<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        match part {
            Part::Status(status) => self.status(status, to),
            Part::ToolRun(run) => self.tool_run(run, to),
            Part::Usage(usage) => self.usage(usage, to),
            Part::Cite(citation) => self.cite(citation, to),
            Part::Table(table) => return self.rows("table", table, None, to),
            Part::Chart(chart) => {
                return self.rows("chart", &chart.to_table(), Some(&chart.kind), to);
            }
            Part::Confirm(question) => return self.confirm(question, to),
            Part::Calls(calls) => self.calls(calls, to),
            Part::Cut(cut) => return self.cut(cut, to),
            part => return to.part(self, part),
        }
        Ok(())
    }

    fn end(&mut self, end: End<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        if let End::Failed(failure) = end {
            self.fail_with(failure.message, to);
            return Ok(());
        }
        self.end_step(to);
        if let End::Cancelled = end {
            to.event(self, Abort::default());
        } else {
            to.event(self, FinishStep::default());
            if self.calls.values().any(|call| *call == CallState::Output) {
                self.set_reason("tool-calls");
            }
            let finish_reason = self.finish_reason.map(str::to_owned);
            let finish = Finish {
                finish_reason,
                ..Finish::default()
            };
            to.event(self, finish);
        }
        to.event(self, Event::Done);
        Ok(())
    }
}

impl Reply {
    fn status(&self, status: &Status, to: &mut To<'_>) {
        let level = match status.level {
            Level::Info => "info",
            Level::Warning => "warning",
            Level::Error => "error",
        };
        let mut data = data("status", |data| {
            data.str("level", level).str("message", &status.message);
            status.write_details(data);
        });
        data.transient = true;
        to.event(self, data);
    }

    /// Writes a run of a tool, marked so that the page does not run the tool again.
    fn tool_run(&mut self, run: &ToolRun, to: &mut To<'_>) {
        self.interrupt(to);
        let id = self.env.new_id("call");
        let call = ToolInputAvailable::new(id, &*run.name, run.arguments.clone());
        let call = call.provider_executed();
        to.event(self, call.clone());
        match &run.outcome {
            Ok(output) => to.event(self, call.output(output.clone())),
            Err(message) => to.event(self, call.failure(message)),
        }
        self.step_is_over = true;
    }

    /// Writes the usage with the names of the SDK, as metadata. The page merges metadata, so the last usage counts.
    fn usage(&self, usage: &Usage, to: &mut To<'_>) {
        let metadata = Json::object(|metadata| {
            // Writing numbers cannot fail.
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
        to.event(self, MessageMetadata::new(metadata));
    }

    /// Writes a source. An open block stays open, because a text in two blocks would be shown as two paragraphs.
    fn cite(&mut self, citation: &Citation, to: &mut To<'_>) {
        self.sources += 1;
        // A source is a part, by which pages recognize the step.
        self.step_is_hidden = false;
        let id = self.sources.to_string();
        let title = Some(&*citation.title).filter(|title| !title.is_empty());
        match citation.web_url() {
            Some(url) => {
                let mut source = SourceUrl::new(id, url);
                source.title = title.map(str::to_owned);
                to.event(self, source);
            }
            // The page gets no link, which could contain a script.
            None => {
                let title = title.or(citation.url.as_deref());
                let title = title.unwrap_or("(untitled)");
                to.event(self, SourceDocument::new(id, "text/plain", title));
            }
        }
    }

    fn confirm(&mut self, question: &Question<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        if !self.approvals {
            return to.markdown(self, &question.to_text()?);
        }
        self.interrupt(to);
        self.set_reason("tool-calls");
        let input = Json::object(|input| question.write_to(input));
        let call = ToolInputAvailable::new(self.env.new_id("call"), QUESTION, input).dynamic();
        let request = ToolApprovalRequest {
            approval_id: question.id.clone(),
            tool_call_id: call.tool_call_id.clone(),
            unknown: Members::new(),
        };
        to.event(self, call);
        to.event(self, request);
        Ok(())
    }

    fn calls(&mut self, calls: &[ToolCall], to: &mut To<'_>) {
        self.interrupt(to);
        self.set_reason("tool-calls");
        for call in calls {
            let id = self.env.new_id("call");
            let call = ToolInputAvailable::new(id, &*call.name, call.arguments.clone());
            to.event(self, call);
        }
    }

    /// Writes the notice too, because pages show no `finishReason`.
    fn cut(&mut self, cut: Cut, to: &mut To<'_>) -> Result<(), SendError> {
        self.set_reason(match cut {
            Cut::Length => "length",
            Cut::Filter => "content-filter",
            Cut::Other => "other",
        });
        to.part(self, Part::Cut(cut))
    }

    /// Closes the open block, and the step if it contains the output of a tool, before a part that pages show
    /// separately.
    fn interrupt(&mut self, to: &mut To<'_>) {
        to.close(self);
        self.step_is_hidden = false;
        if mem::take(&mut self.step_is_over) {
            to.event(self, FinishStep::default());
            to.event(self, StartStep::default());
        }
    }

    /// Closes the open block and step at the end of the reply. A step without a part gets an empty text.
    fn end_step(&mut self, to: &mut To<'_>) {
        if self.step_is_over || self.step_is_hidden {
            to.open(self, Block::Text);
        }
        to.close(self);
    }

    fn fail_with(&mut self, message: &str, to: &mut To<'_>) {
        to.fail();
        self.end_step(to);
        to.event(self, Error::new(message));
        to.event(self, Event::Done);
    }

    /// Writes rows as data for a component of the page, and as Markdown if `markdown` is set.
    fn rows(
        &mut self,
        name: &str,
        table: &Table,
        kind: Option<&ChartKind>,
        to: &mut To<'_>,
    ) -> Result<(), SendError> {
        self.interrupt(to);
        to.event(self, data(name, |data| table.write_to(kind, data)));
        match self.markdown {
            true => to.markdown(self, &table.to_markdown()),
            false => Ok(()),
        }
    }

    fn set_reason(&mut self, reason: &'static str) {
        if let Some(set) = &mut self.finish_reason {
            *set = reason;
        }
    }

    fn begin_call(&mut self, id: &str, missing: CallState, to: &mut To<'_>) {
        self.interrupt(to);
        self.calls.insert(id.to_owned(), missing);
    }

    fn end_call(&mut self, id: &str, to: &mut To<'_>) -> Result<(), SendError> {
        match self.calls.get_mut(id) {
            Some(missing) => *missing = CallState::Nothing,
            None => return Err(SendError::Invalid("no tool call has this id".into())),
        }
        self.interrupt(to);
        self.step_is_over = true;
        Ok(())
    }
}

/// Creates the data chunk for a part of the shared vocabulary.
fn data(name: &str, write: impl FnOnce(&mut ObjectWriter<'_>)) -> Data {
    Data {
        kind: format!("{PREFIX}{name}"),
        data: Json::object(write),
        ..Data::default()
    }
}
