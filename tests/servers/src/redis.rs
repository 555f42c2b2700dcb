//! A Redis server of its own.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A running `redis-server` on a free port of this machine, without files. Dropping it kills it.
#[derive(Debug)]
pub struct Redis {
    address: SocketAddr,
    process: Child,
}

impl Redis {
    /// Starts a server and waits until it listens.
    ///
    /// # Errors
    ///
    /// When there is no `redis-server`, or it does not listen within ten seconds.
    pub fn start() -> io::Result<Self> {
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let process = start(address)?;
        Ok(Self { address, process })
    }

    /// Returns the URL of the server.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://{}/", self.address)
    }

    /// Kills the server; what it stored is lost.
    ///
    /// # Errors
    ///
    /// When it cannot be killed.
    pub fn kill(&mut self) -> io::Result<()> {
        self.process.kill()?;
        self.process.wait().map(drop)
    }

    /// Starts a killed server on the same port.
    ///
    /// # Errors
    ///
    /// As for [`Redis::start`].
    pub fn restart(&mut self) -> io::Result<()> {
        self.process = start(self.address)?;
        Ok(())
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

fn start(address: SocketAddr) -> io::Result<Child> {
    let port = address.port().to_string();
    let mut process = Command::new("redis-server")
        .args([
            "--bind",
            "127.0.0.1",
            "--port",
            &port,
            "--save",
            "",
            "--appendonly",
            "no",
        ])
        .current_dir(std::env::temp_dir())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()?;
    for _ in 0..200 {
        // An end means that somebody else took the port.
        let has_ended = process.try_wait()?.is_some();
        if !has_ended && TcpStream::connect(address).is_ok() {
            return Ok(process);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    process.kill()?;
    process.wait()?;
    Err(io::Error::other("redis-server does not listen"))
}
