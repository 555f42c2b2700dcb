//! The command that stores a text in the memory.

use async_trait::async_trait;

use super::{Args, Command, CommandError, Output, Policy, Scope, Spec};

/// The command `memory_add`: stores a text in the memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryAdd;

#[async_trait]
impl Command for MemoryAdd {
    fn spec(&self) -> Spec {
        let spec = Spec::new("memory_add", "Remember a text", &[("string", "text")]);
        spec.with_policy(Policy::Never)
    }

    async fn run(&self, args: &Args<'_>, scope: &Scope) -> Result<Output, CommandError> {
        let text = args.text("string")?;
        let stored = scope.memory.add(&text).await;
        let stored = stored.map_err(|error| CommandError::Failed(error.to_string()))?;
        Ok(Output::new(stored))
    }
}
