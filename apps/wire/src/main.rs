//! The protocols of copilot-wire on the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut kits = copilot_wire_kit::kits();
    #[cfg(feature = "acp")]
    kits.push(copilot_wire_kit::kit::<copilot_wire_acp::Acp>());
    wire::run(&kits, std::env::args_os())
}
