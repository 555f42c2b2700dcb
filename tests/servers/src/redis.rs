//! A Redis server of its own.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A running `redis-server` on a free port of this machine, without files but the one of a cluster. Dropping it kills it.
#[derive(Debug)]
pub struct Redis {
    address: SocketAddr,
    process: Child,
    is_cluster: bool,
}

impl Redis {
    /// Starts a server and waits until it listens.
    ///
    /// # Errors
    ///
    /// When there is no `redis-server`, or it does not listen within ten seconds.
    pub fn start() -> io::Result<Self> {
        let (address, is_cluster) = (free()?, false);
        let process = start(address, &[])?;
        Ok(Self {
            address,
            process,
            is_cluster,
        })
    }

    /// Starts a cluster of one server, which demands of its clients what every cluster does.
    ///
    /// # Errors
    ///
    /// As for [`Redis::start`].
    pub fn start_cluster() -> io::Result<Self> {
        let (address, is_cluster) = (free()?, true);
        let (bus, file) = (free()?.port().to_string(), nodes(address));
        let arguments = ["--cluster-enabled", "yes", "--cluster-port", &bus];
        let process = start(
            address,
            &[&arguments[..], &["--cluster-config-file", &file]].concat(),
        )?;
        let redis = Self {
            address,
            process,
            is_cluster,
        };
        let mut client = TcpStream::connect(address)?;
        client.write_all(b"CLUSTER ADDSLOTSRANGE 0 16383\r\n")?;
        let mut answer = String::new();
        while !answer.contains("cluster_state:ok") {
            client.write_all(b"CLUSTER INFO\r\n")?;
            let mut bytes = [0; 1024];
            let count = client.read(&mut bytes)?;
            answer = String::from_utf8_lossy(bytes.get(..count).unwrap_or_default()).into_owned();
        }
        Ok(redis)
    }

    /// Returns the URL of the server.
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
        self.process = start(self.address, &[])?;
        Ok(())
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.kill();
        if self.is_cluster {
            let file = std::env::temp_dir().join(nodes(self.address));
            let _ = std::fs::remove_file(file);
        }
    }
}

fn free() -> io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()
}

/// Returns the name of the file in which a cluster has its servers.
fn nodes(address: SocketAddr) -> String {
    format!("copilot-wire-nodes-{}", address.port())
}

fn start(address: SocketAddr, arguments: &[&str]) -> io::Result<Child> {
    let port = address.port().to_string();
    let mut process = Command::new("redis-server")
        .args(["--bind", "127.0.0.1", "--port", &port, "--save", ""])
        .args(arguments)
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
