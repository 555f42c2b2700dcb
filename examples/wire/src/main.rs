//! The protocols of copilot-wire on the command line.

mod cli;
mod decode;
mod header;
mod input;
mod node;
mod request;
mod said;
mod screen;
mod sse;
mod verdict;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};
use screen::Screen;
use verdict::{Failure, Verdict};

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli) {
        Ok(verdict) => verdict.into(),
        // Nobody reads any more, `wire sse | head -1` say: there is nobody to tell.
        Err(Failure::Closed) => ExitCode::SUCCESS,
        Err(Failure::Said(message)) => {
            verdict::tell(message);
            ExitCode::from(2)
        }
    }
}

fn run(cli: Cli) -> Result<Verdict, Failure> {
    let mut screen = Screen::new(cli.json);
    let verdict = match cli.command {
        Command::Sse(options) => sse::run(&options, &mut screen),
        Command::Decode(options) => decode::run(&options, &mut screen),
        Command::Request(options) => request::run(&options, &mut screen),
    }?;
    screen.flush()?;
    Ok(verdict)
}
