//! From an agent's words to an editor, over a connection of the Agent Client Protocol.

use std::hint::black_box;
use std::time::SystemTime;

use copilot_wire::protocol::{Env, Environment};
use copilot_wire_acp::Server;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::Path;
use crate::reply::{Speaker, Words};
use crate::source;

/// Random bytes that are zeros, so that the id of the session is known.
struct Fixed;

impl Environment for Fixed {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }

    fn random(&self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}

/// The messages of the editor: a new session, and a prompt in it.
const MESSAGES: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"00000000-0000-4000-8000-000000000000","prompt":[{"type":"text","text":"hi"}]}}"#,
    "\n",
);

/// A turn of so many tokens, with both ends of the connection: at once, or each waited for.
fn editor(name: &'static str, waits: bool, events: usize) -> Path {
    Path::new(format!("editor-{name}"), "event", events, move || {
        let words: Words = source::tokens(events).leak();
        let builder = tokio::runtime::Builder::new_current_thread();
        let runtime = { builder }.enable_time().build().unwrap();
        Box::new(move || {
            runtime.block_on(async {
                let server = Server::new(Speaker { words, waits }).env(Env::new(Fixed));
                let (mut own, its) = tokio::io::duplex(1 << 20);
                let (input, output) = tokio::io::split(its);
                let served = tokio::spawn(async move { server.connect(input, output).await });
                own.write_all(MESSAGES.as_bytes()).await.unwrap();
                let mut lines = BufReader::new(own).split(b'\n');
                let mut length = 0;
                while let Some(line) = lines.next_segment().await.unwrap() {
                    length += black_box(&line).len();
                    if line.starts_with(br#"{"jsonrpc":"2.0","id":2"#) {
                        break;
                    }
                }
                served.abort();
                length
            })
        })
    })
}

pub(crate) fn paths() -> Vec<Path> {
    vec![
        editor("burst", false, 10_000),
        editor("paced", true, 10_000),
    ]
}
