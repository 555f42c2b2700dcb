//! The commands and their options.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use copilot_wire::testing::Kit;

use crate::header::Headers;
use crate::{decode, keys, request, sign, sse};

/// Reads and speaks the protocols of chat agents
#[derive(Debug, Parser)]
#[command(
    name = "wire",
    version,
    after_help = "Exit status: 0 all is well, 1 something is wrong with what was looked at, \
                  2 it could not be looked at.\nColour is for terminals; NO_COLOR turns it off.\n\
                  HTTP_PROXY and HTTPS_PROXY are not heeded: requests go straight to the agent."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Write lines of JSON, for programs
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Decode a bare event stream: one line of JSON an event
    ///
    /// Follows the HTML standard to the letter: an event counts when its blank line has come, the
    /// name is `message` where there is none, and the last event id goes on until it is changed.
    /// Output is always JSON, flushed as events come.
    #[command(after_help = "Examples:
  curl -fsSN http://127.0.0.1:7777/v1/query -H 'content-type: application/json' \\
    -d '{\"messages\":[{\"role\":\"human\",\"content\":\"What is a tide?\"}]}' | wire sse
  printf 'id: 1\\ndata: hi\\n\\n' | wire sse        {\"event\":\"message\",\"data\":\"hi\",\"id\":\"1\"}")]
    Sse(sse::Options),

    /// Decode a stream of a protocol: one line a typed event, with what is wrong and where
    ///
    /// Each line has the event's number, the byte at which it begins, what it is, and what it says.
    /// What cannot be read names its place in the event's JSON. Behind the last event stands what
    /// else breaks the rules of `wire check`, as far as they are about a stream; warnings leave the
    /// exit status at 0.
    #[command(after_help = "Examples:
  wire decode openai < fixtures/golden/openai.sse
  curl -fsSN http://127.0.0.1:7777/v1/query -H 'content-type: application/json' \\
    -d @fixtures/openbb/req_v2_full.json | wire decode openbb
  wire decode github --json fixtures/golden/github.sse")]
    Decode(decode::Options),

    /// Read a request as an agent sees it, or say why it is refused
    #[command(after_help = "Examples:
  wire request openbb fixtures/openbb/req_v2_full.json
  wire request github -H 'x-github-token: abc' < fixtures/github-copilot/req-redacted.json
  wire request meilisearch --json fixtures/meilisearch/request_minimal.json")]
    Request(request::Options),

    /// Talk to an agent as a front end does
    ///
    /// Every line of standard input is a message. The answer is shown as it comes: text, steps,
    /// sources, tables. When the agent asks, the user is asked: on a terminal, or by the next line.
    /// Results of calls come from the file of `--answer`, or on a terminal from the user. Ctrl-C
    /// stops the answer, and at a prompt the program; so does the end of the input. A question that
    /// is left in this way gets no answer, not even a no. A message that nobody heard, because the
    /// network failed, is told and not counted.
    #[command(after_help = "Examples:
  wire chat http://127.0.0.1:7777 -p openbb
  echo '{\"stock_price\": [{\"close\": 231.3}], \"web_search\": \"Nothing found.\"}' > answers.json
  wire chat http://127.0.0.1:7777 -p openbb --request fixtures/openbb/req_v2_full.json \\
    --answer answers.json -m 'Show it'
  echo 'What is a tide?' | wire chat https://agent.example/v1/chat/completions -p openai --json
  wire chat http://127.0.0.1:7777/github -p github --key test.key -m 'Hello'
The last one: see `wire keys --help`.")]
    Chat(Chat),

    /// Judge an agent, in whatever language it is written, by the strictest known reader
    ///
    /// Plays the front end for about forty requests: recorded ones of every era, bad ones, forged
    /// ones, and leaves half-way. Uploads 48 MiB once. Requests to an OpenBB agent go where its
    /// descriptor says, also to another server; preflights carry none of the headers. Every broken
    /// rule is shown with the bytes that broke it, why it matters, and what to do. Warnings leave
    /// the exit status at 0. Ctrl-C stops, and shows what was found so far.
    #[command(after_help = "Examples:
  wire check http://127.0.0.1:7777 -p openbb
  wire check https://example.com/agents -p openai
  wire check https://agent.example/v1/chat/completions -p openai --model parrot --json
  wire check http://127.0.0.1:7777/github -p github --key test.key
