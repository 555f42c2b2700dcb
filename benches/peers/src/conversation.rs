//! Whole documents: an answer without a stream, and a conversation as a model's request.

use std::hint::black_box;

use bytes::Bytes;
use copilot_wire::openai::{ChatRequest, OpenAi};
use copilot_wire::openbb::OpenBb;
use copilot_wire::protocol::{Env, Protocol};
use copilot_wire::{Body, Request};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::encode::{Checked, Words, drain};
use crate::{Row, source};

const ID: &str = "chatcmpl-Cd8fJ4mGq2hVtS1wYzB7nKxL0pRaE";
const MODEL: &str = "gpt-4o-mini-2024-07-18";

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

fn completion(content: &str) -> Vec<u8> {
    let message = Message {
        role: "assistant",
        content: black_box(content),
        refusal: (),
    };
    serde_json::to_vec(&Completion {
        id: black_box(ID),
        object: "chat.completion",
        created: black_box(1_763_712_345),
        model: black_box(MODEL),
        choices: [Choice {
            index: 0,
            message,
            finish_reason: "stop",
        }],
    })
    .unwrap()
}

/// The text of an answer or of a request.
fn text(mut document: Value) -> Option<Value> {
    let text = match document.get_mut("choices") {
        Some(choices) => choices[0]["message"]["content"].take(),
        None => document["messages"].take(),
    };
    Some(text)
}

/// As frames are checked, so that one way of checking does for all.
fn framed(row: &mut Checked, name: &'static str, mut run: impl FnMut() -> Bytes + 'static) {
    let mut first = true;
    row.add(name, move |out| {
        let document = black_box(run());
        if std::mem::take(&mut first) {
            let frame = [b"data: ", &*document, b"\n\n"].concat();
            out(&frame);
            return frame.len();
        }
        document.len()
    });
}

/// Tokens, said one by one.
pub fn answer(count: usize) -> Row {
    let words = source::tokens(count).leak();
    answer_of(words, "an answer in tokens without a stream")
}

/// The same, said as one text.
pub fn answer_at_once() -> Row {
    let text: &'static str = source::tokens(2_000).concat().leak();
    answer_of(
        vec![text].leak(),
        "an answer of 2,000 tokens without a stream, as one text",
    )
}

fn answer_of(words: &'static [&'static str], name: &'static str) -> Row {
    let body = Bytes::from(format!(
        r#"{{"model":"{MODEL}","messages":[{{"role":"user","content":"hi"}}]}}"#
    ));
    let (parts, ()) = http::Request::new(()).into_parts();
    let env = Env::default();
    let mut row = Checked::new(text);
    framed(&mut row, "copilot-wire, Reply and Body", move || {
        let request = Request::<OpenAi>::new(OpenAi::read(&parts, body.clone()).unwrap());
        let mut document = Vec::new();
        let body = Body::run(Words(words), request, &env);
        drain(body, |piece| document.extend_from_slice(piece));
        document.into()
    });
    framed(&mut row, "String::push_str and serde_json", move || {
        let mut content = String::new();
        for word in words {
            content.push_str(black_box(word));
        }
        completion(&content).into()
    });
    let content = words.concat();
    framed(&mut row, "serde_json of the finished object", move || {
        completion(&content).into()
    });
    row.row(name, "answer", 1)
}

#[derive(Deserialize)]
struct Query {
    messages: Vec<Said>,
}

#[derive(Deserialize)]
struct Said {
    role: String,
    content: String,
}

#[derive(Serialize)]
struct Prompt {
    model: &'static str,
    messages: Vec<Turn>,
    stream: bool,
}

#[derive(Serialize)]
struct Turn {
    role: &'static str,
    content: String,
}

/// From the bytes of an OpenBB query to the bytes of a chat completion request.
pub fn prompt() -> Row {
    let said = source::text(10_000, true);
    let mut messages = Vec::new();
    for turn in 0..200 {
        let role = if turn % 2 == 0 { "human" } else { "ai" };
        messages.push(serde_json::json!({ "role": role, "content": format!("{turn} {said}") }));
    }
    let query = serde_json::json!({ "messages": messages });
    let query = Bytes::from(serde_json::to_vec(&query).unwrap());
    let mut row = Checked::new(text);
    let (body, (parts, ())) = (query.clone(), http::Request::new(()).into_parts());
    framed(&mut row, "copilot-wire, from_conversation", move || {
        let request = OpenBb::read(&parts, black_box(body.clone())).unwrap();
        let mut prompt = ChatRequest::from_conversation(&request).stream(true);
        prompt.model = MODEL.to_owned();
        prompt.to_json()
    });
    framed(&mut row, "serde structs by hand", move || {
        let query: Query = serde_json::from_slice(black_box(&query)).unwrap();
        let messages = query.messages.into_iter().map(|said| Turn {
            role: if said.role == "human" {
                "user"
            } else {
                "assistant"
            },
            content: said.content,
        });
        let prompt = Prompt {
            model: MODEL,
            messages: messages.collect(),
            stream: true,
        };
        serde_json::to_vec(&prompt).unwrap().into()
    });
    row.row(
        "a conversation of 200 turns and 2 MB as a model's request",
        "request",
        1,
    )
}
