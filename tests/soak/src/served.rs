//! A server in a process of its own.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::Ordering;

use axum_server::Settings;
use copilot_wire::router::Keys;
use server_tests::{Puppet, SERVERS};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::CLIENTS;
use crate::clients::{HURRIED, PER_MINUTE};

/// The name of the gateway.
pub(crate) const GATEWAY: &str = "axum";

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

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Returns its resident memory.
    pub(crate) fn memory(&self) -> usize {
        server_tests::memory(self.process.id())
    }

    /// Returns the number of running agents and open sockets.
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

/// Serves the puppet until standard input ends.
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
    if name == GATEWAY {
        return gateway(&puppet);
    }
    let known = SERVERS.iter().find(|(known, _)| *known == name);
    let (_, start) = known.ok_or("no such server")?;
    // Its failures are told to it; anything else on standard error is a fault.
    let server = start(puppet.mount()?.observe(|_| {}));
    tell(server.address, &puppet)
}

/// Tells where the server is, and how many agents are at work whenever it is asked.
fn tell(address: SocketAddr, puppet: &Puppet) -> Result<(), Box<dyn Error>> {
    println!("{address}");
    for line in io::stdin().lines() {
        line?;
        println!("{}", puppet.alive.load(Ordering::SeqCst));
    }
    Ok(())
}

/// Serves the puppet behind the guards of the gateway, with a key for every client.
fn gateway(puppet: &Puppet) -> Result<(), Box<dyn Error>> {
    let keys = (0..CLIENTS).map(|client| format!("key-{client}"));
    let keys = keys.chain([HURRIED.to_owned()]);
    let mut settings = Settings::new(Keys::new(keys.map(|key| (format!("user of {key}"), key))));
    settings.per_minute = PER_MINUTE;
    let app = axum_server::gateway(settings, |router| puppet.mount_on(router))?;
    let runtime = tokio::runtime::Runtime::new()?;
    let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
    let address = listener.local_addr()?;
    let (stop, stopped) = oneshot::channel::<()>();
    let server = axum_server::serve(listener, app, async { drop(stopped.await) });
    let server = runtime.spawn(server);
    tell(address, puppet)?;
    drop(stop);
    Ok(runtime.block_on(server)??)
}