The last one: see `wire keys --help`.")]
    Check(Check),

    /// Sign a request body as the GitHub Copilot platform would, with a test key
    ///
    /// Writes the headers to send with exactly these bytes. The private key stays in its file.
    #[command(after_help = "Examples:
  wire sign --key test.key fixtures/github-copilot/req-docs-minimal.json
  wire sign --key test.key fixtures/github-copilot/req-docs-minimal.json \\
    --curl http://127.0.0.1:7777/github | sh
The agent must know the key: see `wire keys --help`.")]
    Sign(sign::Options),

    /// Serve the document of public keys that belongs to test keys, on 127.0.0.1
    ///
    /// Point the agent under test at the address that is written. The keys' identifiers follow it.
    #[command(
        after_help = "A signed request to the example server, in three terminals:
  wire keys --key test.key --port 8080
  GITHUB_SIGNATURES=http://127.0.0.1:8080/meta/public_keys/copilot_api cargo run -p hyper-server
  wire sign --key test.key fixtures/github-copilot/req-docs-minimal.json \\
    --curl http://127.0.0.1:7777/github | sh"
    )]
    Keys(keys::Options),
}

/// The options of `wire chat`.
#[derive(Args, Debug)]
pub(crate) struct Chat {
    /// The agent: a whole endpoint; or a server, or a path with a slash at its end, below which the
    /// usual path is taken
    pub(crate) url: String,
    /// The front end to play
    #[arg(long, short, value_parser = any)]
    pub(crate) protocol: Kit,
    /// Send this one message and exit
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// Answers to calls: a JSON object of names (a tool, a function, a widget's id or name, or `*`)
    /// and what they give: a text, `{"error": "why"}`, or any data
    #[arg(long, value_name = "FILE")]
    pub(crate) answer: Option<PathBuf>,
    /// Begin with what this recorded request has: widgets, tools, options, messages, as far as the
    /// front end keeps them
    #[arg(long, value_name = "FILE")]
    pub(crate) request: Option<PathBuf>,
    /// Accept every confirmation
    #[arg(long, conflicts_with = "no")]
    pub(crate) yes: bool,
    /// Dismiss every confirmation
    #[arg(long)]
    pub(crate) no: bool,
    /// The model to ask for (openai, responses, meilisearch, anthropic)
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// The workspace to talk in (meilisearch)
    #[arg(long, default_value = "default")]
    pub(crate) workspace: String,
    /// Sign requests with the test key in this file (github)
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) headers: Headers,
}

/// The options of `wire check`.
#[derive(Args, Debug)]
pub(crate) struct Check {
    /// The agent: a whole endpoint; or a server, or a path below which the usual path is taken
    pub(crate) url: String,
    /// The front end whose rules it must keep
    #[arg(long, short, value_parser = any)]
    pub(crate) protocol: Kit,
    /// The model to ask for (openai, responses, meilisearch, anthropic); the first one that the server lists without it
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Sign requests with the test key in this file, and judge what becomes of bad signatures
    /// (github)
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) headers: Headers,
}

/// Stands in for the parser of a protocol's name, which depends on the kits: see [`Cli::read`].
pub(crate) fn any(name: &str) -> Result<Kit, String> {
    Err(format!("no such protocol: {name}"))
}

impl Cli {
    /// Reads a command line, in which these protocols can be named.
    pub(crate) fn read(
        kits: &[Kit],
        arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    ) -> Result<Self, clap::Error> {
        let kits: Arc<[Kit]> = kits.into();
        let value = |kit: &Kit| PossibleValue::new(kit.name).help(kit.title);
        let names: Vec<_> = kits.iter().map(value).collect();
        let parser = PossibleValuesParser::new(names).try_map(move |name| {
            let kit = kits.iter().find(|kit| kit.name == name);
            kit.copied().ok_or("no such protocol")
        });
        let command = Self::command().mut_subcommands(|subcommand| {
            subcommand.mut_args(|arg| match arg.get_id().as_str() {
                "protocol" => arg.value_parser(parser.clone()),
                _ => arg,
            })
        });
        let matches = command.try_get_matches_from(arguments)?;
        Self::from_arg_matches(&matches)
    }
}

/// Reads a number from 1 on.
pub(crate) fn at_least_one(text: &str) -> Result<usize, std::num::ParseIntError> {
    text.parse().map(NonZeroUsize::get)
}

/// The most bytes that one event may need. Streams come from the user, so it is generous.
pub(crate) const LIMIT: usize = 256 * 1024 * 1024;
