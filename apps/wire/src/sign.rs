//! `wire sign`: a request signed as its platform would sign it.

use std::path::PathBuf;

use clap::Args;
use copilot_wire_kit::{Kit, Node};

use crate::input::Input;
use crate::key;
use crate::screen::Screen;
use crate::verdict::{Failure, Verdict};

/// The options of `wire sign`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    #[command(flatten)]
    input: Input,
    /// The file of the test key; created if it does not exist
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Write a whole curl command that posts the body to this address
    #[arg(long, value_name = "URL")]
    curl: Option<String>,
}

/// Writes the headers to send with the body, whose bytes must not be changed.
pub(crate) fn run(
    options: &Options,
    kits: &[Kit],
    screen: &mut Screen,
) -> Result<Verdict, Failure> {
    let body = options.input.read()?;
    let headers = key::keys(kits)?
        .signer(&key::seed(&options.key)?)
        // The signature is over these exact bytes: a body that was parsed and serialized again would need another.
        .sign(&body);
    let mut headers: Vec<_> = headers
        .iter()
        .map(|(name, value)| (canonical(name.as_str()), value.to_str().unwrap_or_default()))
        .collect();
    // A header map has no fixed order, but the printed command must be the same in every run.
    headers.sort_unstable();
    let curl = match &options.curl {
        Some(url) => Some(curl(url, &headers, options, &body)?),
        None => None,
    };
    match (curl, screen.is_json()) {
        (curl, true) => {
            let headers = headers.into_iter().map(|(name, value)| {
                Node::object([("name", name.into()), ("value", value.into())])
            });
            let headers = Node::list(headers);
            screen.json_line(&Node::object([("headers", headers), ("curl", curl.into())]))?;
        }
        (Some(curl), false) => screen.line(curl)?,
        (None, false) => {
            for (name, value) in headers {
                screen.line(format_args!("{name}: {value}"))?;
            }
        }
    }
    Ok(Verdict::Clean)
}

fn curl(
    url: &str,
    headers: &[(String, &str)],
    options: &Options,
    body: &[u8],
) -> Result<String, Failure> {
    let mut command = format!("curl -sSN {}", quoted(url));
    let json = ("Content-Type".to_owned(), "application/json");
    for (name, value) in [json].iter().chain(headers) {
        command.push_str(&format!(
            " \\\n  -H {}",
            quoted(&format!("{name}: {value}"))
        ));
    }
    let data = match options.input.path() {
        Some(path) => format!("@{}", path.display()),
        None => match std::str::from_utf8(body) {
            // curl would interpret such a text as a file name.
            Ok(text) if !text.starts_with('@') && !text.contains('\0') => text.to_owned(),
            _ => {
                return Err(Failure::new(
                    "--curl needs a body that is text, or in a file",
                ));
            }
        },
    };
    // `--data` would remove line ends from files, and the signature would no longer match.
    command.push_str(&format!(" \\\n  --data-binary {}", quoted(&data)));
    Ok(command)
}

/// Quotes a text for a POSIX shell.
fn quoted(text: &str) -> String {
    // Within single quotes a shell takes everything literally except a single quote, which is written outside of them.
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Returns a header's name in its usual case: `Content-Type`.
fn canonical(name: &str) -> String {
    let words = name.split('-').map(|word| {
        let (first, rest) = word.split_at_checked(1).unwrap_or_default();
        first.to_ascii_uppercase() + rest
    });
    words.collect::<Vec<_>>().join("-")
}
