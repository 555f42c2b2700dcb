//! The log: one line for each turn.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use copilot_wire::json::{self, Escape, Json};
use copilot_wire::protocol::{OneLine, Outcome, Turn};
use copilot_wire_kit::Node;
use http::{Extensions, StatusCode};

use crate::clock::now;

/// Facts about a turn that only the agent has. They are an extension of the request, from which the log reads them.
#[derive(Clone, Default)]
pub(super) struct Facts(Arc<Mutex<Seen>>);

/// The facts about a turn's model that are known so far.
#[derive(Clone, Default)]
pub(super) struct Seen {
    /// The name of the requested model.
    pub(super) model: Option<String>,
    /// The status of the last response of the model's server.
    status: Option<u16>,
    /// The sentence with which the model's server failed, if the log shall have it.
    message: Option<String>,
}

impl Facts {
    pub(super) fn of(extensions: &Extensions) -> Self {
        extensions.get().cloned().unwrap_or_default()
    }

    pub(super) fn asked(&self, model: &str) {
        self.lock().model = Some(model.to_owned());
    }

    pub(super) fn answered(&self, status: StatusCode) {
        self.lock().status = Some(status.as_u16());
    }

    pub(super) fn failed(&self, message: Option<String>) {
        self.lock().message = message;
    }

    pub(super) fn seen(&self) -> Seen {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the line of a turn. It contains neither keys nor contents, unless an operator wants the sentences of the
/// model's server.
pub(super) fn turn(turn: &Turn<'_>, seen: &Seen, json: bool) {
    let cause = match turn.outcome {
        Outcome::Failed { error, .. } => Some(OneLine(error).to_string()),
        Outcome::Refused(refusal) => {
            let status = refusal.status().as_u16();
            Some(format!("{status}: {}", OneLine(refusal)))
        }
        _ => None,
    };
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let text = |text: Option<&str>| text.map(|text| OneLine(text).to_string());
    let members = [
        ("time", now().into()),
        ("turn", turn.outcome.as_str().into()),
        ("front_end", turn.protocol.into()),
        ("path", turn.path.into()),
        ("model", text(seen.model.as_deref()).into()),
        ("upstream_status", seen.status.map(u64::from).into()),
        ("duration_ms", milliseconds(turn.duration).into()),
        (
            "first_output_ms",
            turn.first_output.map(milliseconds).into(),
        ),
        (
            "input_tokens",
            turn.usage.map(|usage| usage.input_tokens).into(),
        ),
        (
            "output_tokens",
            turn.usage.map(|usage| usage.output_tokens).into(),
        ),
        ("user", text(turn.user).into()),
        ("cause", cause.into()),
        ("upstream_message", text(seen.message.as_deref()).into()),
    ];
    line(members, json);
}

/// Writes a line about the server itself.
pub(super) fn note(text: &str, json: bool) {
    line(
        [
            ("time", now().into()),
            ("note", OneLine(text).to_string().into()),
        ],
        json,
    );
}

fn line<const N: usize>(members: [(&'static str, Node); N], json: bool) {
    let mut line = Vec::new();
    if json {
        // A tree of texts and numbers is always valid JSON.
        let _ = json::write(&Node::object(members), Escape::Json, &mut line);
    } else {
        let mut words = String::new();
        for (name, value) in members {
            let _ = match value {
                Node::Text(text) if text.contains([' ', '"', '=']) => {
                    let text = Json::encode(&text).unwrap_or_default();
                    write!(words, "{name}={} ", text.text())
                }
                Node::Text(text) => write!(words, "{name}={text} "),
                Node::Json(number) => write!(words, "{name}={} ", number.text()),
                _ => Ok(()),
            };
        }
        line.extend_from_slice(words.trim_end().as_bytes());
    }
    line.push(b'\n');
    // Standard error may be closed. One write for each line, so that lines of several threads are not mixed.
    let _ = io::stderr().lock().write_all(&line);
}
