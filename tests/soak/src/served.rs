//! A server in a process of its own.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::Ordering;

use server_tests::{Puppet, SERVERS};

/// A server in a process of its own, which ends with this.
pub(crate) struct Served {
    pub(crate) name: String,
    pub(crate) address: SocketAddr,
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Served {
    pub(crate) fn start(name: &str) -> Result<Self, Box<dyn Error>> {
        let mut process = Command::new(std::env::current_exe()?)
            .args(["serve", name])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let input = process.stdin.take();
        let output = process.stdout.take().ok_or("no output")?;
        let mut output = BufReader::new(output);
        let mut address = String::new();
        output.read_line(&mut address)?;
        Ok(Self {
            name: name.to_owned(),
            address: address.trim().parse()?,
            process,
            input,
            output,
        })
    }

    /// What it holds in memory.
    pub(crate) fn memory(&self) -> usize {
        server_tests::memory(self.process.id())
    }

    /// How many agents and sockets are alive.
    pub(crate) fn left(&mut self) -> io::Result<(usize, usize)> {
        if let Some(input) = &mut self.input {
            input.write_all(b"?\n")?;
        }
        let mut alive = String::new();
        self.output.read_line(&mut alive)?;
        let alive = alive.trim().parse().unwrap_or(usize::MAX);
        Ok((alive, server_tests::open(self.address)))
    }

    /// Stops it, and hands back what it complained of.
    pub(crate) fn stop(&mut self) -> io::Result<String> {
        drop(self.input.take());
        self.process.wait()?;
        let mut said = String::new();
        if let Some(errors) = &mut self.process.stderr {
            errors.read_to_string(&mut said)?;
        }
        Ok(said)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The other end: serves the puppet until the input ends.
pub(crate) fn serve(name: &str) -> Result<(), Box<dyn Error>> {
    // The puppet panics when it is told to; any other panic is a fault.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let told = panic.payload().downcast_ref() == Some(&"a bug in the agent");
        if !told {
            hook(panic);
        }
    }));
    let puppet = Puppet::default();
    let known = SERVERS.iter().find(|(known, _)| *known == name);
    let (_, start) = known.ok_or("no such server")?;
    // Its failures are told to it; anything else on standard error is a fault.
    let server = start(puppet.mount()?.observe(|_| {}));
    println!("{}", server.address);
    for line in io::stdin().lines() {
        line?;
        println!("{}", puppet.alive.load(Ordering::SeqCst));
    }
    Ok(())
}
