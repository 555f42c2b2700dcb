//! The progress of a call: what a step costs, and that it allocates nothing.

use copilot_wire::json::Wire as _;
use copilot_wire::mcp::{CallRequest, Mcp, Reply};
use copilot_wire::protocol::{Env, Part, Protocol, Session, Status};
use divan::counter::ItemsCount;
use divan::{AllocProfiler, Bencher, black_box};
use http::header::ACCEPT;

#[global_allocator]
static ALLOCATIONS: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// A session as a stream has it: of a client with a token.
fn session() -> Session<Reply> {
    let call = CallRequest::new(1, "ask", "How much?").progress(1);
    let request = http::Request::post("/mcp").header(ACCEPT, "text/event-stream");
    let (parts, ()) = request.body(()).unwrap_or_default().into_parts();
    let call = Mcp::read(&parts, call.to_json()).unwrap_or_default();
    Mcp::session(&call, &(), &Env::default())
}

/// A step of the work: one event.
#[divan::bench]
fn status(bencher: Bencher<'_, '_>) {
    let mut session = session();
    let mut out = Vec::with_capacity(4096);
    let status = Status::new("Reading the table of last year's sales");
    // The first one makes room for the line.
    let _ = session.part(Part::Status(&status), &mut out);
    bencher.counter(ItemsCount::new(1_usize)).bench_local(|| {
        out.clear();
        let _ = session.part(Part::Status(black_box(&status)), &mut out);
        assert!(!out.is_empty());
    });
}

/// A word of the answer, which is shown about once a second.
#[divan::bench(sample_count = 100, sample_size = 1000)]
fn word(bencher: Bencher<'_, '_>) {
    let mut session = session();
    let mut out = Vec::with_capacity(4096);
    bencher.counter(ItemsCount::new(1_usize)).bench_local(|| {
        out.clear();
        let _ = session.text(black_box("word "), &mut out);
    });
}
