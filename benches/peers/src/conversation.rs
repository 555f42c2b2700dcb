//! A conversation as a model's request.

use std::hint::black_box;

use copilot_wire::json::Wire as _;
use copilot_wire::openai::ChatRequest;
use copilot_wire::openbb::OpenBb;
use copilot_wire::protocol::Protocol;
use serde::{Deserialize, Serialize};

use crate::documents::framed;
use crate::encode::Checked;
use crate::{Case, source};

const MODEL: &str = "gpt-4o-mini-2024-07-18";

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
pub fn case(turns: usize) -> Case {
    let query = source::conversation(turns);
    let mut case = Checked::new(|mut document| Some(document["messages"].take()));
    let (body, (parts, ())) = (query.clone(), http::Request::new(()).into_parts());
    case.ours(
        "copilot-wire, from_conversation",
        framed(move || {
            let request = OpenBb::read(&parts, black_box(body.clone())).unwrap();
            let mut prompt = ChatRequest::from_conversation(&request).stream(true);
            prompt.model = MODEL.to_owned();
            prompt.to_json()
        }),
    );
    case.peer(
        "serde structs by hand",
        framed(move || {
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
        }),
    );
    case.build(turns)
}
