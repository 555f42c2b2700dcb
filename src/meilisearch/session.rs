//! One reply, as a stream of chunks.

use std::convert::Infallible;

use serde::Serialize;

use crate::json::{Escape, Json, Wire, write};
use crate::protocol::{self, Block, BlockSession, Blocks, Env, SendError, ToolCall, Writer};

use super::{
    Call, ChatRequest, Ending, Event, Failure, FinishReason, Output, Provider, Tools, Unknown,
};

/// The session of one reply.
pub type Session = BlockSession<Reply>;

/// One reply: the rounds of a model, which are read as one text.
#[derive(Debug)]
pub struct Reply {
    env: Env,
    tools: Tools,
    /// The id of the chunks of this round.
    round: String,
    created: u64,
    /// The server repeats the model of the provider; here the request's is the only one known.
    model: String,
    provider: Provider,
    /// Set once the finish reason has been written.
    has_reason: bool,
}

/// The place that a reply is written to.
type To<'a> = Writer<'a, Reply>;

pub(super) fn session(request: &ChatRequest, env: &Env) -> Session {
    BlockSession::new(Reply {
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

/// A chunk as Meilisearch 1.50 writes it: every chunk has all keys, absent values are `null`, and the order of the
/// keys is fixed.
#[derive(Serialize)]
struct Chunk<'a> {
    id: &'a str,
    choices: [Choice<'a>; 1],
    created: u64,
    model: &'a str,
    service_tier: Option<&'a str>,
    system_fingerprint: Option<&'a str>,
    object: &'static str,
    usage: (),
}

#[derive(Default, Serialize)]
struct Choice<'a> {
    index: u32,
    delta: Delta<'a>,
    finish_reason: Option<&'a str>,
    logprobs: Option<&'a Json>,
}

#[derive(Default, Serialize)]
struct Delta<'a> {
    content: Option<&'a str>,
    function_call: (),
    tool_calls: Option<[Notification<'a>; 1]>,
    role: Option<&'static str>,
    refusal: Option<&'a str>,
}

/// A call: complete, at index 0 and with a unique id.
#[derive(Serialize)]
struct Notification<'a> {
    index: u32,
    id: String,
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: &'a str,
}

impl Blocks for Reply {
    type Output = Output;
    type Ending = Ending;
    type Event = Event;
    type Document = Infallible;

    const ESCAPE: Escape = Escape::Json;
    const NOT_OFFERED: &'static str = "calls";

    fn write(&self, event: &Event, out: &mut Vec<u8>) {
        let mut choice = Choice::default();
        match event {
            Event::Text(text) => choice.delta.content = Some(text),
            Event::Refusal(text) => choice.delta.refusal = Some(text),
            Event::RoundBreak => {
                (choice.delta.content, choice.delta.role) = (Some(""), Some("assistant"));
            }
            Event::Logprobs(logprobs) => choice.logprobs = Some(logprobs),
            Event::Finish(reason) => choice.finish_reason = Some(reason.as_str()),
            Event::Unknown(Unknown::Call(call)) => {
                choice.delta.role = Some("assistant");
                choice.delta.tool_calls = Some([Notification {
                    index: 0,
                    id: self.id(&call.id),
                    r#type: "function",
                    function: Function {
                        name: &call.name,
                        arguments: &call.arguments,
                    },
                }]);
            }
            Event::Error(failure) => return failure.write(&self.id(&failure.event_id), out),
            Event::Done => return out.extend_from_slice(b"data: [DONE]\n\n"),
            // Notifications are written as calls, and the provider's statements with every chunk.
            _ => return,
        }
        out.extend_from_slice(b"data: ");
        let chunk = Chunk {
            id: &self.round,
            choices: [choice],
            created: self.created,
            model: &self.model,
            service_tier: self.provider.service_tier.as_deref(),
            system_fingerprint: self.provider.system_fingerprint.as_deref(),
            object: "chat.completion.chunk",
            usage: (),
        };
        // Serializing strings and raw values cannot fail.
        let _ = write(&chunk, Escape::Json, out);
        out.extend_from_slice(b"\n\n");
    }

    /// Opens a round with a chunk that has the role.
    fn begin(&mut self, to: &mut To<'_>) {
        to.event(self, Event::RoundBreak);
    }

    fn piece(&self, _: Block, text: String) -> Event {
        Event::Text(text)
    }

    fn output(&mut self, output: &Output, to: &mut To<'_>) -> Result<(), SendError> {
        match output {
            Output::Text(text) => to.text(self, text),
            Output::Refusal(text) => to.event(self, Event::Refusal(text.clone())),
            Output::Progress(it) => self.notify(Tools::PROGRESS, &it.id, &it.to_raw(), to),
            Output::Append(it) => self.notify(Tools::APPEND, &it.id, it.message.json(), to),
            Output::Sources(it) => self.notify(Tools::SOURCES, &it.id, &it.to_raw(), to),
            Output::SearchFailure(failure) => to.event(self, Event::Error(failure.clone().into())),
            // Other ids of chunks, and an opening chunk.
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
            Ending::Finish(reason) => self.finish(reason.clone(), to),
            Ending::Failure(failure) => {
                let mut failure = failure.clone();
                if !failure.is_terminal() {
                    // Clients go on after a failed search, and would wait for an answer that does not come.
                    failure.kind = "server_error".into();
                }
                self.fail_with(failure, to);
            }
        }
        Ok(())
    }

    /// Writes nothing: a Meilisearch server drops reasoning. There is nothing for steps either, because a progress
    /// notification must name a search, and for usage.
    fn reasoning(&mut self, _: &str, _: &mut To<'_>) {}

    fn calls(&mut self, _: &[ToolCall], _: &mut To<'_>) -> Result<(), SendError> {
        Err(SendError::Unsupported(Self::NOT_OFFERED))
    }

    fn end(&mut self, to: &mut To<'_>) -> Result<(), SendError> {
        if !self.has_reason {
            self.finish(FinishReason::Stop, to);
        }
        Ok(())
    }

    fn fail(&mut self, failure: &protocol::Failure<'_>, to: &mut To<'_>) {
        self.fail_with(Failure::new("server_error", failure.message), to);
    }

    fn trail(&mut self, to: &mut To<'_>) {
        to.event(self, Event::Done);
    }
}

impl Reply {
    /// Writes a notification, unless the request did not switch it on.
    fn notify(&self, tool: Tools, id: &str, arguments: &Json, to: &mut To<'_>) {
        if self.tools.contains(tool) {
            // One tool, so one name.
            let name = tool.names().next().unwrap_or_default();
            let call = Call::new(id, name, arguments.text());
            to.event(self, Event::Unknown(Unknown::Call(call)));
        }
    }

    fn finish(&mut self, reason: FinishReason, to: &mut To<'_>) {
        to.sources(self);
        to.event(self, Event::Finish(reason));
        self.has_reason = true;
    }

    fn fail_with(&self, failure: Failure, to: &mut To<'_>) {
        to.fail();
        to.event(self, Event::Error(failure));
    }

    /// Returns an id, or a random one in place of an empty one.
    fn id(&self, id: &str) -> String {
        match id {
            "" => self.env.uuid(),
            id => id.to_owned(),
        }
    }
}
