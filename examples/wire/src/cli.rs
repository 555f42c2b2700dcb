//! The commands and their options.

use std::num::NonZeroUsize;

use clap::{Parser, Subcommand, ValueEnum};

use crate::{chat, check, decode, keys, request, sign, sse};

/// Reads and speaks the protocols of chat agents: OpenBB Workspace, GitHub Copilot, OpenAI chat
/// streams, Meilisearch chat
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
    Chat(chat::Options),

    /// Judge an agent, in whatever language it is written, by the strictest known reader
    ///
    /// Plays the front end for about forty requests: recorded ones of every era, bad ones, forged
    /// ones, and leaves half-way. Uploads 48 MiB once. Requests to an OpenBB agent go where its
    /// descriptor says, also to another server; preflights carry none of the headers. Every broken
    /// rule is shown with the bytes that broke it, why it matters, and what to do. Warnings leave
    /// the exit status at 0. Ctrl-C stops, and shows what was found so far.
    #[command(after_help = "Examples:
  wire check http://127.0.0.1:7777 -p openbb
  wire check https://agent.example/v1/chat/completions -p openai --model parrot --json
  wire check http://127.0.0.1:7777/github -p github --key test.key
The last one: see `wire keys --help`.")]
    Check(check::Options),

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

/// A chat front end, by its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Front {
    /// The OpenBB Workspace
    Openbb,
    /// GitHub Copilot clients
    Github,
    /// Whatever reads OpenAI chat streams
    Openai,
    /// Meilisearch chat
    Meilisearch,
}

impl Front {
    /// Its name in the conformance kit.
    pub(crate) fn kit(self) -> copilot_wire::testing::check::Front {
        use copilot_wire::testing::check::Front as Kit;
        match self {
            Self::Openbb => Kit::OpenBb,
            Self::Github => Kit::GitHub,
            Self::Openai => Kit::OpenAi,
            Self::Meilisearch => Kit::Meilisearch,
        }
    }
}

/// Reads a number from 1 on.
pub(crate) fn at_least_one(text: &str) -> Result<usize, std::num::ParseIntError> {
    text.parse().map(NonZeroUsize::get)
}

/// The most bytes that one event may need. Streams come from the user, so it is generous.
pub(crate) const LIMIT: usize = 256 * 1024 * 1024;
