//! `cargo run -p meilisearch-copilot` answers from a built-in replay of a search engine; with
//! `MEILI_URL` and `MEILI_KEY` it asks a real one.

use std::error::Error;
use std::net::Ipv4Addr;
use std::time::Duration;

use copilot_wire::meilisearch::{ApiKey, Instance};
use copilot_wire::protocol::Env;
use meilisearch_copilot::replay::{Recordings, Replay};
use meilisearch_copilot::{Bridge, Upstream};
use tokio::net::TcpListener;

/// A search in a large index, and a model that thinks before it speaks, take their time.
const PATIENCE: Duration = Duration::from_secs(120);

#[tokio::main]
#[expect(clippy::print_stdout, reason = "what a person at a terminal reads")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (mut port, mut pace) = (7777, 60);
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        match (name.as_str(), arguments.next()) {
            ("--port", Some(value)) => port = value.parse()?,
            ("--pace", Some(value)) => pace = value.parse()?,
            _ => return Err("usage: [--port N] [--pace MILLISECONDS]".into()),
        }
    }
    let variable = |name| {
        std::env::var(name)
            .ok()
            .filter(|value: &String| !value.is_empty())
    };
    let or = |name, default: &str| variable(name).unwrap_or_else(|| default.to_owned());
    let workspace = or("MEILI_WORKSPACE", "default");
    let model = or("MEILI_MODEL", "gpt-4o-mini");
    // It stops when it is dropped.
    let mut replay = None;
    let (instance, source) = match variable("MEILI_URL") {
        Some(url) => {
            let instance = Instance::new(&url)?;
            let instance = match variable("MEILI_KEY") {
                Some(key) => instance.key(ApiKey::new(key)?),
                None => instance,
            };
            let url = analyst::shown(&url);
            (instance, format!("the workspace `{workspace}` at {url}"))
        }
        None => {
            let pace = Duration::from_millis(pace);
            let replay = replay.insert(Replay::start(Recordings::new(pace)).await?);
            let source = "a replay of recorded answers; set MEILI_URL and MEILI_KEY for a search \
                          engine"
                .to_owned();
            (
                Instance::new(&replay.url())?.key(ApiKey::new("replay")?),
                source,
            )
        }
    };
    let upstream = Upstream::new(instance, workspace, PATIENCE)?;
    let bridge = Bridge::new(upstream.clone(), &model);
    let router = meilisearch_copilot::router(bridge, Env::default())?;

    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let address = listener.local_addr()?;
    println!("meilisearch-copilot: listening on http://{address}, answers from {source}");
    println!("  Your browser: open http://{address} and talk to the agent");
    println!("  OpenBB Workspace: add http://{address} as an agent");
    println!("  OpenAI clients: base URL http://{address}/v1, model `search`");
    println!("  GitHub Copilot extension clients: POST http://{address}/github");
    println!("  Meilisearch chat clients: POST http://{address}/chats/default/chat/completions");
    if replay.is_none() {
        // A model that has to be loaded first takes its time.
        tokio::spawn(check(upstream, model));
    }
    Ok(hyper_server::serve(listener, router, analyst::stop_signal()?).await?)
}

/// Prints whether the workspace answers, and why not.
#[expect(clippy::print_stdout, reason = "what a person at a terminal reads")]
async fn check(upstream: Upstream, model: String) {
    match upstream.check(&model).await {
        Ok(()) => println!("meilisearch-copilot: the workspace answers"),
        Err(error) => println!("meilisearch-copilot: the workspace does not answer: {error}"),
    }
}
