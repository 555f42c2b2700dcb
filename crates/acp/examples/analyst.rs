//! The built-in analyst inside an editor: an editor starts this program. Without the environment variable of a model it
//! answers by itself.

use analyst::{Analyst, Model};
use copilot_wire_acp::Server;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::new(Analyst::new(Model::from_env()?));
    let server = server.name("analyst", "Analyst", env!("CARGO_PKG_VERSION"));
    Ok(server.stdio()?)
}
