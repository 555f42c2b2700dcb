//! `wire request`: what an agent sees of a request.

mod github;
mod meilisearch;
mod openai;
mod openbb;

use clap::Args;
use copilot_wire::github::GitHub;
use copilot_wire::json::Members;
use copilot_wire::meilisearch::Meilisearch;
use copilot_wire::openai::OpenAi;
use copilot_wire::openbb::OpenBb;
use copilot_wire::protocol::{Conversation, Protocol, Refusal};
use http::request::Parts;
use http::{HeaderMap, Request};

use crate::cli::Front;
use crate::header::Headers;
use crate::input::Input;
use crate::node::Node;
use crate::screen::{Screen, Style, plain};
use crate::verdict::{Failure, Verdict};

/// The options of `wire request`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// The protocol of the request
    #[arg(value_name = "PROTOCOL")]
    front: Front,
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    headers: Headers,
}

/// Shows what the request says, or why it is refused.
pub(crate) fn run(options: &Options, screen: &mut Screen) -> Result<Verdict, Failure> {
    let mut request = Request::post("/").body(()).map_err(Failure::new)?;
    *request.headers_mut() = options.headers.map()?;
    let (parts, ()) = request.into_parts();
    let body = options.input.read()?;
    let seen = match options.front {
        Front::Openbb => see::<OpenBb>(&parts, body, openbb::native),
        Front::Github => see::<GitHub>(&parts, body, github::native),
        Front::Openai => see::<OpenAi>(&parts, body, openai::native),
        Front::Meilisearch => see::<Meilisearch>(&parts, body, meilisearch::native),
    };
    match seen {
        Ok(node) if screen.is_json() => screen.json_line(&node)?,
        Ok(node) => node.show(screen, 0)?,
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
            ("status", refusal.status().as_u16().into()),
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

/// Reads a request; `native` adds what only this protocol has.
fn see<P: Protocol>(
    parts: &Parts,
    body: bytes::Bytes,
    native: fn(&P::Request, &HeaderMap) -> Node,
) -> Result<Node, Refusal> {
    let request = P::read(parts, body)?;
    let messages = request.messages().map(|message| {
        Node::object([
            ("role", format!("{:?}", message.role).to_lowercase().into()),
            ("text", message.text.into_owned().into()),
        ])
    });
    let documents = request.documents().map(|document| {
        Node::object([
            ("name", document.name.into_owned().into()),
            ("content", document.content.into_owned().into()),
            ("id", document.id.into_owned().into()),
        ])
    });
    let tools = request.tools().map(|tool| {
        Node::object([
            ("name", tool.name.into_owned().into()),
            ("description", tool.description.into_owned().into()),
            ("parameters", tool.parameters.into()),
        ])
    });
    let results = request.results().map(|result| {
        Node::object([
            ("name", result.name.into_owned().into()),
            ("content", result.content.into_owned().into()),
            ("failed", result.failed.into()),
            ("call", result.call_id.map(|id| id.into_owned()).into()),
            ("arguments", result.arguments.into()),
        ])
    });
    let decision = request.decision().map(|decision| {
        Node::object([
            ("id", decision.id.into_owned().into()),
            ("accepted", decision.accepted.into()),
            ("data", decision.data.into()),
        ])
    });
    let conversation = P::conversation_id(&request, &parts.headers);
    Ok(Node::object([
        ("protocol", P::NAME.into()),
        (
            "conversation",
            conversation.map(|id| id.into_owned()).into(),
        ),
        (
            "prompt",
            request.prompt().map(|text| text.into_owned()).into(),
        ),
        ("messages", Node::list(messages)),
        ("documents", Node::list(documents)),
        ("tools", Node::list(tools)),
        ("results", Node::list(results)),
        ("decision", decision.into()),
        (P::NAME, native(&request, &parts.headers)),
    ]))
}

/// The names of members that the protocol does not know: what they hold may be secret.
fn unknown(members: &Members) -> Node {
    Node::list(members.iter().map(|(name, _)| name))
}
