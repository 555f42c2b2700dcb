//! The protocols of copilot-wire on the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    wire::run(&copilot_wire_kit::kits(), std::env::args_os())
}
