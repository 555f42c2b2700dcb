//! The command line with two protocols more.

use std::process::ExitCode;

use copilot_wire_kit::kit;
use outside_protocol::Pager;
use outside_protocol::ollama::Ollama;

fn main() -> ExitCode {
    let mut kits = copilot_wire_kit::kits();
    kits.push(kit::<Pager>());
    kits.push(kit::<Ollama>());
    wire::run(&kits, std::env::args_os())
}
