//! One reply as it is written.

use std::convert::Infallible;
use std::time::SystemTime;

use copilot_wire::protocol::{
    AnswerDocument, Block, BlockSession, Blocks, Env, Failure, Framing, SendError, TooLarge,
    ToolCall, Usage, Writer,
};

use super::date::date_time;
use super::{ChatMessage, ChatRequest, DoneReason, Event, Failed, Function, Piece, ToolUse};

/// The maximum size in bytes of an answer without a stream.
const LIMIT: usize = 32 * 1024 * 1024;

/// One reply.
pub type Session = BlockSession<Lines>;

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

pub(super) fn session(request: &ChatRequest, env: &Env) -> Session {
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
    let document = (request.stream == Some(false)).then(Answer::default);
    BlockSession::new(lines).tools(tools).document(document)
}

impl Blocks for Lines {
    type Output = Infallible;
    type Ending = DoneReason;
    type Event = Event;
    type Document = Answer;

    fn write(&self, event: &Event, out: &mut Vec<u8>) {
        event.write(out);
    }

    fn piece(&self, block: Block, text: String) -> Event {
        let mut message = ChatMessage::new("assistant", "");
        match block {
            Block::Reasoning => message.thinking = text,
            _ => message.content = text,
        }
        self.line(message)
    }

    fn output(&mut self, never: &Infallible, _: &mut To<'_>) -> Result<(), SendError> {
        match *never {}
    }

    fn ending(&mut self, reason: &DoneReason, _: &mut To<'_>) -> Result<(), SendError> {
        self.done_reason.clone_from(&reason.0);
        Ok(())
    }

    fn reasoning(&mut self, text: &str, to: &mut To<'_>) {
        if self.thinks {
            to.piece(self, Block::Reasoning, text);
        }
    }

    fn usage(&mut self, usage: &Usage, _: &mut To<'_>) {
        self.usage = Some(*usage);
    }

    fn calls(&mut self, calls: &[ToolCall], to: &mut To<'_>) -> Result<(), SendError> {
        to.sources(self);
        let mut message = ChatMessage::new("assistant", "");
        message.tool_calls = calls
            .iter()
            .map(|call| ToolUse {
                id: Some(format!("call_{}", self.env.uuid())),
                function: Function {
                    name: call.name.clone(),
                    arguments: Some(call.arguments.clone()),
                    ..Function::default()
                },
                ..ToolUse::default()
            })
            .collect();
        to.event(self, self.line(message));
        Ok(())
    }

    fn end(&mut self, to: &mut To<'_>) -> Result<(), SendError> {
        let took = self.env.now().duration_since(self.start);
        let took = took.unwrap_or_default().as_nanos();
        to.event(
            self,
            Event::Piece(Piece {
                done: true,
                done_reason: Some(self.done_reason.clone()),
                total_duration: u64::try_from(took).ok(),
                prompt_eval_count: self.usage.map(|usage| usage.input_tokens),
                eval_count: self.usage.map(|usage| usage.output_tokens),
                ..self.of(ChatMessage::new("assistant", ""))
            }),
        );
        Ok(())
    }

    fn fail(&mut self, failure: &Failure<'_>, to: &mut To<'_>) {
        let failed = Failed::new(failure.message);
        match to.fail() {
            Some(body) => body.extend_from_slice(&failed.to_json()),
            None => to.event(self, Event::Failed(failed)),
        }
    }

    /// Writes an empty piece, the only harmless line: every line is JSON.
    fn keep_alive(&self, _: Framing, _: bool, out: &mut Vec<u8>) {
        self.line(ChatMessage::new("assistant", "")).write(out);
    }
}

impl Lines {
    fn line(&self, message: ChatMessage) -> Event {
        Event::Piece(self.of(message))
    }

    fn of(&self, message: ChatMessage) -> Piece {
        Piece {
            model: self.model.clone(),
            created_at: self.created_at.clone(),
            message,
            ..Piece::default()
        }
    }
}

/// An answer without a stream: one line, with all pieces.
#[derive(Debug, Default)]
pub struct Answer {
    piece: Piece,
    size: usize,
}

impl Answer {
    fn grow(&mut self, size: usize) -> Result<(), SendError> {
        self.size = self.size.saturating_add(size);
        match self.size > LIMIT {
            true => Err(TooLarge::new(LIMIT).into()),
            false => Ok(()),
        }
    }
}

impl AnswerDocument<Event> for Answer {
    fn push(&mut self, event: &Event) -> Result<(), SendError> {
        let Event::Piece(event) = event else {
            return Ok(());
        };
        let message = &event.message;
        let calls = message.tool_calls.iter();
        let calls = calls.map(|call| call.to_json().len()).sum::<usize>();
        self.grow(message.content.len() + message.thinking.len() + calls)?;
        let mut whole = std::mem::take(&mut self.piece.message);
        whole.role.clone_from(&message.role);
        whole.content.push_str(&message.content);
        whole.thinking.push_str(&message.thinking);
        for call in &message.tool_calls {
            whole.tool_calls.push(call.clone());
        }
        self.piece = Piece {
            message: whole,
            ..event.clone()
        };
        Ok(())
    }

    fn push_text(&mut self, text: &str) -> Result<(), SendError> {
        self.grow(text.len())?;
        self.piece.message.content.push_str(text);
        Ok(())
    }

    fn finish(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.piece.to_json());
    }
}
