//! The dialects of models' servers.

use clap::ValueEnum;
use copilot_wire::anthropic::{Anthropic, MessagesRequest};
use copilot_wire::models::Upstream;
use copilot_wire::openai::{ChatRequest, OpenAi};
use copilot_wire::responses::{Responses, ResponsesRequest};
use http::header::{AUTHORIZATION, HeaderName};
use serde::Deserialize;

/// A dialect of models' servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Dialect {
    /// OpenAI chat completions: most servers, such as Ollama, vLLM, llama.cpp
    Chat,
    /// OpenAI Responses
    Responses,
    /// Anthropic Messages
    Messages,
}

/// The parts of a request to a server of a dialect that are not in its body.
pub(super) trait Speech: Upstream {
    /// The header for the key, and the prefix of its value.
    const KEY: (HeaderName, &'static str) = (AUTHORIZATION, "Bearer ");

    /// Headers of every request.
    const HEADERS: &'static [(&'static str, &'static str)] = &[];

    /// A header that is passed to the server if a client of the same dialect sends it.
    const PASSED: Option<&'static str> = None;

    /// The path below that of requests where servers count tokens, and the members that they read there.
    const COUNT: Option<(&'static str, &'static [&'static str])> = None;

    /// Inserts instructions before those of a request.
    fn instruct(request: Self::Request, text: &str) -> Self::Request;
}

impl Speech for OpenAi {
    fn instruct(request: ChatRequest, text: &str) -> ChatRequest {
        request.instructions(text)
    }
}

impl Speech for Responses {
    const COUNT: Option<(&'static str, &'static [&'static str])> = Some((
        "/input_tokens",
        &[
            "input",
            "instructions",
            "model",
            "parallel_tool_calls",
            "reasoning",
            "text",
            "tool_choice",
            "tools",
            "truncation",
        ],
    ));

    fn instruct(mut request: ResponsesRequest, text: &str) -> ResponsesRequest {
        let own = request.instructions.take();
        request.instructions = Some(match own {
            Some(own) => format!("{text}\n\n{own}"),
            None => text.to_owned(),
        });
        request
    }
}

impl Speech for Anthropic {
    const KEY: (HeaderName, &'static str) = (HeaderName::from_static("x-api-key"), "");
    const HEADERS: &'static [(&'static str, &'static str)] = &[("anthropic-version", "2023-06-01")];
    const PASSED: Option<&'static str> = Some("anthropic-beta");
    const COUNT: Option<(&'static str, &'static [&'static str])> = Some((
        "/count_tokens",
        &[
            "context_management",
            "mcp_servers",
            "messages",
            "model",
            "output_config",
            "system",
            "thinking",
            "tool_choice",
            "tools",
        ],
    ));

    fn instruct(request: MessagesRequest, text: &str) -> MessagesRequest {
        request.instructions(text)
    }
}
