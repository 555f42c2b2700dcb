//! Replies that are cut at random, while their only server is killed and started again, with `--sqlite`.
// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used, missing_docs)]
#![cfg(all(unix, feature = "sqlite"))]

use std::fs;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;
use server_tests::{Program, Storm, random};
use tokio::time::{sleep, timeout};

/// Starts a server at an address, which others may use for a moment.
async fn start(file: &str, address: SocketAddr) -> Program {
    let mut command = Command::new(env!("CARGO_BIN_EXE_axum-server"));
    command.args(["--sqlite", file]);
    command.env("ADDRESS", address.to_string());
    command.env("API_KEYS", "ali=sesame");
    command.env("PER_MINUTE", "1000000");
    command.stderr(Stdio::null());
    loop {
        match Program::start(&mut command) {
            Ok(program) => return program,
            Err(_) => sleep(Duration::from_millis(100)).await,
        }
    }
}

/// With `FULL=1` 500 replies are cut 3,000 times. Nothing is lost, doubled or out of order.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_doubled_or_out_of_order() {
    let is_full = std::env::var_os("FULL").is_some();
    let folder = std::env::temp_dir().join(format!("copilot-wire-storm-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("store.db");
    let file = file.to_str().unwrap();
    let mut server = start(file, "127.0.0.1:0".parse().unwrap()).await;
    let address = server.address;
    let words: Vec<_> = (0..120).map(|word| word.to_string()).collect();
    let call = json!({ "type": "function_call", "call_id": "c", "name": "f", "arguments": "{}" });
    let said = json!({ "type": "function_call_output", "call_id": "c", "output": words.join(" ") });
    let storm = Storm {
        servers: vec![address],
        user: "sesame",
        path: "/agents/analyst/v1/responses",
        body: json!({
            "model": "analyst", "stream": true, "background": true,
            "input": [{ "role": "user", "content": "Hello" }, call, said],
        }),
        words: 120,
        replies: if is_full { 500 } else { 30 },
        cuts: if is_full { 6 } else { 4 },
    };
    let mut stops = [0, 0];
    let turns = async {
        for turn in 0.. {
            // Soon at first, so that some replies are always under way.
            let wait = if turn == 0 { 1000 } else { 2000 + random(3000) };
            sleep(Duration::from_millis(wait)).await;
            let signal = ["KILL", "TERM"][turn % 2];
            server.signal(signal).unwrap();
            // At once: it waits until the other one is gone.
            server = start(file, address).await;
            stops[turn % 2] += 1;
        }
    };
    let limit = Duration::from_secs(if is_full { 900 } else { 120 });
    let tally = timeout(limit, storm.run(turns)).await.expect("it hangs");
    println!(
        "{tally:?}, {} servers killed, {} replaced",
        stops[0], stops[1]
    );
    fs::remove_dir_all(&folder).unwrap();
}
