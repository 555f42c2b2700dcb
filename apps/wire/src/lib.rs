//! The protocols of copilot-wire on the command line: the program `wire` as a function, to which other crates can add
//! protocols.

#[cfg(feature = "acp")]
mod acp;
mod chat;
mod check;
mod cli;
mod client;
mod clock;
mod decode;
mod header;
mod input;
mod key;
mod keys;
mod node;
mod progress;
mod report;
mod request;
mod screen;
mod serve;
mod sign;
mod sse;
mod verdict;

use std::ffi::OsString;
use std::process::ExitCode;

use copilot_wire_kit::Kit;

use cli::{Cli, Command};
use screen::Screen;
use verdict::{Failure, Verdict};

/// Runs the program with these protocols and the arguments of a command line, beginning with the program's name.
///
/// ```no_run
/// let kits = copilot_wire_kit::kits();
/// wire::run(&kits, std::env::args_os());
/// ```
#[must_use]
pub fn run(
    kits: &[Kit],
    arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> ExitCode {
    let cli = match Cli::read(kits, arguments) {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    match execute(cli, kits) {
        Ok(verdict) => verdict.into(),
        // The reader of the output has closed it, as in `wire sse | head -1`: nothing can be reported.
        Err(Failure::Closed) => ExitCode::SUCCESS,
        Err(Failure::Said(message)) => {
            verdict::tell(message);
            ExitCode::from(2)
        }
    }
}

fn execute(cli: Cli, kits: &[Kit]) -> Result<Verdict, Failure> {
    let mut screen = Screen::new(cli.json);
    let verdict = match cli.command {
        #[cfg(feature = "acp")]
        Command::Acp(options) => acp::run(&options),
        Command::Sse(options) => sse::run(&options, &mut screen),
        Command::Decode(options) => decode::run(&options, &mut screen),
        Command::Request(options) => request::run(&options, &mut screen),
        Command::Chat(options) => block_on(chat::run(&options, &mut screen)),
        Command::Check(options) => block_on(check::run(&options, &mut screen)),
        Command::Sign(options) => sign::run(&options, kits, &mut screen),
        Command::Keys(options) => block_on(keys::run(&options, kits, &mut screen)),
        Command::Serve(options) => {
            tokio::runtime::Runtime::new()?.block_on(serve::run(&options, &mut screen))
        }
    };
    // Output from before a failure is flushed too.
    screen.flush()?;
    verdict
}

fn block_on(command: impl Future<Output = Result<Verdict, Failure>>) -> Result<Verdict, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(command)
}
