//! `wire request`: a request as an agent sees it.

use clap::Args;
use copilot_wire::protocol::Refusal;
use copilot_wire_kit::{Kit, Node};
use http::Request;

use crate::cli;
use crate::header::Headers;
use crate::input::Input;
use crate::node;
use crate::screen::{Screen, Style, plain};
use crate::verdict::{Failure, Verdict};

/// The options of `wire request`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// The protocol of the request
    #[arg(long, short, value_parser = cli::any)]
    protocol: Kit,
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    headers: Headers,
}

/// Shows the request, or the reason why it is refused.
pub(crate) fn run(options: &Options, screen: &mut Screen) -> Result<Verdict, Failure> {
    let mut request = Request::post("/").body(()).map_err(Failure::new)?;
    *request.headers_mut() = options.headers.map()?;
    let (parts, ()) = request.into_parts();
    let body = options.input.read()?;
    match (options.protocol.request)(&parts, body) {
        Ok(node) if screen.is_json() => screen.json_line(&node)?,
        Ok(node) => node::show(&node, screen, 0)?,
        Err(refusal) => {
            refused(&refusal, screen)?;
            return Ok(Verdict::Wrong);
        }
    }
    Ok(Verdict::Clean)
}

fn refused(refusal: &Refusal, screen: &mut Screen) -> Result<(), Failure> {
    if screen.is_json() {
        let refused = Node::object([
            ("status", u64::from(refusal.status().as_u16()).into()),
            ("code", refusal.kind().into()),
            ("path", refusal.path().into()),
            ("message", refusal.message().into()),
        ]);
        return screen.json_line(&Node::object([("refused", refused)]));
    }
    let status = refusal.status();
    let word = screen.paint(Style::Bad, "refused");
    screen.line(format_args!(
        "{word}  {} {}, {}",
        status.as_u16(),
        refusal.kind(),
        plain(&refusal.to_string())
    ))
}
