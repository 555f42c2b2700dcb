//! From a JSON value to a command: the checks of the original, in its order.

use super::{Command, ReplyErrorKind};
use crate::json::{Object, Value};

/// Why a value holds no command.
pub(super) enum Shape {
    /// There is no `command` in it.
    NoCommand,
    /// The command has no `name`.
    NoName,
    /// A text that contains the word was looked up like an object; true for the whole reply.
    TextIndexed(bool),
    /// So was a list that contains the word.
    ListIndexed,
    /// A value that contains nothing at all, by its Python type.
    NotIterable(&'static str),
}

impl Shape {
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

pub(super) fn command(reply: &Value) -> Result<Command, Shape> {
    let command = lookup(reply, "command", Shape::NoCommand, true)?;
    let name = lookup(command, "name", Shape::NoName, false)?;
    let args = command.member("args").cloned();
    Ok(Command {
        name: match name {
            Value::Text(name) => name.clone(),
            // The word that Python prints for it.
            Value::Null => "None".to_owned(),
            other => other.to_string(),
        },
        args: args.unwrap_or_else(|| Object::new().into()),
    })
}

/// Python's `name in value`, then `value[name]`.
fn lookup<'v>(
    value: &'v Value,
    name: &str,
    missing: Shape,
    whole_reply: bool,
) -> Result<&'v Value, Shape> {
    match value {
        Value::Object(object) => object.get(name).ok_or(missing),
        Value::Text(text) if text.contains(name) => Err(Shape::TextIndexed(whole_reply)),
        Value::List(items) if items.iter().any(|item| item.as_text() == Some(name)) => {
            Err(Shape::ListIndexed)
        }
        Value::Text(_) | Value::List(_) => Err(missing),
        Value::Null => Err(Shape::NotIterable("NoneType")),
        Value::Bool(_) => Err(Shape::NotIterable("bool")),
        Value::Number(text) if text.contains(['.', 'e', 'E']) => Err(Shape::NotIterable("float")),
        Value::Number(_) => Err(Shape::NotIterable("int")),
    }
}
