//! The default parser of JSON replies: one tolerant pass, and one clear message for each kind of
//! failure.

use super::extract;
use super::{Command, HUMAN_FEEDBACK, Reading, Reply, ReplyError, ReplyErrorKind, Stage, Thoughts};
use crate::json::{Found, Object, Value, find_object, parse};

pub(super) fn read(text: &str) -> Reading {
    if let Ok(value) = parse(text) {
        return done(&value, Stage::Direct);
    }
    match find_object(text, |value| value.member("command").is_some()) {
        Found::Object(value) if text.trim_start().starts_with('{') => {
            done(&value, Stage::Corrected)
        }
        Found::Object(value) => done(&value, Stage::Extracted),
        Found::Damaged | Found::Nothing => Reading::Damaged(text.to_owned()),
    }
}

pub(super) fn finish(damaged: &str, answer: Option<&str>) -> Reply {
    match answer.map(read) {
        // A repair without a command is discarded in favour of the damaged reply, whose text is at least the model's
        // thought.
        Some(Reading::Done(reply)) if reply.command.is_ok() => {
            let stage = Stage::RepairedByModel;
            return Reply { stage, ..*reply };
        }
        _ => {}
    }
    // Damaged JSON cannot be parsed; prose contains no JSON, so it lacks a command.
    let kind = match damaged.contains('{') || damaged.contains("command") {
        true => ReplyErrorKind::UnparseableReply,
        false => ReplyErrorKind::MissingCommand,
    };
    Reply {
        thoughts: Thoughts::plain(damaged),
        command: Err(error(kind)),
        stage: Stage::Unrepaired,
    }
}

fn done(value: &Value, stage: Stage) -> Reading {
    Reading::Done(Box::new(Reply {
        thoughts: Thoughts::of(value),
        command: command(value),
        stage,
    }))
}

fn command(value: &Value) -> Result<Command, ReplyError> {
    let name = value.member("command").and_then(|c| c.member("name"));
    let command = extract::command(value).map_err(|malformed| error(malformed.kind()))?;
    match name {
        Some(Value::Text(_)) => accepted(command),
        Some(Value::Null) => Err(error(ReplyErrorKind::MissingName)),
        _ => Err(error(ReplyErrorKind::BadShape)),
    }
}

/// Returns a command, unless its name is reserved.
pub(super) fn accepted(command: Command) -> Result<Command, ReplyError> {
    if command.name == HUMAN_FEEDBACK {
        return Err(error(ReplyErrorKind::ReservedName));
    }
    Ok(match command.args {
        Value::Null => Command {
            args: Object::new().into(),
            ..command
        },
        _ => command,
    })
}

pub(super) fn error(kind: ReplyErrorKind) -> ReplyError {
    let message = match kind {
        ReplyErrorKind::BadShape => "The reply has a value of the wrong type in it.",
        ReplyErrorKind::InvalidJson => "Invalid JSON",
        ReplyErrorKind::MissingCommand => "Missing 'command' object in JSON",
        ReplyErrorKind::MissingName => "Missing 'name' field in 'command' object",
        ReplyErrorKind::ReservedName => "This command name is reserved.",
        ReplyErrorKind::UnparseableReply => "The reply cannot be read as JSON.",
    };
    ReplyError {
        kind,
        message: message.to_owned(),
    }
}
