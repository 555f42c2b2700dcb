//! A model's server that does what a script says, and notes what it is asked.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A response, as it is on the wire.
#[derive(Clone)]
pub(crate) struct Script {
    pub(crate) bytes: Vec<u8>,
    /// Set if the connection stays open behind it.
    pub(crate) hangs: bool,
    /// Sent again and again behind it, ten times a second.
    pub(crate) forever: &'static [u8],
}

/// A response with a head and a body that ends with its connection.
pub(crate) fn response(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Script {
    let head = format!("HTTP/1.1 {status}\r\n{headers}connection: close\r\n\r\n");
    Script {
        bytes: [head.as_bytes(), body.as_ref()].concat(),
        hangs: false,
        forever: b"",
    }
}

/// An event stream.
pub(crate) fn stream(body: impl AsRef<[u8]>) -> Script {
    response("200 OK", "content-type: text/event-stream\r\n", body)
}

impl Script {
    /// Leaves the connection open.
    pub(crate) fn hangs(mut self) -> Self {
        self.hangs = true;
        self
    }

    /// Sends bytes for ever.
    pub(crate) fn forever(mut self, bytes: &'static [u8]) -> Self {
        self.forever = bytes;
        self
    }
}

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) head: String,
    pub(crate) body: String,
}

/// A server. The last script is repeated.
pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    scripts: Arc<Mutex<Vec<Script>>>,
    left: Receiver<()>,
}

impl Upstream {
    pub(crate) fn new(scripts: impl IntoIterator<Item = Script>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::<Mutex<Vec<Asked>>>::default();
        let scripts = Arc::new(Mutex::new(scripts.into_iter().collect::<Vec<_>>()));
        let (sender, left) = channel();
        let (noted, answers) = (Arc::clone(&asked), Arc::clone(&scripts));
        // It ends with the process.
        std::thread::spawn(move || {
            for socket in listener.incoming() {
                let (noted, answers) = (Arc::clone(&noted), Arc::clone(&answers));
                let sender = sender.clone();
                std::thread::spawn(move || answer(socket.unwrap(), &noted, &answers, &sender));
            }
        });
        Self {
            address,
            asked,
            scripts,
            left,
        }
    }

    /// Replaces what it answers.
    pub(crate) fn script(&self, script: Script) {
        *self.scripts.lock().unwrap() = vec![script];
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// Waits until a client has closed a connection that was left open.
    pub(crate) fn is_left(&self) -> bool {
        self.left.recv_timeout(Duration::from_secs(60)).is_ok()
    }
}

fn answer(
    mut socket: TcpStream,
    noted: &Mutex<Vec<Asked>>,
    scripts: &Mutex<Vec<Script>>,
    left: &Sender<()>,
) {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    let (head, body) = loop {
        let count = socket.read(&mut buffer).unwrap_or_default();
        if count == 0 {
            return;
        }
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.map_or(0, |length| length.parse().unwrap());
        if body.len() >= length {
            break (head.to_owned(), body.to_owned());
        }
    };
    noted.lock().unwrap().push(Asked { head, body });
    let script = {
        let mut scripts = scripts.lock().unwrap();
        match scripts.len() {
            1 => scripts[0].clone(),
            _ => scripts.remove(0),
        }
    };
    let _ = socket.write_all(&script.bytes);
    while !script.forever.is_empty() && socket.write_all(script.forever).is_ok() {
        std::thread::sleep(Duration::from_millis(100));
    }
    if !script.forever.is_empty() {
        let _ = left.send(());
    }
    if script.hangs {
        while socket.read(&mut buffer).is_ok_and(|count| count > 0) {}
        let _ = left.send(());
    }
}
