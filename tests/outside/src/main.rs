//! The command line with one protocol more.

use std::process::ExitCode;

use copilot_wire_kit::kit;
use outside_protocol::Pager;

fn main() -> ExitCode {
    let mut kits = copilot_wire_kit::kits();
    kits.push(kit::<Pager>());
    wire::run(&kits, std::env::args_os())
}
