//! The protocol in the kit: rules for agents in any language, which are programs, and the lines of transcripts.

mod program;
mod rules;

use std::sync::Arc;

use agent_client_protocol::RawJsonRpcResponse;
use agent_client_protocol::v1::schema::{ContentBlock, SessionUpdate};
use bytes::Bytes;
use copilot_wire::Agent;
use copilot_wire::protocol::{EventDecoder, EventError, Notice};
use copilot_wire::router::{Mount, MountError, Site};
use copilot_wire_kit::check::{Exam, Judge, Rule, Stream};
use copilot_wire_kit::{
    BoxError, Effect, FrontEnd, Next, Sample, Setup, Summary, ToolOutcome, Toolkit, post,
};
use serde_json::json;

pub use program::Program;

use crate::{Acp, Event, Question};

/// An editor without sessions, for tools that work with any protocol: each request is a prompt of a session of its own.
/// [`EmulatedEditor`](crate::EmulatedEditor) has sessions.
#[derive(Debug, Default)]
pub struct OnePrompt {
    text: String,
    decoder: EventDecoder<Acp>,
    has_ended: bool,
}

impl FrontEnd for OnePrompt {
    type Protocol = Acp;

    /// Empty: editors start a program.
    const PATH: &'static str = "";

    fn prompt(&mut self, text: &str) {
        text.clone_into(&mut self.text);
    }

    fn request(&self) -> http::Request<Bytes> {
        let prompt = json!([{"type": "text", "text": self.text}]);
        let params = json!({"sessionId": "session", "prompt": prompt});
        let message =
            json!({"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": params});
        post("/", message.to_string())
    }

    fn decode(&mut self, input: &mut &[u8]) -> Result<Option<Event>, EventError> {
        Ok(self.decoder.next(input)?.cloned())
    }

    fn receive(&mut self, event: &Event) -> Vec<Effect> {
        let text = |content: &ContentBlock| match content {
            ContentBlock::Text(text) => text.text.clone(),
            _ => String::new(),
        };
        match event {
            Event::Update(update) => match &update.update {
                SessionUpdate::AgentMessageChunk(chunk) => vec![Effect::Text(text(&chunk.content))],
                SessionUpdate::AgentThoughtChunk(chunk) => {
                    vec![Effect::Reasoning(text(&chunk.content))]
                }
                _ => Vec::new(),
            },
            Event::End(response) => {
                self.has_ended = true;
                match response {
                    RawJsonRpcResponse::Error { error, .. } => {
                        vec![Effect::Error(Notice::new(&*error.message))]
                    }
                    _ => Vec::new(),
                }
            }
            _ => Vec::new(),
        }
    }

    fn next(&mut self) -> Next {
        self.decoder = EventDecoder::new();
        match std::mem::take(&mut self.has_ended) {
            true => Next::Nothing,
            false => Next::Broken("the prompt has no response"),
        }
    }

    fn answer(&mut self, _: Vec<ToolOutcome>) {}
}

/// Answers prompts at `POST /acp`, for tools that work with any protocol.
struct Prompts;

impl Mount for Prompts {
    type Protocol = Acp;

    fn mount(self, agent: Arc<dyn Agent<Acp>>, site: &mut Site<'_>) -> Result<(), MountError> {
        site.agent("/acp", agent)
    }
}

impl Toolkit for Acp {
    const TITLE: &'static str = "Editors of the Agent Client Protocol";

    const SAMPLE: Sample = Sample::new(
        r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}}"#,
        &[],
        &[],
    );

    const RULES: &'static [&'static [&'static Rule]] = &[rules::RULES];

    type FrontEnd = OnePrompt;

    fn front_end(_: &Setup<'_>) -> Result<OnePrompt, BoxError> {
        Ok(OnePrompt::default())
    }

    fn describe(event: &Event) -> Summary {
        match event {
            Event::Update(update) => {
                let update = serde_json::to_value(&update.update).unwrap_or_default();
                let kind = update.get("sessionUpdate").and_then(|it| it.as_str());
                let kind = kind.unwrap_or("update").to_owned();
                let words = ["/content/text", "/title", "/toolCallId"];
                let words = words.iter().find_map(|path| update.pointer(path)?.as_str());
                let words = words.map_or_else(|| update.to_string(), str::to_owned);
                Summary::new(kind, words)
            }
            Event::Question(_, question) => match &**question {
                Question::Permission(asked) => {
                    let title = asked.tool_call.fields.title.as_deref();
                    Summary::new("permission", title.unwrap_or_default())
                }
                Question::Elicitation(asked) => Summary::new("question", &*asked.message),
            },
            Event::End(RawJsonRpcResponse::Result { result, .. }) => {
                Summary::new("response", result.to_string()).last()
            }
            Event::End(RawJsonRpcResponse::Error { error, .. }) => {
                Summary::new("error", &*error.message).failed().last()
            }
            Event::Other(message) => {
                let text = serde_json::to_string(message).unwrap_or_default();
                Summary::new("message", text)
            }
        }
    }

    fn mount() -> impl Mount<Protocol = Self> {
        Prompts
    }

    fn judge(judge: &mut Judge, stream: &Stream<'_>) {
        let lines = stream.blocks.iter().map(|block| block.raw);
        rules::judge(judge, &stream.exchange.name, lines);
    }

    fn check(exam: &mut Exam<'_>) -> impl Future<Output = ()> + Send {
        rules::check(exam)
    }
}
