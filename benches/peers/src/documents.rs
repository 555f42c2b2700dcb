//! An answer without a stream: one document.

use std::hint::black_box;

use bytes::Bytes;
use copilot_wire::anthropic::Anthropic;
use copilot_wire::openai::OpenAi;
use copilot_wire::responses::Responses;
use guard::reply::answer;
use guard::requests;
use serde::Serialize;
use serde_json::Value;

use crate::Case;
use crate::encode::{Checked, OURS, drain};
use crate::peer::Peer;

pub const PUSH_STR: &str = "String::push_str and serde_json";

/// A protocol with answers without a stream.
pub trait Whole: Peer {
    const WHOLE: &str;

    fn document(text: &str) -> Vec<u8>;

    /// Returns the text of a document.
    fn document_text(document: Value) -> Option<Value>;
}

#[derive(Serialize)]
struct Completion<'a> {
    id: &'a str,
    object: &'static str,
    created: u64,
    model: &'a str,
    choices: [Choice<'a>; 1],
}

#[derive(Serialize)]
struct Choice<'a> {
    index: u32,
    message: Message<'a>,
    finish_reason: &'static str,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
    refusal: (),
}

impl Whole for OpenAi {
    const WHOLE: &str = requests::OPENAI_DOCUMENT;

    fn document(content: &str) -> Vec<u8> {
        let message = Message {
            role: "assistant",
            content,
            refusal: (),
        };
        serde_json::to_vec(&Completion {
            id: black_box("chatcmpl-Cd8fJ4mGq2hVtS1wYzB7nKxL0pRaE"),
            object: "chat.completion",
            created: black_box(1_763_712_345),
            model: black_box("words"),
            choices: [Choice {
                index: 0,
                message,
                finish_reason: "stop",
            }],
        })
        .unwrap()
    }

    fn document_text(mut document: Value) -> Option<Value> {
        Some(document["choices"][0]["message"]["content"].take())
    }
}

#[derive(Serialize)]
struct Block<'a> {
    r#type: &'static str,
    text: &'a str,
}

#[derive(Serialize)]
struct Answer<'a> {
    id: &'a str,
    r#type: &'static str,
    role: &'static str,
    model: &'a str,
    content: [Block<'a>; 1],
    stop_reason: &'static str,
    stop_sequence: (),
}

impl Whole for Anthropic {
    const WHOLE: &str = requests::ANTHROPIC_DOCUMENT;

    fn document(text: &str) -> Vec<u8> {
        serde_json::to_vec(&Answer {
            id: black_box("msg_5f0e2c6e0d1c4d6e9a7b2f0a3c1b4d5e"),
            r#type: "message",
            role: "assistant",
            model: black_box("words"),
            content: [Block {
                r#type: "text",
                text,
            }],
            stop_reason: "end_turn",
            stop_sequence: (),
        })
        .unwrap()
    }

    fn document_text(mut document: Value) -> Option<Value> {
        Some(document["content"][0]["text"].take())
    }
}

#[derive(Serialize)]
struct Response<'a> {
    id: &'a str,
    object: &'static str,
    created_at: u64,
    status: &'static str,
    model: &'a str,
    output: [Item<'a>; 1],
}

#[derive(Serialize)]
struct Item<'a> {
    id: &'a str,
    r#type: &'static str,
    role: &'static str,
    status: &'static str,
    content: [Block<'a>; 1],
}

impl Whole for Responses {
    const WHOLE: &str = requests::RESPONSES_DOCUMENT;

    fn document(text: &str) -> Vec<u8> {
        serde_json::to_vec(&Response {
            id: black_box("resp_5f0e2c6e0d1c4d6e9a7b2f0a3c1b4d5e"),
            object: "response",
            created_at: black_box(1_763_712_345),
            status: "completed",
            model: black_box("words"),
            output: [Item {
                id: black_box("msg_5f0e2c6e0d1c4d6e9a7b2f0a3c1b4d5e"),
                r#type: "message",
                role: "assistant",
                status: "completed",
                content: [Block {
                    r#type: "output_text",
                    text,
                }],
            }],
        })
        .unwrap()
    }

    fn document_text(mut document: Value) -> Option<Value> {
        Some(document["output"][0]["content"][0]["text"].take())
    }
}

/// Wraps a document in an event, so that one way of checking does for all.
pub fn framed(
    mut run: impl FnMut() -> Bytes + 'static,
) -> impl FnMut(&mut dyn FnMut(&[u8])) -> usize {
    let mut first = true;
    move |out| {
        let document = black_box(run());
        if std::mem::take(&mut first) {
            let frame = [b"data: ", &*document, b"\n\n"].concat();
            out(&frame);
            return frame.len();
        }
        document.len()
    }
}

/// An answer with these pieces of text.
pub fn case<P: Whole>(words: &'static [&'static str]) -> Case {
    let mut case = Checked::new(P::document_text);
    let mut ours = answer::<P>(P::WHOLE, words);
    case.ours(
        OURS,
        framed(move || {
            let mut document = Vec::new();
            drain(ours(), |piece| document.extend_from_slice(piece));
            document.into()
        }),
    );
    case.peer(
        PUSH_STR,
        framed(move || {
            let mut content = String::new();
            for word in words {
                content.push_str(black_box(word));
            }
            P::document(&content).into()
        }),
    );
    let content = words.concat();
    case.floor(
        "serde_json of the finished object",
        framed(move || P::document(black_box(&content)).into()),
    );
    case.build(1)
}
