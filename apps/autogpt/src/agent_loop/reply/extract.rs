//! Conversion of a JSON value into a command, with the checks of the original in their order.

use super::{Command, ReplyErrorKind};
use crate::json::{Object, Value};

/// The reason why a value has no command.
pub(super) enum Malformed {
    /// The value has no `command`.
    NoCommand,
    /// The command has no `name`.
    NoName,
    /// A text that contains the key was indexed like an object. `true` if the text is the whole reply.
    TextIndexed(bool),
    /// A list that contains the key was indexed like an object.
    ListIndexed,
    /// The value is of a Python type without members.
    NotIterable(&'static str),
}

impl Malformed {
    pub(super) fn kind(&self) -> ReplyErrorKind {
        match self {
            Self::NoCommand => ReplyErrorKind::MissingCommand,
            Self::NoName => ReplyErrorKind::MissingName,
            Self::TextIndexed(true) => ReplyErrorKind::UnparseableReply,
            Self::TextIndexed(false) | Self::ListIndexed | Self::NotIterable(_) => {
                ReplyErrorKind::BadShape
            }
        }
    }
}

pub(super) fn command(reply: &Value) -> Result<Command, Malformed> {
    let command = lookup(reply, "command", Malformed::NoCommand, true)?;
    let name = lookup(command, "name", Malformed::NoName, false)?;
    let args = command.member("args").cloned();
    Ok(Command {
        name: match name {
            Value::Text(name) => name.clone(),
            // The name that Python prints.
            Value::Null => "None".to_owned(),
            other => other.to_string(),
        },
        args: args.unwrap_or_else(|| Object::new().into()),
    })
}

/// Evaluates Python's `name in value`, then `value[name]`.
fn lookup<'v>(
    value: &'v Value,
    name: &str,
    missing: Malformed,
    whole_reply: bool,
) -> Result<&'v Value, Malformed> {
    match value {
        Value::Object(object) => object.get(name).ok_or(missing),
        Value::Text(text) if text.contains(name) => Err(Malformed::TextIndexed(whole_reply)),
        Value::List(items) if items.iter().any(|item| item.as_text() == Some(name)) => {
            Err(Malformed::ListIndexed)
        }
        Value::Text(_) | Value::List(_) => Err(missing),
        Value::Null => Err(Malformed::NotIterable("NoneType")),
        Value::Bool(_) => Err(Malformed::NotIterable("bool")),
        Value::Number(text) if text.contains(['.', 'e', 'E']) => {
            Err(Malformed::NotIterable("float"))
        }
        Value::Number(_) => Err(Malformed::NotIterable("int")),
    }
}
