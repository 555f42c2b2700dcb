//! This crate's side of the interop tests with GitHub's SDK: one JSON command a line in, one JSON
//! answer a line out.

use std::error::Error;
use std::io::{BufRead, Write, stdin, stdout};

use copilot_wire::github::verify::{HeaderPair, KeySet, verify};
use copilot_wire::github::{
    ChatRequest, ChunkForm, Confirmation, Event, GitHub, Output, Reference,
};
use copilot_wire::json::{Json, Wire as _};
use copilot_wire::protocol::{Env, Protocol};
use copilot_wire_kit::github::RequestSigner;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum Command {
    /// Signs a body.
    Sign { body: String },
    /// The key document with the key that signs.
    Keys,
    /// Verifies a body against a key document.
    Verify {
        body: String,
        identifier: String,
        signature: String,
        keys: String,
    },
    /// Reads a request and writes it back.
    Request { body: String },
    /// Encodes a piece of text.
    Text { text: String },
    /// Encodes a confirmation.
    Confirmation {
        id: String,
        title: String,
        message: String,
        /// As text, because a tagged enum of serde reorders values.
        metadata: Option<String>,
    },
    /// Encodes references with a name to show.
    References { names: Vec<String> },
    /// Encodes the ending.
    Done,
}

fn main() -> Result<(), Box<dyn Error>> {
    let signer = RequestSigner::from_seed(b"interop");
    let mut out = stdout().lock();
    for line in stdin().lock().lines() {
        let answer = match answer(&signer, serde_json::from_str(&line?)?) {
            Ok(answer) => answer,
            Err(error) => json!({"error": error.to_string()}),
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer(signer: &RequestSigner, command: Command) -> Result<Value, Box<dyn Error>> {
    Ok(match command {
        Command::Sign { body } => json!({
            "identifier": signer.identifier().as_str(),
            "signature": signer.signature(body.as_bytes()),
            "pem": signer.pem(),
        }),
        Command::Keys => serde_json::from_slice(&RequestSigner::key_document([(signer, true)]))?,
        Command::Verify {
            body,
            identifier,
            signature,
            keys,
        } => {
            let keys = KeySet::from_json(keys.as_bytes())?;
            let mut headers = http::HeaderMap::new();
            headers.insert(HeaderPair::Newer.identifier(), identifier.parse()?);
            headers.insert(HeaderPair::Newer.signature(), signature.parse()?);
            match verify(body.as_bytes(), &headers, &keys) {
                Ok(_) => json!("accepted"),
                Err(error) => json!(error.kind().as_str()),
            }
        }
        Command::Request { body } => {
            let request = ChatRequest::from_json(body)?;
            let (written, openai) = (request.to_json(), request.to_openai());
            json!({
                "written": std::str::from_utf8(&written)?,
                "openai": std::str::from_utf8(&openai)?,
            })
        }
        Command::Text { text } => encode(&[Output::Text(text).into()])?,
        Command::Confirmation {
            id,
            title,
            message,
            metadata,
        } => {
            let mut question = Confirmation::new(&id, title, message);
            if let Some(metadata) = metadata {
                question = question.metadata(&Json::parse(metadata)?)?;
            }
            encode(&[question.into()])?
        }
        Command::References { names } => {
            let references = names.iter().enumerate();
            let references =
                references.map(|(id, name)| Reference::new("interop.test", id.to_string(), name));
            encode(&[Output::References(references.collect()).into()])?
        }
        Command::Done => encode(&[Event::Done])?,
    })
}

fn encode(events: &[Event]) -> Result<Value, Box<dyn Error>> {
    let mut session = GitHub::session(&ChatRequest::default(), &ChunkForm::Short, &Env::default());
    let mut out = Vec::new();
    // The SDK leaves the beginning to its caller.
    session.open(&mut out);
    out.clear();
    for event in events {
        match event {
            Event::Output(output) => session.output(output, &mut out)?,
            Event::Confirmation(question) => session.ending(question, &mut out)?,
            _ => session.finish(&mut out),
        }
    }
    Ok(Value::String(String::from_utf8(out)?))
}
