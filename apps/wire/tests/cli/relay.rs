//! A server below a path of another one, which notes what it is asked.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// Passes requests for what is below [`BASE`] on. Dropping it stops it.
pub(crate) struct Relay {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

const BASE: &str = "/base";

impl Relay {
    pub(crate) fn new(to: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let heads = Arc::<Mutex<Vec<String>>>::default();
        let stop = Arc::<AtomicBool>::default();
        let (noted, stopped) = (Arc::clone(&heads), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            std::thread::scope(|scope| {
                for client in listener.incoming() {
                    if stopped.load(Ordering::Relaxed) {
                        break;
                    }
                    let (client, noted) = (client.unwrap(), &noted);
                    scope.spawn(move || pass_on(client, to, noted));
                }
            });
        });
        Self {
            address,
            heads,
            stop,
            thread: Some(thread),
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{BASE}{path}", self.address)
    }

    /// The heads of all requests.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let stopped = thread.join();
            assert!(stopped.is_ok() || std::thread::panicking());
        }
    }
}

/// Passes the one request of a connection on, and its answer back. Either side may hang up.
fn pass_on(mut client: TcpStream, to: SocketAddr, heads: &Mutex<Vec<String>>) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match client.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return,
        }
    }
    let head = String::from_utf8(head).unwrap();
    heads.lock().unwrap().push(head.clone());
    if !head.contains(&format!(" {BASE}/")) {
        let _ = client.write_all(b"HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n");
        return;
    }
    let mut server = TcpStream::connect(to).unwrap();
    let head = head.replacen(&format!(" {BASE}/"), " /", 1);
    server.write_all(head.as_bytes()).unwrap();
    let (mut upward, mut downward) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let _ = std::io::copy(&mut upward, &mut downward);
            let _ = downward.shutdown(Shutdown::Write);
        });
        let _ = std::io::copy(&mut server, &mut client);
        let _ = client.shutdown(Shutdown::Both);
    });
}
