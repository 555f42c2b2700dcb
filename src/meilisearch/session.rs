//! One reply, as a stream of chunks.

use crate::json::{Escape, Json, ValueWriter, Wire};
use crate::openai::{self, ToolCallDelta};
use crate::protocol::{Block, Blocks, End, Env, Part, SendError, Session, Writer};

use super::chunk::{ChatChunk, Choice};
use super::{ChatRequest, Ending, Event, Output, Provider, StreamError, ToolCall, Tools, Unknown};
use crate::openai::FinishReason;

/// One reply: the rounds of a model, whose texts clients join.
#[derive(Debug)]
pub struct Reply {
    env: Env,
    tools: Tools,
    /// The id of the chunks of this round.
    round: String,
    created: u64,
    /// The server repeats the model of the provider; here only the model of the request is known.
    model: String,
    provider: Provider,
    /// Set once the finish reason has been written.
    has_reason: bool,
}

/// The writer of a reply.
type To<'a> = Writer<'a, Reply>;

pub(super) fn session(request: &ChatRequest, env: &Env) -> Session<Reply> {
    Session::new(Reply {
        env: env.clone(),
        tools: request.tools,
        round: round(env),
        created: env.unix_time(),
        model: request.model.clone(),
        provider: Provider::default(),
        has_reason: false,
    })
}

fn round(env: &Env) -> String {
    format!("chatcmpl-{}", env.uuid())
}

impl Blocks for Reply {
    type Output = Output;
    type Ending = Ending;
    type Event = Event;

    fn write(&self, event: &Event, out: &mut Vec<u8>) {
        let mut choice = Choice::default();
        match event {
            Event::Text(text) => choice.delta.content = Some(text.clone()),
            Event::Refusal(text) => choice.delta.refusal = Some(text.clone()),
            Event::RoundBreak => {
                choice.delta.content = Some(String::new());
                choice.delta.role = Some("assistant".into());
            }
            Event::Logprobs(logprobs) => choice.logprobs = Some(logprobs.clone()),
            Event::Finish(reason) => choice.finish_reason = Some(reason.clone()),
            Event::Unknown(Unknown::Call(call)) => {
                // The server sends each call complete, at index 0 and with a unique id.
                let whole = openai::ToolCall {
                    id: self.id(&call.id),
                    ..call.into()
                };
                choice.delta.role = Some("assistant".into());
                let mut entry = Vec::new();
                let to = ValueWriter::new(&mut entry, Escape::Json);
                ToolCallDelta::complete(0, whole).write_to(to);
                let entry = Json::parse(entry).unwrap_or_default();
                choice.delta.tool_calls = Some(vec![entry].into());
            }
            Event::Error(failure) => return failure.write(&self.id(&failure.event_id), out),
            Event::Done => return out.extend_from_slice(b"data: [DONE]\n\n"),
            // Notifications are written as calls, and the provider's statements with every chunk.
            _ => return,
        }
        out.extend_from_slice(b"data: ");
        let chunk = ChatChunk {
            id: Some(self.round.clone()),
            choices: Some(vec![choice].into()),
            created: self.created,
            model: self.model.clone(),
            service_tier: self.provider.service_tier.clone(),
            system_fingerprint: self.provider.system_fingerprint.clone(),
            ..ChatChunk::default()
        };
        chunk.write_to(ValueWriter::new(out, Escape::Json));
        out.extend_from_slice(b"\n\n");
    }

    /// Opens a round with a chunk that has the role.
    fn begin(&mut self, to: &mut To<'_>) {
        to.event(self, Event::RoundBreak);
    }

    fn piece(&self, _: Block, text: String) -> Option<Event> {
        Some(Event::Text(text))
    }

    fn output(&mut self, output: &Output, to: &mut To<'_>) -> Result<(), SendError> {
        match output {
            Output::Text(text) => to.text(self, text),
            Output::Refusal(text) => to.event(self, Event::Refusal(text.clone())),
            Output::Progress(it) => self.notify(Tools::PROGRESS, &it.id, &it.to_raw(), to),
            Output::Append(it) => self.notify(Tools::APPEND, &it.id, it.message.json(), to),
            Output::Sources(it) => self.notify(Tools::SOURCES, &it.id, &it.to_raw(), to),
            Output::SearchFailure(failure) => to.event(self, Event::Error(failure.clone().into())),
            // The next round has another chunk id and its own opening chunk.
            Output::RoundBreak => {
                to.close(self);
                self.round = round(&self.env);
                to.event(self, Event::RoundBreak);
            }
            Output::Provider(provider) => {
                to.close(self);
                self.provider = provider.clone();
            }
            Output::Logprobs(logprobs) => to.event(self, Event::Logprobs(logprobs.clone())),
            Output::Call(call) => to.event(self, Event::Unknown(Unknown::Call(call.clone()))),
        }
        Ok(())
    }

    fn ending(&mut self, ending: &Ending, to: &mut To<'_>) -> Result<(), SendError> {
        match ending {
            Ending::Finish(reason) => self.finish(reason.clone(), to)?,
            Ending::Failure(failure) => {
                let mut failure = failure.clone();
                if !failure.is_terminal() {
                    // Clients continue after the failure of a search, and would wait for an answer that is never sent.
                    failure.kind = "server_error".into();
                }
                self.fail_with(failure, to);
            }
        }
        Ok(())
    }

    /// Writes no reasoning, usage or steps: a Meilisearch server drops the first two, and a progress notification must
    /// name a search.
    fn part(&mut self, part: Part<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        match part {
            Part::Reasoning(_) => Ok(()),
            Part::Cut(cut) => match FinishReason::of(cut) {
                Some(reason) => self.finish(reason, to),
                None => to.part(self, part),
            },
            part => to.part(self, part),
        }
    }

    fn end(&mut self, end: End<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        if let End::Failed(failure) = end {
            self.fail_with(StreamError::new("server_error", failure.message), to);
            return Ok(());
        }
        if !self.has_reason {
            self.finish(FinishReason::Stop, to)?;
        }
        to.event(self, Event::Done);
        Ok(())
    }
}

impl Reply {
    /// Writes a notification, unless the request did not switch it on.
    fn notify(&self, tool: Tools, id: &str, arguments: &Json, to: &mut To<'_>) {
        if self.tools.contains(tool) {
            // `tool` is a single notification, so it has exactly one name.
            let name = tool.names().next().unwrap_or_default();
            let call = ToolCall::new(id, name, arguments.text());
            to.event(self, Event::Unknown(Unknown::Call(call)));
        }
    }

    fn finish(&mut self, reason: FinishReason, to: &mut To<'_>) -> Result<(), SendError> {
        to.sources(self)?;
        to.event(self, Event::Finish(reason));
        self.has_reason = true;
        Ok(())
    }

    fn fail_with(&self, failure: StreamError, to: &mut To<'_>) {
        to.fail();
        to.event(self, Event::Error(failure));
        to.event(self, Event::Done);
    }

    /// Returns an id, or a random one in place of an empty one.
    fn id(&self, id: &str) -> String {
        match id {
            "" => self.env.uuid(),
            id => id.to_owned(),
        }
    }
}
