//! The peers' writers and readers of text events of each protocol: serde_json and structs, by hand.

use std::borrow::Cow;
use std::hint::black_box;

use async_openai::types::chat::CreateChatCompletionStreamResponse;
use copilot_wire::ag_ui::{self, AgUi};
use copilot_wire::anthropic::{self, Anthropic};
use copilot_wire::github::{self, GitHub};
use copilot_wire::meilisearch::{self, Meilisearch};
use copilot_wire::openai::{self, OpenAi};
use copilot_wire::openbb::{self, OpenBb};
use copilot_wire::protocol::Protocol;
use copilot_wire::responses::{self, Responses};
use copilot_wire::ui_stream::{self, UiStream};
use guard::requests;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A protocol, and how its text events are written and read by hand.
pub trait Peer: Protocol {
    const TITLE: &str;
    /// A request for a stream.
    const REQUEST: &str;
    /// The name of the text events, if they have one.
    const EVENT: Option<&str>;
    /// The bytes around a text as JSON, for the protocol whose events are built around a loop that only escapes.
    const AROUND: Option<(&str, &str)> = None;
    /// The type with which peers read text events.
    const READER: &str = "serde_json";

    /// The data of a text event.
    type Data<'a>: Serialize;

    /// Returns the data of event number `number`.
    fn data(number: usize, text: &str) -> Self::Data<'_>;

    /// Returns the text in the data of an event, if it is a text event.
    fn text_of(data: Value) -> Option<Value>;

    /// Returns the length of the text of one of our events.
    fn ours(event: &Self::Event) -> Option<usize>;

    /// Reads an event into an owned type. Returns the length of its text.
    fn theirs(data: &str) -> Option<usize>;

    /// Reads the text of an event of a model, without copying it where that is possible.
    fn read_text(_: &str) -> Option<Cow<'_, str>> {
        None
    }
}

/// The member `delta` of events of one type.
fn delta(mut data: Value, kind: &str) -> Option<Value> {
    (data["type"] == kind).then(|| data["delta"].take())
}

/// The text of a chunk. A stream begins with the role and ends with the reason.
fn content(mut data: Value) -> Option<Value> {
    let content = data["choices"][0]["delta"]["content"].take();
    let has_text = content.as_str().is_some_and(|text| !text.is_empty());
    has_text.then_some(content)
}

const CHUNK: &str = "copilotMessageChunk";

#[derive(Serialize)]
pub struct Delta<'a> {
    pub delta: &'a str,
}

#[derive(Deserialize)]
struct OwnedDelta {
    delta: String,
}

impl Peer for OpenBb {
    const TITLE: &str = "OpenBB";
    const REQUEST: &str = requests::OPENBB;
    const EVENT: Option<&str> = Some(CHUNK);
    const AROUND: Option<(&str, &str)> =
        Some(("event: copilotMessageChunk\ndata: {\"delta\":", "}\n\n"));

    type Data<'a> = Delta<'a>;

    fn data(_: usize, delta: &str) -> Delta<'_> {
        Delta { delta }
    }

    fn text_of(mut data: Value) -> Option<Value> {
        Some(data["delta"].take()).filter(Value::is_string)
    }

    fn ours(event: &openbb::Event) -> Option<usize> {
        match event {
            openbb::Event::Output(openbb::Output::MessageChunk(delta)) => Some(delta.len()),
            _ => None,
        }
    }

    fn theirs(data: &str) -> Option<usize> {
        let read: OwnedDelta = black_box(serde_json::from_str(data).ok()?);
        Some(read.delta.len())
    }
}

#[derive(Serialize)]
pub struct GitHubChunk<'a> {
    choices: [GitHubChoice<'a>; 1],
}

#[derive(Serialize)]
struct GitHubChoice<'a> {
    index: u32,
    delta: GitHubDelta<'a>,
}

#[derive(Serialize)]
struct GitHubDelta<'a> {
    content: &'a str,
    role: &'static str,
}

