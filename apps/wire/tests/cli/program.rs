//! Runs the program.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// The program with these arguments, its pipes in our hands.
pub(crate) fn wire(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wire"));
    command
        .args(args)
        // As on a machine without certificates: nothing here needs any.
        .env("SSL_CERT_FILE", "/nonexistent")
        .env("SSL_CERT_DIR", "/nonexistent")
        .env("BAD_KEY", "sk-secret\n")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// The result of a run.
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Run {
    /// The lines of JSON.
    pub(crate) fn json(&self) -> Vec<serde_json::Value> {
        let lines = self.out.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// Runs it to its end with this input.
pub(crate) fn run(args: &[&str], input: impl AsRef<[u8]> + Send) -> Run {
    let mut child = wire(args).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output: Output = std::thread::scope(|scope| {
        scope.spawn(move || {
            // A program that fails early does not read on.
            let _ = stdin.write_all(input.as_ref());
        });
        child.wait_with_output().unwrap()
    });
    Run {
        status: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A file of the fixtures.
pub(crate) fn fixture(path: &str) -> String {
    format!("{}/../../fixtures/{path}", env!("CARGO_MANIFEST_DIR"))
}

/// A program that runs; it ends with the test.
pub(crate) struct Running {
    pub(crate) child: Child,
    lines: Receiver<String>,
}

impl Running {
    pub(crate) fn new(args: &[&str]) -> Self {
        let mut child = wire(args).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let mut line = Vec::new();
            while stdout
                .read_until(b'\n', &mut line)
                .is_ok_and(|count| count > 0)
            {
                let text = String::from_utf8(std::mem::take(&mut line)).unwrap();
                if sender.send(text.trim_end().to_owned()).is_err() {
                    break;
                }
            }
        });
        Self { child, lines }
    }

    /// The next line. A test that waits this long has failed.
    pub(crate) fn line(&self) -> String {
        self.lines.recv_timeout(Duration::from_secs(60)).unwrap()
    }

    /// The lines up to its end.
    pub(crate) fn rest(&self) -> Vec<String> {
        let mut rest = Vec::new();
        loop {
            match self.lines.recv_timeout(Duration::from_secs(60)) {
                Ok(line) => rest.push(line),
                Err(RecvTimeoutError::Disconnected) => return rest,
                Err(RecvTimeoutError::Timeout) => panic!("it goes on after {rest:?}"),
            }
        }
    }

    /// Presses Ctrl-C.
    #[cfg(unix)]
    pub(crate) fn interrupt(&self) {
        let id = self.child.id().to_string();
        let killed = Command::new("kill").args(["-INT", &id]).status();
        assert!(killed.unwrap().success());
    }

    /// Waits for its end: the status, and what it said on standard error.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        drop(self.child.stdin.take());
        let mut err = String::new();
        let mut stderr = self.child.stderr.take().unwrap();
        stderr.read_to_string(&mut err).unwrap();
        (self.child.wait().unwrap().code(), err)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
