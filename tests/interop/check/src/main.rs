//! Judges agents that are written with other libraries, as their documentation has it, and expects
//! exactly their known faults.
#![allow(clippy::print_stdout)]

mod endpoint;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitCode, Stdio};

use copilot_wire::github::verify::RequestSigner;
use copilot_wire::testing::check::{Front, Target, check};

use endpoint::Local;

type Failure = Box<dyn std::error::Error>;

/// An agent, and what is wrong with it.
struct Case {
    command: &'static [&'static str],
    front: Front,
    signed: bool,
    faults: &'static [&'static str],
}

const CASES: [Case; 3] = [
    Case {
        command: &[".venv/bin/python", "agent.py"],
        front: Front::OpenBb,
        signed: false,
        faults: &[
            "cors/private-network",
            "http/oversized",
            "openbb/extra-state",
            "openbb/line-separators",
            "openbb/other-request",
        ],
    },
    Case {
        command: &["node", "hello.mjs"],
        front: Front::GitHub,
        signed: false,
        faults: &[
            "github/unsigned",
            "http/accel-buffering",
            "http/bad-json",
            "http/cache-control",
            "http/content-type",
            "http/method",
            "http/oversized",
            "http/unknown-path",
        ],
    },
    Case {
        command: &["node", "agent.mjs"],
        front: Front::GitHub,
        signed: true,
        faults: &[
            "chunk/after-done",
            "github/display-name",
            "github/one-id",
            "github/reference-data",
            "http/accel-buffering",
            "http/cache-control",
            "http/content-type",
            "http/method",
            "http/oversized",
            "http/server-error",
            "http/unknown-path",
        ],
    },
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Failure> {
    let mut failed = 0;
    for case in &CASES {
        let mut found = judge(case).await?;
        found.sort_unstable();
        if found != case.faults {
            failed += 1;
            println!("{:?}: expected {:?}", case.command, case.faults);
        }
    }
    println!("{} passed, {failed} failed", CASES.len() - failed);
    Ok(ExitCode::from(u8::from(failed > 0)))
}

/// The rules that an agent breaks. The report is printed when they are not the ones expected.
async fn judge(case: &Case) -> Result<Vec<&'static str>, Failure> {
    let seed = b"interop";
    let keys = RequestSigner::key_document([(&RequestSigner::from_seed(seed), true)]);
    let agent = Agent::start(case.command, std::str::from_utf8(&keys)?)?;
    let mut target = Target::new(case.front);
    if case.front == Front::GitHub {
        target = target.path("/");
    }
    if case.signed {
        target = target.signer(RequestSigner::from_seed(seed));
    }
    let report = check(&Local { port: agent.port }, target).await;
    let mut found: Vec<_> = report.rules().collect();
    found.sort_unstable();
    if found != case.faults {
        println!("{report}");
    }
    Ok(found)
}

/// The process of an agent; it ends with this.
struct Agent {
    process: Child,
    port: u16,
}

impl Agent {
    /// Starts an agent, which prints its port.
    fn start(command: &[&str], keys: &str) -> Result<Self, Failure> {
        let (program, arguments) = command.split_first().ok_or("no command")?;
        let mut process = Command::new(program)
            .args(arguments)
            .arg(keys)
            .stdout(Stdio::piped())
            .spawn()?;
        let output = process.stdout.take().ok_or("no output")?;
        let mut agent = Self { process, port: 0 };
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        agent.port = line.trim().parse()?;
        Ok(agent)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