#[derive(Deserialize)]
struct OwnedChunk {
    choices: Vec<OwnedChoice>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "part of the work")]
struct OwnedChoice {
    index: u32,
    delta: OwnedContent,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "part of the work")]
struct OwnedContent {
    content: Option<String>,
    role: Option<String>,
}

fn read_chunk(data: &str) -> Option<usize> {
    let chunk: OwnedChunk = black_box(serde_json::from_str(data).ok()?);
    let text = chunk.choices.first()?.delta.content.as_ref()?;
    (!text.is_empty()).then_some(text.len())
}

impl Peer for GitHub {
    const TITLE: &str = "GitHub Copilot";
    const REQUEST: &str = requests::GITHUB;
    const EVENT: Option<&str> = None;

    type Data<'a> = GitHubChunk<'a>;

    fn data(_: usize, content: &str) -> GitHubChunk<'_> {
        let delta = GitHubDelta {
            content,
            role: "assistant",
        };
        GitHubChunk {
            choices: [GitHubChoice { index: 0, delta }],
        }
    }

    fn text_of(data: Value) -> Option<Value> {
        content(data)
    }

    fn ours(event: &github::Event) -> Option<usize> {
        match event {
            github::Event::Output(github::Output::Text(text)) if !text.is_empty() => {
                Some(text.len())
            }
            _ => None,
        }
    }

    fn theirs(data: &str) -> Option<usize> {
        read_chunk(data)
    }
}

#[derive(Serialize)]
pub struct Chunk<'a> {
    id: &'a str,
    object: &'a str,
    created: u64,
    model: &'a str,
    choices: [Choice<'a>; 1],
}

#[derive(Serialize)]
struct Choice<'a> {
    index: u32,
    delta: Content<'a>,
    finish_reason: Option<&'a str>,
}

#[derive(Serialize)]
struct Content<'a> {
    content: &'a str,
}

fn chunk(content: &str) -> Chunk<'_> {
    Chunk {
        id: black_box("chatcmpl-Cd8fJ4mGq2hVtS1wYzB7nKxL0pRaE"),
        object: "chat.completion.chunk",
        created: black_box(1_763_712_345),
        model: black_box("words"),
        choices: [Choice {
            index: 0,
            delta: Content { content },
            finish_reason: None,
        }],
    }
}

#[derive(Deserialize)]
struct ReadChunk<'a> {
    #[serde(borrow)]
    choices: Vec<ReadChoice<'a>>,
}

#[derive(Deserialize)]
struct ReadChoice<'a> {
    #[serde(borrow)]
    delta: ReadContent<'a>,
    finish_reason: Option<&'a str>,
}

#[derive(Deserialize)]
struct ReadContent<'a> {
    #[serde(borrow, default)]
    content: Cow<'a, str>,
}

impl Peer for OpenAi {
    const TITLE: &str = "OpenAI chat completions";
    const REQUEST: &str = requests::OPENAI;
    const EVENT: Option<&str> = None;
    const READER: &str = "async-openai's type";

    type Data<'a> = Chunk<'a>;

    fn data(_: usize, text: &str) -> Chunk<'_> {
        chunk(text)
    }

    fn text_of(data: Value) -> Option<Value> {
        content(data)
    }

    fn ours(event: &openai::Event) -> Option<usize> {
        let openai::Event::Chunk(chunk) = event else {
            return None;
        };
        let text = chunk.choices.first()?.delta.content.as_ref()?;
        (!text.is_empty()).then_some(text.len())
    }

    fn theirs(data: &str) -> Option<usize> {
        let chunk: CreateChatCompletionStreamResponse = black_box(serde_json::from_str(data).ok()?);
        let text = chunk.choices.first()?.delta.content.as_ref()?;
        (!text.is_empty()).then_some(text.len())
    }

    fn read_text(data: &str) -> Option<Cow<'_, str>> {
        if data == "[DONE]" {
            return None;
        }
        let chunk: ReadChunk<'_> = serde_json::from_str(data).unwrap();
        let choice = chunk.choices.into_iter().next()?;
        black_box(choice.finish_reason);
        Some(choice.delta.content).filter(|text| !text.is_empty())
    }
}

