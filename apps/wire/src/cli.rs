//! The commands and their options.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use copilot_wire_kit::Kit;

use crate::header::Headers;
use crate::report::Files;
use crate::{decode, keys, request, serve, sign, sse};

/// Reads and speaks the protocols of chat agents
#[derive(Debug, Parser)]
#[command(
    name = "wire",
    version,
    after_help = "Exit status: 0 no fault was found, 1 a fault was found, 2 the input or the agent could not \
                  be read.\nOnly terminals get colours; NO_COLOR turns them off.\n\
                  Only `wire serve` uses HTTP_PROXY and HTTPS_PROXY: the other commands connect directly to the agent."
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
    /// Decode a bare event stream: one line of JSON per event
    ///
    /// Follows the HTML standard exactly: an event counts when its blank line has arrived, the
    /// name is `message` by default, and the last event id stays until it is changed.
    /// Output is always JSON, flushed after every event.
    #[command(after_help = "Examples:
  curl -fsSN http://127.0.0.1:7777/v1/query -H 'content-type: application/json' \\
    -d '{\"messages\":[{\"role\":\"human\",\"content\":\"What is a tide?\"}]}' | wire sse
  printf 'id: 1\\ndata: hi\\n\\n' | wire sse        {\"event\":\"message\",\"data\":\"hi\",\"id\":\"1\"}")]
    Sse(sse::Options),

    /// Decode a stream of a protocol: one line per typed event, with faults and their places
    ///
    /// Each line has the event's number, its offset in bytes, its kind and its content. A fault has a path in the
    /// event's JSON. After the last event, other broken rules of `wire check` about streams are shown. Warnings leave
    /// the exit status at 0.
    #[command(after_help = "Examples:
  wire decode -p openai < fixtures/golden/openai.sse
  curl -fsSN http://127.0.0.1:7777/v1/query -H 'content-type: application/json' \\
    -d @fixtures/openbb/req_v2_full.json | wire decode -p openbb
  wire decode -p github --json fixtures/golden/github.sse")]
    Decode(decode::Options),

    /// Read a request as an agent sees it, or show why it is refused
    #[command(after_help = "Examples:
  wire request -p openbb fixtures/openbb/req_v2_full.json
  wire request -p github -H 'x-github-token: abc' < fixtures/github-copilot/req-redacted.json
  wire request -p meilisearch --json fixtures/meilisearch/request_minimal.json")]
    Request(request::Options),

    /// Talk to an agent as a front end does
    ///
    /// Every line of standard input is a message. The answer is shown while it arrives: text, steps, sources, tables.
    /// Questions are answered on a terminal, or by the next line of input. Results of calls are read from the file of
    /// `--answer`, or on a terminal from the user. Ctrl-C cancels the answer; at a prompt it ends the program, like the
    /// end of the input. A question that is open then gets no answer, not even a refusal. A message that could not be
    /// delivered is reported, and is not part of the conversation.
    #[command(after_help = "Examples:
  wire chat http://127.0.0.1:7777 -p openbb
  echo '{\"stock_price\": [{\"close\": 231.3}], \"web_search\": \"Nothing found.\"}' > answers.json
  wire chat http://127.0.0.1:7777 -p openbb --request fixtures/openbb/req_v2_full.json \\
    --answer answers.json -m 'Show it'
  echo 'What is a tide?' | wire chat https://agent.example/v1/chat/completions -p openai --json
  wire chat http://127.0.0.1:7777/github -p github --key test.key -m 'Hello'
The last one: see `wire keys --help`.")]
    Chat(Chat),

    /// Check an agent in any language against the strictest known reader
    ///
    /// Sends about forty requests as the front end does: recorded requests of all versions, invalid ones, forged ones,
    /// and requests with a disconnect. Uploads 48 MiB once. Requests to an OpenBB agent are sent to the URL in its
    /// descriptor, which may be on another server. Preflights have none of the given headers. Every broken rule is
    /// shown with the bytes that broke it, its effect, and the remedy. Warnings leave the exit status at 0. Ctrl-C
    /// cancels, and shows the findings so far. If the agent repeats a header value or the query of the URL, of eight
    /// bytes or more, `*` is shown in its place.
    #[command(after_help = "Examples:
  wire check http://127.0.0.1:7777 -p openbb
  wire check https://example.com/agents -p openai
  wire check https://agent.example/v1/chat/completions -p openai --model parrot --json
  wire check http://127.0.0.1:7777 -p openai --html report.html --junit report.xml
  wire check 'wire acp --endpoint http://127.0.0.1:7777/agui --protocol ag-ui' -p acp
  wire check http://127.0.0.1:7777/github -p github --key test.key
