//! A server program in a process of its own.

use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::{Client, Place};

/// A running program that prints `http://ADDRESS` first. Dropping it kills it.
#[derive(Debug)]
pub struct Program {
    /// Returns the address that it listens on.
    pub address: SocketAddr,
    process: Child,
}

impl Program {
    /// Starts `command` and waits until it listens.
    ///
    /// # Errors
    ///
    /// When it does not start, or ends before it listens.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let mut process = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut first = String::new();
        if let Some(output) = process.stdout.as_mut() {
            BufReader::new(output).read_line(&mut first)?;
        }
        let address = first.split("http://").nth(1).unwrap_or_default();
        let address = address.split([',', '\n']).next().unwrap_or_default();
        match address.parse() {
            Ok(address) => Ok(Self { address, process }),
            Err(_) => {
                process.kill()?;
                process.wait()?;
                Err(io::Error::other(format!("it printed {first:?}")))
            }
        }
    }

    /// Returns the memory that it has resident, in bytes.
    pub fn memory(&self) -> usize {
        crate::memory(self.process.id())
    }

    /// Sends a signal, such as `TERM`.
    ///
    /// # Errors
    ///
    /// When there is no `kill` command.
    pub fn signal(&self, name: &str) -> io::Result<()> {
        let process = self.process.id().to_string();
        let status = Command::new("kill").args(["-s", name, &process]).status()?;
        if status.success() {
            Ok(())
        } else {
            Err(io::Error::other("the signal was not sent"))
        }
    }

    /// Waits until it ends.
    ///
    /// # Errors
    ///
    /// When it was waited for before.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        self.process.wait()
    }

    /// Asks it to stop by `signal` while it streams an answer of the OpenAI model `model` to `prompt`;
    /// returns the answer and how the program ended.
    ///
    /// # Errors
    ///
    /// When the stream is cut.
    pub fn stop_while_streaming(
        mut self,
        signal: &str,
        model: &str,
        prompt: &str,
    ) -> io::Result<(String, ExitStatus)> {
        let mut client = Client::connect(self.address)?;
        let body = format!(
            r#"{{"model":"{model}","stream":true,"messages":[{{"role":"user","content":"{prompt}"}}]}}"#
        );
        let headers = ["content-type: application/json", "connection: close"];
        client.request("POST", "/v1/chat/completions", &headers, body.as_bytes())?;
        client.head()?;
        let mut answer = client.chunk()?;
        self.signal(signal)?;
        rest(&mut client, &mut answer)?;
        Ok((String::from_utf8_lossy(&answer).into_owned(), self.wait()?))
    }

    /// Asks it to stop by `SIGTERM` while its analyst, at `place`, streams answers of many seconds to clients of
    /// OpenAI, one at each of `addresses`, of the program or of a proxy in front; returns the answers and how it ended.
    ///
    /// # Errors
    ///
    /// When a stream is cut.
    pub fn stop_in_long_answers(
        mut self,
        addresses: &[SocketAddr],
        place: Place<'_>,
    ) -> io::Result<(Vec<String>, ExitStatus)> {
        // The analyst repeats what tools say: 2,500 words here, one every 15 milliseconds.
        let calls = (0..10).map(|id| {
            format!(
                r#"{{"id":"c{id}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}"#
            )
        });
        let words = "a ".repeat(250);
        let results = (0..10)
            .map(|id| format!(r#"{{"role":"tool","tool_call_id":"c{id}","content":"{words}"}}"#));
        let body = format!(
            r#"{{"model":"analyst","stream":true,"messages":[{{"role":"user","content":"hi"}},{{"role":"assistant","tool_calls":[{}]}},{}]}}"#,
            calls.collect::<Vec<_>>().join(","),
            results.collect::<Vec<_>>().join(","),
        );
        let ask = |address: &SocketAddr| {
            let mut client = Client::connect(*address)?;
            let headers = [
                "content-type: application/json",
                place.key,
                "connection: close",
            ];
            client.request("POST", place.path, &headers, body.as_bytes())?;
            client.head()?;
            let answer = client.chunk()?;
            Ok((client, answer))
        };
        let clients: io::Result<Vec<_>> = addresses.iter().map(ask).collect();
        self.signal("TERM")?;
        let mut answers = Vec::new();
        for (mut client, mut answer) in clients? {
            rest(&mut client, &mut answer)?;
            answers.push(String::from_utf8_lossy(&answer).into_owned());
        }
        Ok((answers, self.wait()?))
    }
}

/// Reads the rest of a chunked body.
fn rest(client: &mut Client, answer: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let chunk = client.chunk()?;
        if chunk.is_empty() {
            return Ok(());
        }
        answer.extend(chunk);
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
