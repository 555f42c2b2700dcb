//! The commands of an agent, by name.

use std::sync::Arc;

use copilot_wire::agent::execute_tool;

use super::{Args, Command, CommandError, Outcome, Output, Scope, Spec, Wording};
use crate::json::ListText;
use crate::json::Value;

/// The commands of an agent, and the wording of their results.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    commands: Vec<Arc<dyn Command>>,
    wording: Wording,
    list_text: ListText,
}

impl Registry {
    /// Creates an empty registry with clear error messages and lists as JSON.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty registry with the wording of the original.
    pub fn original() -> Self {
        Self {
            wording: Wording::Original,
            list_text: ListText::Python,
            ..Self::default()
        }
    }

    /// Adds a command. Replaces one of the same name.
    #[must_use]
    pub fn with(mut self, command: Arc<dyn Command>) -> Self {
        let name = command.spec().name;
        // Two commands of one name would be offered to the model twice, and only the first would
        // run.
        self.commands.retain(|known| known.spec().name != name);
        self.commands.push(command);
        self
    }

    /// Adds commands.
    #[must_use]
    pub fn with_all(self, commands: impl IntoIterator<Item = Arc<dyn Command>>) -> Self {
        commands.into_iter().fold(self, Self::with)
    }

    /// Returns the specifications of all commands.
    pub fn specs(&self) -> Vec<Spec> {
        self.commands.iter().map(|command| command.spec()).collect()
    }

    /// Returns the wording of errors.
    pub fn wording(&self) -> Wording {
        self.wording
    }

    /// Runs a command by its exact name. Every error becomes a text for the model.
    pub async fn run(&self, name: &str, args: &Value, scope: &Scope) -> Outcome {
        let mut commands = self.commands.iter();
        let Some(command) = commands.find(|command| command.spec().name == name) else {
            return Outcome {
                ok: false,
                ..Outcome::new(&unknown(name))
            };
        };
        let args = Args::new(args);
        self.outcome(execute_tool(name, None, command.run(&args, scope)).await)
    }

    fn outcome(&self, result: Result<Output, CommandError>) -> Outcome {
        match result {
            Ok(output) => Outcome {
                ok: true,
                text: match output.value {
                    Value::Text(text) => text,
                    other => self.list_text.of(&other),
                },
                sources: output.sources,
                model_calls: output.model_calls,
            },
            Err(error) => Outcome {
                ok: false,
                ..Outcome::new(&format!("Error: {}", error.text(self.wording)))
            },
        }
    }
}

fn unknown(name: &str) -> String {
    format!(
        "Unknown command '{name}'. Please refer to the 'COMMANDS' list for available commands \
         and only respond in the specified JSON format."
    )
}