The last one: see `wire keys --help`.")]
    Check(Check),

    /// Sign a request body as the GitHub Copilot platform would, with a test key
    ///
    /// Writes the headers for exactly these bytes. The private key stays in its file.
    #[command(after_help = "Examples:
  wire sign --key test.key fixtures/github-copilot/req-docs-minimal.json
  wire sign --key test.key fixtures/github-copilot/req-docs-minimal.json \\
    --curl http://127.0.0.1:7777/github | sh
The agent must know the key: see `wire keys --help`.")]
    Sign(sign::Options),

    /// Serve the document of the public keys of test keys, on 127.0.0.1
    ///
    /// Configure the agent under test with the URL in the first line of the output. The identifiers of the keys follow.
    #[command(
        after_help = "A signed request to the example server, in three terminals:
  wire keys --key test.key --port 8080
  GITHUB_SIGNATURES=http://127.0.0.1:8080/meta/public_keys/copilot_api \\
    cargo run -p hyper-server --features signatures
  wire sign --key test.key fixtures/github-copilot/req-docs-minimal.json \\
    --curl http://127.0.0.1:7777/github | sh"
    )]
    Keys(keys::Options),

    /// Put models of any server behind every front end
    ///
    /// Clients of chat completions, Responses and Messages, the OpenBB Workspace, web pages, AG-UI apps, MCP clients
    /// and more can use the models of a server of one dialect. Every turn is logged in one line on standard error, with
    /// the cause of a failure, but without keys and contents. SIGHUP makes the server read the file of --config again:
    /// an invalid file changes nothing, and running turns continue. SIGTERM and Ctrl-C stop the server within 6
    /// seconds. `/health` and `/metrics`, for Prometheus, need no key.
    #[command(
        override_usage = "wire serve --upstream <URL> --dialect <DIALECT> [OPTIONS]\n       wire serve --config <FILE>",
        after_help = "A file for --config, whose settings have the names of the options:
  [server]
  keys-env = \"API_KEYS\"          # also: listen, turns, per-minute, tokens-per-day, resumable, catch-all

  [[models]]                    # the first one answers front ends that name none
  name = \"analyst\"
  upstream = \"https://api.anthropic.com\"
  dialect = \"messages\"          # or chat, responses
  key-env = \"ANTHROPIC_API_KEY\"
  model = \"claude-sonnet-4-5\"   # its name at the upstream, if it is another
  instructions = \"You are a financial analyst. Answer briefly.\"
  retries = 2                   # also: timeout, provider, log-upstream, [models.profile], [[models.next]]

Examples:
  cargo run -p hyper-server     # a server that speaks every dialect, without a key
  wire serve --upstream http://127.0.0.1:7777 --dialect messages --listen 127.0.0.1:8080
  wire serve --upstream https://api.anthropic.com --dialect messages --key-env ANTHROPIC_API_KEY
  wire serve --upstream https://api.openai.com/v1 --dialect responses --key-env OPENAI_API_KEY \\
    --model gpt-5 --catch-all --retries 2
  API_KEYS=ali=sesame wire serve --keys-env API_KEYS --listen 0.0.0.0:7777 \\
    --upstream http://127.0.0.1:11434/v1 --dialect chat
  wire serve --config wire.toml"
    )]
    Serve(serve::Options),

    /// Put a model of any server, or an agent, into an editor
    ///
    /// Editors of the Agent Client Protocol start this command and talk to it over standard input and output: Zed, the
    /// IDEs of JetBrains, Neovim, Emacs and more. With several models, the user chooses one in the editor. An agent at
    /// --endpoint is asked as its front end asks; its conversations end with the command.
    #[cfg(feature = "acp")]
    #[command(
        after_help = "The settings of Zed, with a model and with an agent that speaks AG-UI:
  {\"agent_servers\": {
    \"Claude\": {\"type\": \"custom\", \"command\": \"wire\", \"args\": [\"acp\", \"--upstream\", \"https://api.anthropic.com\",
      \"--dialect\", \"messages\", \"--key-env\", \"ANTHROPIC_API_KEY\"], \"env\": {\"ANTHROPIC_API_KEY\": \"...\"}},
    \"Analyst\": {\"type\": \"custom\", \"command\": \"wire\", \"args\": [\"acp\", \"--endpoint\", \"http://127.0.0.1:7777/agui\",
      \"--protocol\", \"ag-ui\"]}}}
Examples:
  wire acp --upstream http://127.0.0.1:11434/v1 --dialect chat --model llama3
  wire acp --endpoint http://127.0.0.1:7777/v1/responses --protocol responses"
    )]
    Acp(crate::acp::Options),
}

