//! `cargo run -p autogpt -- "goal" ["goal" ...]`: the agent in a terminal.

mod terminal;

use std::process::ExitCode;

use autogpt::prompt::Profile;
use autogpt::setup::Setup;

const ROLE: &str = "an agent that works towards its goals step by step.";

/// What the scripted model does, whatever it is asked for.
const DEMO_GOAL: &str = "Write a report about the files in the workspace";

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&*error);
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let setup = Setup::new(|name| std::env::var(name).ok());
    let goals: Vec<String> = std::env::args().skip(1).collect();
    let mut goals: Vec<&str> = goals.iter().map(String::as_str).collect();
    if goals.is_empty() && setup.is_demo() {
        goals.push(DEMO_GOAL);
    }
    let agent = setup.build(Profile::new("AutoGPT", ROLE, &goals))?;
    terminal::talk(&agent).await
}

#[expect(clippy::print_stderr, reason = "the last words of a program")]
fn report(error: &dyn std::error::Error) {
    eprintln!("{error}");
}
