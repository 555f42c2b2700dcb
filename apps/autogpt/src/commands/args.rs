//! Typed access to the arguments that a model has written.

use super::CommandError;
use crate::json::Value;

/// The arguments of a command, with typed access.
#[derive(Clone, Copy, Debug)]
pub struct Args<'a>(&'a Value);

impl<'a> Args<'a> {
    /// Wraps the arguments that the model gave.
    pub fn new(value: &'a Value) -> Self {
        Self(value)
    }

    /// Returns a text argument. Numbers and truth values are converted to text.
    ///
    /// # Errors
    ///
    /// [`CommandError`] if it is missing or of another type.
    pub fn text(&self, name: &'static str) -> Result<String, CommandError> {
        match self.value(name)? {
            Value::Text(text) => Ok(text.clone()),
            // Models write `5` instead of "5". The meaning is clear, so it is no error.
            plain @ (Value::Number(_) | Value::Bool(_)) => Ok(plain.to_string()),
            _ => Err(CommandError::WrongArgument(name)),
        }
    }

    /// Returns the key of a sub-agent: a number, or a number in text.
    ///
    /// # Errors
    ///
    /// [`CommandError`] if it is missing or not a number.
    pub fn key(&self, name: &'static str) -> Result<u64, CommandError> {
        let value = self.value(name)?;
        let text = match value {
            Value::Text(text) | Value::Number(text) => text.trim(),
            _ => return Err(CommandError::BadKey(value.clone())),
        };
        text.parse()
            .map_err(|_| CommandError::BadKey(value.clone()))
    }

    fn value(&self, name: &'static str) -> Result<&'a Value, CommandError> {
        match self.0 {
            Value::Object(args) => args.get(name).ok_or(CommandError::MissingArgument(name)),
            other => Err(CommandError::NoArguments(other.clone())),
        }
    }
}