/// The options of `wire chat`.
#[derive(Args, Debug)]
pub(crate) struct Chat {
    /// The URL of the agent: of its endpoint, or of a server or base path without `/v1`, to which the default path of
    /// the protocol is added
    pub(crate) url: String,
    /// The front end to emulate
    #[arg(long, short, value_parser = any)]
    pub(crate) protocol: Kit,
    /// Send one message and exit
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// Answers to calls: a JSON object of names (a tool, a function, a widget's id or name, or `*`)
    /// and their answers: a text, `{"error": "message"}`, or any data
    #[arg(long, value_name = "FILE")]
    pub(crate) answer: Option<PathBuf>,
    /// Start with the widgets, tools, options and messages of this recorded request, as far as the
    /// front end stores them
    #[arg(long, value_name = "FILE")]
    pub(crate) request: Option<PathBuf>,
    /// Accept every question: in a dialog, or with its code where it is part of the text
    #[arg(long, conflicts_with = "no")]
    pub(crate) yes: bool,
    /// Refuse every question
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
    /// The URL of the agent: of its endpoint, or of a server or base path without `/v1`, to which the default path of
    /// the protocol is added. Of an agent for editors (acp), the command that starts it
    pub(crate) url: String,
    /// The front end whose rules apply
    #[arg(long, short, value_parser = any)]
    pub(crate) protocol: Kit,
    /// The model to ask for (openai, responses, meilisearch, anthropic); the first one that the server lists without it
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Sign requests with the test key in this file, and check how invalid signatures are handled
    /// (github)
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) headers: Headers,
    #[command(flatten)]
    pub(crate) files: Files,
}

/// Rejects every name. Never called: [`Cli::read`] sets the parser, which depends on the kits.
pub(crate) fn any(name: &str) -> Result<Kit, String> {
    Err(format!("no such protocol: {name}"))
}

impl Cli {
    /// Parses a command line, with the names of these protocols.
    pub(crate) fn read(
        kits: &[Kit],
        arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    ) -> Result<Self, clap::Error> {
        let value = |kit: &Kit| PossibleValue::new(kit.name).help(kit.title);
        let command = Self::command().mut_subcommands(|subcommand| {
            // Agents without a path are programs, which have no endpoint to talk to.
            let is_local = ["check", "decode", "request"].contains(&subcommand.get_name());
            let known = kits.iter().filter(|kit| is_local || !kit.path.is_empty());
            let kits: Arc<[Kit]> = known.copied().collect();
            let names: Vec<_> = kits.iter().map(value).collect();
            let parser = PossibleValuesParser::new(names).try_map(move |name| {
                let kit = kits.iter().find(|kit| kit.name == name);
                kit.copied().ok_or("no such protocol")
            });
            subcommand.mut_args(|arg| match arg.get_id().as_str() {
                "protocol" => arg.value_parser(parser.clone()),
                _ => arg,
            })
        });
        let matches = command.try_get_matches_from(arguments)?;
        Self::from_arg_matches(&matches)
    }
}

/// Parses a number of at least 1.
pub(crate) fn at_least_one(text: &str) -> Result<usize, std::num::ParseIntError> {
    text.parse().map(NonZeroUsize::get)
}

/// The default limit of one event in bytes. It is high, because the user chooses the stream.
pub(crate) const LIMIT: usize = 256 * 1024 * 1024;
