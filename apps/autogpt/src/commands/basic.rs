//! Commands without effects.

use async_trait::async_trait;

use super::{Args, Command, CommandError, Output, Policy, Scope, Spec};

/// The command `do_nothing`.
#[derive(Clone, Copy, Debug, Default)]
pub struct DoNothing;

#[async_trait]
impl Command for DoNothing {
    fn spec(&self) -> Spec {
        Spec::new("do_nothing", "Do nothing", &[]).with_policy(Policy::Never)
    }

    async fn run(&self, _: &Args<'_>, _: &Scope) -> Result<Output, CommandError> {
        Ok(Output::new("No action performed."))
    }
}
