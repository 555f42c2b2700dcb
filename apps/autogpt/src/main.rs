//! `cargo run -p autogpt -- "goal" ["goal" ...]`: the agent in a terminal.
//! `cargo run -p autogpt -- --serve [--port N]`: the agent behind every chat front end.

mod serve;
mod terminal;

use std::error::Error;
use std::process::ExitCode;

use autogpt::agent_loop::prompt::Profile;
use autogpt::setup::Setup;

const NAME: &str = "AutoGPT";
const ROLE: &str = "an agent that works towards its goals step by step.";

/// The goal of the scripted model, which does the same for any goal.
const DEMO_GOAL: &str = "Write a report about the files in the workspace";

/// The default port of the server.
const PORT: u16 = 7777;

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

async fn run() -> Result<(), Box<dyn Error>> {
    let setup = Setup::new(|name| std::env::var(name).ok());
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if arguments.first() == Some(&"--serve") {
        let port = port(arguments.get(1..).unwrap_or_default())?;
        let secret = setup.secret_key()?;
        let agent = setup.build(Profile::new(NAME, ROLE, &[]))?;
        let stores = setup.replies().await?;
        return serve::serve(agent, stores, port, secret).await;
    }
    let has_goal = !arguments.is_empty();
    if !has_goal && setup.is_demo() {
        arguments.push(DEMO_GOAL);
    }
    let agent = setup.build(Profile::new(NAME, ROLE, &arguments))?;
    terminal::talk(&agent, has_goal).await
}

fn port(arguments: &[&str]) -> Result<u16, Box<dyn Error>> {
    match arguments {
        [] => Ok(PORT),
        ["--port", port] => Ok(port.parse()?),
        _ => Err("usage: autogpt --serve [--port N], or autogpt GOAL ...".into()),
    }
}

#[expect(clippy::print_stderr, reason = "the last words of a program")]
fn report(error: &dyn Error) {
    eprintln!("{error}");
}