impl Peer for Meilisearch {
    const TITLE: &str = "Meilisearch";
    const REQUEST: &str = requests::OPENAI;
    const EVENT: Option<&str> = None;

    type Data<'a> = Chunk<'a>;

    fn data(_: usize, text: &str) -> Chunk<'_> {
        chunk(text)
    }

    fn text_of(data: Value) -> Option<Value> {
        content(data)
    }

    fn ours(event: &meilisearch::Event) -> Option<usize> {
        match event {
            meilisearch::Event::Text(text) => Some(text.len()),
            _ => None,
        }
    }

    fn theirs(data: &str) -> Option<usize> {
        read_chunk(data)
    }
}

const TEXT_DELTA: &str = "response.output_text.delta";

#[derive(Serialize)]
pub struct ResponseDelta<'a> {
    r#type: &'static str,
    sequence_number: usize,
    item_id: &'static str,
    output_index: u32,
    content_index: u32,
    delta: &'a str,
    logprobs: [(); 0],
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "part of the work")]
struct OwnedResponseDelta {
    sequence_number: u64,
    item_id: String,
    output_index: u64,
    content_index: u64,
    delta: String,
    logprobs: Vec<Value>,
}

#[derive(Deserialize)]
struct ReadResponseDelta<'a> {
    #[serde(borrow)]
    delta: Cow<'a, str>,
}

impl Peer for Responses {
    const TITLE: &str = "OpenAI Responses";
    const REQUEST: &str = requests::RESPONSES;
    const EVENT: Option<&str> = Some(TEXT_DELTA);

    type Data<'a> = ResponseDelta<'a>;

    fn data(sequence_number: usize, delta: &str) -> ResponseDelta<'_> {
        ResponseDelta {
            r#type: TEXT_DELTA,
            sequence_number,
            item_id: black_box("msg_5f0e2c6e0d1c4d6e9a7b2f0a3c1b4d5e"),
            output_index: 0,
            content_index: 0,
            delta,
            logprobs: [],
        }
    }

    fn text_of(data: Value) -> Option<Value> {
        delta(data, TEXT_DELTA)
    }

    fn ours(event: &responses::Event) -> Option<usize> {
        match event {
            responses::Event::Stream(event) if event.kind == responses::EventKind::TextDelta => {
                event.delta.as_ref().map(String::len)
            }
            _ => None,
        }
    }

    fn theirs(data: &str) -> Option<usize> {
        let read: OwnedResponseDelta = black_box(serde_json::from_str(data).ok()?);
        Some(read.delta.len())
    }

    fn read_text(data: &str) -> Option<Cow<'_, str>> {
        let read: ReadResponseDelta<'_> = serde_json::from_str(data).unwrap();
        Some(read.delta)
    }
}

const BLOCK_DELTA: &str = "content_block_delta";

#[derive(Serialize)]
pub struct BlockDelta<'a> {
    r#type: &'static str,
    index: u32,
    delta: InBlock<'a>,
}

#[derive(Serialize)]
struct InBlock<'a> {
    r#type: &'static str,
    text: &'a str,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "part of the work")]
struct OwnedBlockDelta {
    index: u32,
    delta: OwnedInBlock,
}

#[derive(Deserialize)]
struct OwnedInBlock {
    text: Option<String>,
}

#[derive(Deserialize)]
struct ReadBlockDelta<'a> {
    #[serde(borrow)]
    delta: ReadInBlock<'a>,
}

#[derive(Deserialize)]
struct ReadInBlock<'a> {
    r#type: &'a str,
    #[serde(borrow, default)]
    text: Cow<'a, str>,
}

