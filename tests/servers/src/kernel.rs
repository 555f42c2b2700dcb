//! The kernel's figures of sockets and memory.

use std::fs;
use std::net::{SocketAddr, TcpStream};

/// One line of `/proc/net/tcp`.
struct Socket {
    local: u16,
    remote: u16,
    state: u8,
    sent: usize,
    received: usize,
}

fn sockets() -> Vec<Socket> {
    let table = fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let parse = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, local, remote, state, queues, ..] = *fields.as_slice() else {
            return None;
        };
        let port = |address: &str| u16::from_str_radix(address.split(':').nth(1)?, 16).ok();
        let (sent, received) = queues.split_once(':')?;
        Some(Socket {
            local: port(local)?,
            remote: port(remote)?,
            state: u8::from_str_radix(state, 16).ok()?,
            sent: usize::from_str_radix(sent, 16).ok()?,
            received: usize::from_str_radix(received, 16).ok()?,
        })
    };
    table.lines().skip(1).filter_map(parse).collect()
}

/// Returns the bytes that the kernel accepted from the peer of `client` and that `client` has not
/// received: sent and not yet
/// read, plus queued and not yet sent.
pub fn accepted(client: &TcpStream) -> usize {
    let Ok(ours) = client.local_addr() else {
        return 0;
    };
    let mut bytes = 0;
    for socket in sockets() {
        if socket.remote == ours.port() {
            bytes += socket.sent;
        }
        if socket.local == ours.port() {
            bytes += socket.received;
        }
    }
    bytes
}

/// Returns the number of a server's connections: open ones, and those that only the client has closed.
pub fn open(server: SocketAddr) -> usize {
    const ESTABLISHED: u8 = 1;
    const CLOSE_WAIT: u8 = 8;
    let held = |socket: &Socket| {
        socket.local == server.port() && matches!(socket.state, ESTABLISHED | CLOSE_WAIT)
    };
    sockets().iter().filter(|socket| held(socket)).count()
}

/// Returns the resident memory of a process, in bytes.
pub fn memory(process: u32) -> usize {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<usize>().ok());
    kib.unwrap_or_default() * 1024
}
