//! One reply as it is written.

use std::convert::Infallible;
use std::time::SystemTime;

use copilot_wire::json::Wire as _;
use copilot_wire::protocol::{
    Block, Blocks, Completion, End, Env, FrameEvent as _, Part, Protocol as _, SendError, Session,
    ToolCall, Usage, Writer, date_time,
};

use super::{ChatMessage, ChatRequest, DoneReason, Event, Function, Ollama, ToolUse};

/// The maximum size in bytes of an answer without a stream.
const LIMIT: usize = 32 * 1024 * 1024;

/// The lines of one reply.
#[derive(Debug)]
pub struct Lines {
    env: Env,
    model: String,
    start: SystemTime,
    created_at: String,
    thinks: bool,
    done_reason: String,
    usage: Option<Usage>,
}

type To<'a> = Writer<'a, Lines>;

pub(super) fn session(request: &ChatRequest, env: &Env) -> Session<Lines> {
    let think = request.think.as_ref().and_then(|think| think.as_bool());
    let lines = Lines {
        env: env.clone(),
        model: request.model.clone(),
        start: env.now(),
        created_at: date_time(env.unix_time()),
        thinks: think != Some(false),
        done_reason: "stop".into(),
        usage: None,
    };
    let tools = request.tools.iter().map(|tool| tool.function.name.clone());
    let session = Session::new(lines).tools(tools);
    match request.stream {
        Some(false) => session.document(Completion::new().limit(LIMIT), Ollama::deltas),
        _ => session,
    }
}

impl Blocks for Lines {
    type Output = Infallible;
    type Ending = DoneReason;
    type Event = Event;

    fn write(&self, event: &Event, out: &mut Vec<u8>) {
        event.write_data(out);
        out.push(b'\n');
    }

    /// An answer without a stream is one line, with all pieces.
    fn document(answer: Completion, out: &mut Vec<u8>) {
        let mut message = ChatMessage::new("assistant", answer.text());
        message.thinking = answer.reasoning().to_owned();
        message.tool_calls = answer.calls().iter().map(ToolUse::from).collect();
        // The members of the last line.
        let line = Event::from_raw(&answer.into_items().0).unwrap_or_default();
        Event { message, ..line }.write_data(out);
    }

    fn piece(&self, block: Block, text: String) -> Option<Event> {
        let mut line = self.line();
        match block {
            Block::Reasoning => line.message.thinking = text,
            _ => line.message.content = text,
        }
        Some(line)
    }

    fn output(&mut self, never: &Infallible, _: &mut To<'_>) -> Result<(), SendError> {
        match *never {}
    }

    fn ending(&mut self, reason: &DoneReason, _: &mut To<'_>) -> Result<(), SendError> {
        self.done_reason.clone_from(&reason.0);
        Ok(())
    }

    fn part(&mut self, part: Part<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        match part {
            Part::Reasoning(_) if !self.thinks => Ok(()),
            Part::Usage(usage) => {
                self.usage = Some(*usage);
                Ok(())
            }
            Part::Calls(calls) => self.calls(calls, to),
            part => to.part(self, part),
        }
    }

    fn end(&mut self, end: End<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        if let End::Failed(failure) = end {
            let failed = Event::failed(failure.message);
            match to.fail() {
                Some(body) => failed.write_data(body),
                None => to.event(self, failed),
            }
            return Ok(());
        }
        let took = self.env.now().duration_since(self.start);
        let took = took.unwrap_or_default().as_nanos();
        let last = Event {
            done: Some(true),
            done_reason: Some(self.done_reason.clone()),
            total_duration: u64::try_from(took).ok(),
            prompt_eval_count: self.usage.map(|usage| usage.input_tokens),
            eval_count: self.usage.map(|usage| usage.output_tokens),
            ..self.line()
        };
        to.event(self, last);
        Ok(())
    }

    /// Writes an empty piece, the only harmless line: every line is JSON.
    fn keep_alive(&mut self, to: &mut To<'_>) -> bool {
        self.write(&self.line(), to.stream());
        true
    }
}

impl Lines {
    fn calls(&mut self, calls: &[ToolCall], to: &mut To<'_>) -> Result<(), SendError> {
        to.sources(self)?;
        let mut line = self.line();
        let calls = calls.iter().map(|call| ToolUse {
            id: Some(self.env.new_id("call")),
            ..call.into()
        });
        line.message.tool_calls = calls.collect();
        to.event(self, line);
        Ok(())
    }

    fn line(&self) -> Event {
        Event {
            model: self.model.clone(),
            created_at: self.created_at.clone(),
            message: ChatMessage::new("assistant", ""),
            done: Some(false),
            ..Event::default()
        }
    }
}

impl From<&ToolCall> for ToolUse {
    fn from(call: &ToolCall) -> Self {
        Self {
            id: call.id.clone(),
            function: Function {
                name: call.name.clone(),
                arguments: Some(call.arguments.clone()),
                ..Function::default()
            },
            ..Self::default()
        }
    }
}
