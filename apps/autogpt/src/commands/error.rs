//! Errors of commands, as texts for the model.

use std::io;

use crate::commands::workspace::PathError;
use crate::json::ListText;
use crate::json::Value;

/// The wording of errors for the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wording {
    /// The default: says what is wrong and what to do instead.
    #[default]
    Clear,
    /// The original's wording, which is mostly that of Python 3.11 on Linux.
    Original,
}

/// An error of a command.
#[derive(Debug)]
pub enum CommandError {
    /// An argument is missing.
    MissingArgument(&'static str),
    /// An argument is of the wrong type.
    WrongArgument(&'static str),
    /// The arguments are not an object.
    NoArguments(Value),
    /// A key is not a number.
    BadKey(Value),
    /// No sub-agent has this key; the second field lists the existing keys.
    UnknownKey(u64, Vec<u64>),
    /// A path was refused, or a file operation failed.
    Path(PathError),
    /// Another error, as one sentence.
    Failed(String),
}

impl From<PathError> for CommandError {
    fn from(error: PathError) -> Self {
        Self::Path(error)
    }
}

impl CommandError {
    /// Returns the text after `Error: `.
    pub fn text(&self, wording: Wording) -> String {
        match wording {
            Wording::Clear => self.clear(),
            Wording::Original => self.original(),
        }
    }

    fn clear(&self) -> String {
        match self {
            Self::MissingArgument(name) => format!("the argument '{name}' is missing"),
            Self::WrongArgument(name) => format!("the argument '{name}' must be text"),
            Self::NoArguments(_) => "the arguments must be an object".to_owned(),
            Self::BadKey(key) => format!("the key must be a number, not {key}"),
            Self::UnknownKey(key, living) if living.is_empty() => {
                format!("there is no agent {key}; none was started")
            }
            Self::UnknownKey(key, living) => {
                let living: Vec<String> = living.iter().map(u64::to_string).collect();
                let living = living.join(", ");
                format!("there is no agent {key}; the keys in use are {living}")
            }
            Self::Path(error) => error.to_string(),
            Self::Failed(reason) => reason.clone(),
        }
    }

    fn original(&self) -> String {
        match self {
            Self::MissingArgument(name) => format!("'{name}'"),
            Self::NoArguments(Value::Null) => "'NoneType' object is not subscriptable".to_owned(),
            Self::NoArguments(Value::Text(_)) => {
                "string indices must be integers, not 'str'".to_owned()
            }
            Self::BadKey(Value::Text(text)) => {
                let text = ListText::Python.of(&text.as_str().into());
                format!("invalid literal for int() with base 10: {text}")
            }
            Self::BadKey(Value::Null) => "int() argument must be a string, a bytes-like object \
                or a real number, not 'NoneType'"
                .to_owned(),
            Self::UnknownKey(key, _) => key.to_string(),
            Self::Path(PathError::Outside) => {
                "Attempted to access outside of working directory.".to_owned()
            }
            Self::Path(PathError::Io { path, source }) => python_os_error(path, source),
            other => other.clear(),
        }
    }
}

fn python_os_error(path: &str, error: &io::Error) -> String {
    let words = match error.kind() {
        io::ErrorKind::NotFound => "[Errno 2] No such file or directory".to_owned(),
        io::ErrorKind::IsADirectory => "[Errno 21] Is a directory".to_owned(),
        io::ErrorKind::NotADirectory => "[Errno 20] Not a directory".to_owned(),
        _ => return error.to_string(),
    };
    let path = ListText::Python.of(&format!("auto_gpt_workspace/{path}").into());
    format!("{words}: {path}")
}
