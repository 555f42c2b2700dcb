//! A detached run whose reader is gone keeps nothing of what it says. Alone in its process, because it
//! looks at the memory of all of it.

// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]
#![cfg(all(target_os = "linux", feature = "openbb"))]

use bytes::Bytes;
use copilot_wire::openbb::OpenBb;
use copilot_wire::protocol::AgentError;
use copilot_wire::{Agent, Body, Protocol, Reply, Request, async_trait};
use futures::executor::block_on;

/// Never waits: all of it is said in one poll.
struct Flood;

#[async_trait]
impl Agent<OpenBb> for Flood {
    async fn answer(&self, _: Request<OpenBb>, reply: Reply<OpenBb>) -> Result<(), AgentError> {
        let piece = "z".repeat(64 * 1024);
        for _ in 0..1024 {
            reply.text(&piece).await?;
        }
        Ok(())
    }
}

/// The most memory that this process ever had, in KiB.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
    peak.unwrap_or_default()
}

#[test]
fn a_detached_run_without_a_reader_keeps_nothing() {
    let message = Bytes::from_static(br#"{"messages":[{"role":"human","content":"hi"}]}"#);
    let (parts, ()) = http::Request::new(()).into_parts();
    let request = Request::new(OpenBb::read(&parts, message).unwrap());
    let mut body = Body::run(Flood, request, &Default::default());
    let run = body.detach().unwrap();
    drop(body);
    let before = peak();
    assert!(before > 0);
    block_on(run);
    let grown = peak() - before;
    assert!(
        grown < 16 * 1024,
        "{grown} KiB for 64 MiB that nobody reads"
    );
}
