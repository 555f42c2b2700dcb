//! `wire serve`: models of any server behind every front end.

mod budget;
mod dialect;
mod log;
mod model;
mod order;
mod routes;
mod settings;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use copilot_wire::{Body, Router};
use copilot_wire_kit::Node;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use tokio::net::TcpListener;

use crate::screen::Screen;
use crate::verdict::{Failure, Verdict};
#[cfg(feature = "acp")]
pub(crate) use model::Model;
use routes::Server;
pub(crate) use settings::Options;
use settings::Plan;
#[cfg(feature = "acp")]
pub(crate) use settings::UpstreamSettings;

/// Serves until Ctrl-C or `SIGTERM`.
pub(crate) async fn run(options: &Options, screen: &mut Screen) -> Result<Verdict, Failure> {
    let plan = options.plan().await?;
    let server = Arc::new(Server::new(screen.is_json()));
    let router = server.router(&plan).map_err(Failure::new)?;
    let address = plan.server.listen();
    let listener = TcpListener::bind(address).await;
    let listener = listener.map_err(|error| Failure::new(format!("{address}: {error}")))?;
    let stop = copilot_wire_hyper::stop_signal()?;
    let hangups = Hangups::new()?;
    greet(&plan, &format!("http://{}", listener.local_addr()?), screen)?;
    let (agents, of) = (router.clone(), Arc::clone(&server));
    let app = service_fn(move |request: Request<Incoming>| {
        let (agents, server) = (agents.clone(), Arc::clone(&of));
        async move {
            Ok::<_, Infallible>(match request.uri().path() {
                "/health" => plain("OK\n".to_owned()),
                "/metrics" => {
                    let store = copilot_wire_hyper::store(&server.replies.health());
                    plain(format!(
                        "{}{store}{}",
                        server.metrics,
                        server.more_metrics()
                    ))
                }
                _ => copilot_wire_hyper::answer(&agents, request).await,
            })
        }
    });
    tokio::select! {
        served = copilot_wire_hyper::serve_app(listener, app, router.clone(), stop) => served?,
        () = reload(options, &server, (address, &router), hangups, screen.is_json()) => {}
    }
    Ok(Verdict::Clean)
}

/// Returns a response with a text in the format of Prometheus.
fn plain(text: String) -> Response<Body> {
    let mut response = Response::new(Body::full(text));
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// Reads the settings again at each signal.
async fn reload(
    options: &Options,
    server: &Server,
    (address, router): (SocketAddr, &Router),
    mut hangups: Hangups,
    json: bool,
) {
    loop {
        hangups.next().await;
        let next = match options.plan().await {
            // The address decides whether keys are needed.
            Ok(plan) if plan.server.listen() != address => Err(format!(
                "the server listens on {address} until it is started again"
            )),
            Ok(plan) => server.router(&plan).map_err(|error| error.to_string()),
            Err(failure) => Err(failure.to_string()),
        };
        match next {
            Ok(next) => {
                router.replace(next);
                log::note("the settings were read again", json);
            }
            Err(why) => log::note(&format!("the settings stay as they were: {why}"), json),
        }
    }
}

/// The stream of `SIGHUP` signals.
struct Hangups(#[cfg(unix)] tokio::signal::unix::Signal);

impl Hangups {
    fn new() -> std::io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            signal(SignalKind::hangup()).map(Self)
        }
        #[cfg(not(unix))]
        Ok(Self())
    }

    async fn next(&mut self) {
        #[cfg(unix)]
        if self.0.recv().await.is_some() {
            return;
        }
        std::future::pending::<()>().await;
    }
}

/// Writes the URL and the models of the server.
fn greet(plan: &Plan, url: &str, screen: &mut Screen) -> Result<(), Failure> {
    let names = plan.models.iter().map(|model| model.name.as_str());
    if screen.is_json() {
        screen.json_line(&Node::object([
            ("url", url.into()),
            ("models", Node::list(names)),
        ]))?;
        return screen.flush();
    }
    let mut names = names.collect::<Vec<_>>();
    let first = names.first().copied().unwrap_or_default().to_owned();
    let more = names.len().saturating_sub(8);
    names.truncate(8);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    screen.line(format_args!("wire: listening on {url}"))?;
    let key = match plan.keys {
        Some(_) => "the user's key",
        None => "any key",
    };
    for (client, where_) in [
        (
            "Models",
            format!(
                "{}{more}; `{first}` where a front end names none",
                names.join(", ")
            ),
        ),
        (
            "OpenAI clients",
            format!("base URL {url}/v1, {key}; Codex, Copilot and VS Code too"),
        ),
        (
            "Anthropic clients",
            format!("base URL {url}, {key}; Claude Code too"),
        ),
        ("OpenBB Workspace", format!("add {url} as an agent")),
        (
            "AI SDK pages",
            format!("useChat with the API {url}/api/chat"),
        ),
        ("AG-UI apps", format!("POST {url}/agui")),
        ("MCP clients", format!("the tool `ask` at {url}/mcp")),
        (
            "Meilisearch chat",
            format!("POST {url}/chats/NAME/chat/completions"),
        ),
        ("GitHub Copilot", format!("POST {url}/github")),
        ("Operators", format!("{url}/health, {url}/metrics")),
    ] {
        screen.line(format_args!("  {client:<18} {where_}"))?;
    }
    if plan.keys.is_none() {
        screen.line(format_args!(
            "  {:<18} open {url} and talk to `{first}`",
            "Your browser"
        ))?;
    }
    screen.flush()
}
