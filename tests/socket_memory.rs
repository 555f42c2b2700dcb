//! Memory of sockets between two turns. Alone in its process, because it looks at the memory of all of it.

// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used)]
#![cfg(target_os = "linux")]

use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::responses::Model;
use copilot_wire::router::socket::{Socket, SocketMessage};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use futures::executor::block_on;
use futures::{FutureExt, StreamExt};

struct Hello;

#[async_trait]
impl<P: Protocol> Agent<P> for Hello {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        Ok(reply.text("Hello").await?)
    }
}

/// The memory of this process, in bytes.
fn memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let size = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<usize>().ok());
    size.unwrap_or_default() * 1024
}

#[test]
fn ten_thousand_idle_sockets_have_four_kib_each() {
    const SOCKETS: usize = 10_000;
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/fixtures/websocket/ws-01-codex-handshake.json"
    );
    let fixture = std::fs::read(path).unwrap();
    let fixture: serde_json::Value = serde_json::from_slice(&fixture).unwrap();
    let headers = fixture["request"]["headers"].as_array().unwrap();
    let handshake = || {
        let mut request = http::Request::get("/v1/responses");
        for header in headers {
            let (name, value) = header.as_str().unwrap().split_once(": ").unwrap();
            // The fixture has its size in place of the text.
            let metadata = name == "x-codex-turn-metadata";
            let value = if metadata {
                "x".repeat(700)
            } else {
                value.to_owned()
            };
            request = request.header(name, value);
        }
        request.body(()).unwrap().into_parts().0
    };
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().build().unwrap();
    let _entered = runtime.enter();
    let router = Router::new().mount(Model::new("m"), Hello).unwrap();
    let open = || {
        let mut socket = block_on(router.socket(handshake())).unwrap();
        assert!(socket.next().now_or_never().is_none());
        socket
    };
    let turn = |socket: &mut Socket| {
        let hello = r#"{"type":"response.create","model":"m","input":"hi"}"#;
        socket.receive(SocketMessage::Text(hello.into()));
        while socket.next().now_or_never().is_some() {}
    };
    // What is there once for all.
    let mut first = open();
    turn(&mut first);
    let before = memory();
    let mut sockets: Vec<_> = (0..SOCKETS).map(|_| open()).collect();
    let idle = (memory() - before) / SOCKETS;
    let some = 1000;
    let before = memory();
    sockets.iter_mut().take(some).for_each(turn);
    let turns = (memory() - before) / some;
    println!("{idle} bytes each, and {turns} with a turn that the client may continue");
    assert!(idle > 0 && idle < 4096, "{idle} bytes each");
    assert!(turns < 4096, "{turns} bytes for a turn");
}
