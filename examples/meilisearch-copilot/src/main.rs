//! `cargo run -p meilisearch-copilot` answers from a built-in replay of a search engine; with
//! `MEILI_URL` and `MEILI_KEY` it asks a real one.

use std::error::Error;
use std::io::{self, Write as _};
use std::net::Ipv4Addr;
use std::process::ExitCode;
use std::time::Duration;

use copilot_wire::meilisearch::{ApiKey, Instance};
use copilot_wire::protocol::Env;
use meilisearch_copilot::replay::{Recordings, Replay};
use meilisearch_copilot::{Bridge, Upstream};
use tokio::net::TcpListener;

/// A search in a large index, and a model that thinks before it speaks, take their time.
const PATIENCE: Duration = Duration::from_secs(120);

const HELP: &str = "\
Puts a Meilisearch workspace behind every chat front end.

usage: meilisearch-copilot [--port N] [--pace MILLISECONDS] [--shared-key]

  --port N              the port on this machine; 7777 by default, 0 for a free one
  --pace MILLISECONDS   the pause before each frame of a recording; 60 by default
  --shared-key          Meilisearch clients, too, are answered with MEILI_KEY, whatever key
                        they bring, or none
  --help                this text

  MEILI_URL             the address of the search engine; recordings by default
  MEILI_KEY             a key with the actions `chatCompletions` and `search`
  MEILI_WORKSPACE       the workspace that is asked; `default` by default
  MEILI_MODEL           the model; `gpt-4o-mini` by default";

/// The settings of the command line.
struct Arguments {
    port: u16,
    pace: u64,
    shared_key: bool,
}

impl Arguments {
    /// Reads the arguments; `None` if the help is wanted.
    fn read() -> Result<Option<Self>, Box<dyn Error>> {
        let mut read = Self {
            port: 7777,
            pace: 60,
            shared_key: false,
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(name) = arguments.next() {
            match &*name {
                "--port" => read.port = number(&name, arguments.next())?,
                "--pace" => read.pace = number(&name, arguments.next())?,
                "--shared-key" => read.shared_key = true,
                "--help" | "-h" => return Ok(None),
                _ => return Err(format!("unknown argument {name:?}, see --help").into()),
            }
        }
        Ok(Some(read))
    }
}

fn number<T: std::str::FromStr>(name: &str, value: Option<String>) -> Result<T, String> {
    let number = value.and_then(|value| value.parse().ok());
    number.ok_or_else(|| format!("{name} needs a number in its range"))
}

/// Returns a variable of the environment; `None` if it is empty.
fn variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok();
    value.filter(|value| !value.is_empty())
}

#[tokio::main]
#[expect(clippy::print_stderr, reason = "what a person at a terminal reads")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("meilisearch-copilot: {error}");
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stdout, reason = "what a person at a terminal reads")]
async fn run() -> Result<(), Box<dyn Error>> {
    let Some(arguments) = Arguments::read()? else {
        println!("{HELP}");
        return Ok(());
    };
    let or = |name, default: &str| variable(name).unwrap_or_else(|| default.to_owned());
    let workspace = or("MEILI_WORKSPACE", "default");
    let model = or("MEILI_MODEL", "gpt-4o-mini");
    // It stops when it is dropped.
    let mut replay = None;
    let (instance, source) = match variable("MEILI_URL") {
        Some(url) => {
            let instance = Instance::new(&url)
                .map_err(|_| "MEILI_URL needs a URL such as http://127.0.0.1:7700")?;
            let instance = match variable("MEILI_KEY").map(ApiKey::new).transpose() {
                Ok(Some(key)) => instance.key(key),
                Ok(None) => instance,
                Err(error) => return Err(format!("MEILI_KEY: {error}").into()),
            };
            let url = analyst::shown(&url);
            (instance, format!("the workspace `{workspace}` at {url}"))
        }
        None => {
            let pace = Duration::from_millis(arguments.pace);
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
    // Recordings have no keys, so a client needs none.
    let shared_key = arguments.shared_key || replay.is_some();
    let bridge = Bridge::new(upstream.clone(), &model).shared_key(shared_key);
    let router = meilisearch_copilot::router(bridge, Env::default())?.observe(|turn| {
        if turn.outcome.is_fault() {
            // Whoever read it may be gone, which is no reason to stop.
            let _ = writeln!(io::stdout(), "meilisearch-copilot: {turn}");
        }
    });

    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, arguments.port)).await;
    let listener = listener.map_err(|error| format!("port {}: {error}", arguments.port))?;
    let address = listener.local_addr()?;
    println!("meilisearch-copilot: listening on http://{address}, answers from {source}");
    println!("  Your browser: open http://{address} and talk to the agent");
    println!("  OpenBB Workspace: add http://{address} as an agent");
    println!("  OpenAI clients: base URL http://{address}/v1, model `search`");
    println!("  Anthropic clients: base URL http://{address}, model `search`");
    println!("  AI SDK pages: useChat with the API http://{address}/api/chat");
    println!("  AG-UI apps: POST http://{address}/agui");
    println!("  GitHub Copilot extension clients: POST http://{address}/github");
    println!("  Meilisearch chat clients: POST http://{address}/chats/default/chat/completions");
    if replay.is_none() {
        // A model that has to be loaded first takes its time.
        tokio::spawn(check(upstream, model));
    }
    Ok(copilot_wire_hyper::serve(listener, router, copilot_wire_hyper::stop_signal()?).await?)
}

/// Prints whether the workspace answers, and why not.
#[expect(clippy::print_stdout, reason = "what a person at a terminal reads")]
async fn check(upstream: Upstream, model: String) {
    match upstream.check(&model).await {
        Ok(()) => println!("meilisearch-copilot: the workspace answers"),
        Err(error) => println!("meilisearch-copilot: the workspace does not answer: {error}"),
    }
}