impl Peer for Anthropic {
    const TITLE: &str = "Anthropic Messages";
    const REQUEST: &str = requests::ANTHROPIC;
    const EVENT: Option<&str> = Some(BLOCK_DELTA);

    type Data<'a> = BlockDelta<'a>;

    fn data(_: usize, text: &str) -> BlockDelta<'_> {
        BlockDelta {
            r#type: BLOCK_DELTA,
            index: 0,
            delta: InBlock {
                r#type: "text_delta",
                text,
            },
        }
    }

    fn text_of(data: Value) -> Option<Value> {
        delta(data, BLOCK_DELTA)
    }

    fn ours(event: &anthropic::Event) -> Option<usize> {
        match event {
            anthropic::Event::ContentBlockDelta {
                delta: anthropic::Delta::Text(text),
                ..
            } => Some(text.len()),
            _ => None,
        }
    }

    fn theirs(data: &str) -> Option<usize> {
        let read: OwnedBlockDelta = black_box(serde_json::from_str(data).ok()?);
        read.delta.text.map(|text| text.len())
    }

    fn read_text(data: &str) -> Option<Cow<'_, str>> {
        let read: ReadBlockDelta<'_> = serde_json::from_str(data).unwrap();
        (read.delta.r#type == "text_delta").then_some(read.delta.text)
    }
}

/// The chunks of a page and the events of an app differ in their names only.
#[derive(Serialize)]
pub struct Plain<'a> {
    r#type: &'static str,
    #[serde(rename = "id", skip_serializing_if = "str::is_empty")]
    id: &'static str,
    #[serde(rename = "messageId", skip_serializing_if = "str::is_empty")]
    message_id: &'static str,
    delta: &'a str,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "part of the work")]
struct OwnedPlain<'a> {
    r#type: &'a str,
    id: Option<String>,
    #[serde(rename = "messageId")]
    message_id: Option<String>,
    delta: Option<String>,
}

fn read_plain(data: &str, kind: &str) -> Option<usize> {
    let read: OwnedPlain<'_> = black_box(serde_json::from_str(data).ok()?);
    (read.r#type == kind).then_some(read.delta?.len())
}

const PAGE_DELTA: &str = "text-delta";

impl Peer for UiStream {
    const TITLE: &str = "UI message streams";
    const REQUEST: &str = requests::UI_STREAM;
    const EVENT: Option<&str> = None;

    type Data<'a> = Plain<'a>;

    fn data(_: usize, delta: &str) -> Plain<'_> {
        Plain {
            r#type: PAGE_DELTA,
            id: black_box("t1"),
            message_id: "",
            delta,
        }
    }

    fn text_of(data: Value) -> Option<Value> {
        delta(data, PAGE_DELTA)
    }

    fn ours(event: &ui_stream::Event) -> Option<usize> {
        match event {
            ui_stream::Event::TextDelta(text) => Some(text.delta.len()),
            _ => None,
        }
    }

    fn theirs(data: &str) -> Option<usize> {
        read_plain(data, PAGE_DELTA)
    }
}

const CONTENT: &str = "TEXT_MESSAGE_CONTENT";

impl Peer for AgUi {
    const TITLE: &str = "AG-UI";
    const REQUEST: &str = requests::AG_UI;
    const EVENT: Option<&str> = None;

    type Data<'a> = Plain<'a>;

    fn data(_: usize, delta: &str) -> Plain<'_> {
        Plain {
            r#type: CONTENT,
            id: "",
            message_id: black_box("msg-5f0e2c6e-0d1c-4d6e-9a7b-2f0a3c1b4d5e"),
            delta,
        }
    }

    fn text_of(data: Value) -> Option<Value> {
        delta(data, CONTENT)
    }

    fn ours(event: &ag_ui::Event) -> Option<usize> {
        match event {
            ag_ui::Event::TextMessageContent(text) => Some(text.delta.len()),
            _ => None,
        }
    }

    fn theirs(data: &str) -> Option<usize> {
        read_plain(data, CONTENT)
    }
}
