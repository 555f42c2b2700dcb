//! Two server processes, nginx in front, and their clients.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
pub(crate) use server_tests::{Answer, events, numbers, response_id, send_as};
use tokio::net::TcpStream;

use crate::redis::Redis;

/// Redis, and two servers that share it.
pub(crate) struct Cluster {
    pub(crate) one: Server,
    pub(crate) other: Server,
    pub(crate) redis: Redis,
}

impl Cluster {
    pub(crate) fn start() -> Self {
        Self::with(Redis::start(""))
    }

    pub(crate) fn with(redis: Redis) -> Self {
        let (one, other) = (
            Server::start(&redis.url(), ""),
            Server::start(&redis.url(), ""),
        );
        Self { one, other, redis }
    }
}

/// A process of `examples/server.rs`.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    child: Child,
}

impl Server {
    pub(crate) fn start(url: &str, option: &str) -> Self {
        Self::start_at(url, "127.0.0.1:0", option).expect("the server starts")
    }

    /// Returns `None` where the server cannot listen.
    pub(crate) fn start_at(url: &str, address: &str, option: &str) -> Option<Self> {
        let mut command = program();
        command.args([url, address, option]);
        Self::run(command)
    }

    /// Returns `None` where the program ends before it listens.
    pub(crate) fn run(mut command: Command) -> Option<Self> {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line.trim().rsplit('/').next().unwrap().parse().ok();
        if address.is_none() {
            child.wait().unwrap();
        }
        Some(Self {
            address: address?,
            child,
        })
    }

    /// Starts a server again at the address of another one, which others may use for a moment.
    pub(crate) async fn restart(url: &str, address: SocketAddr, option: &str) -> Self {
        loop {
            if let Some(server) = Self::start_at(url, &address.to_string(), option) {
                return server;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Returns the resident memory in bytes.
    pub(crate) fn memory(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = fs::read_to_string(path).unwrap();
        let resident = status.split("VmRSS:").nth(1).unwrap();
        let kilobytes: u64 = resident.split_whitespace().next().unwrap().parse().unwrap();
        kilobytes << 10
    }

    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let kill = Command::new("kill")
            .args([format!("-{signal}"), pid])
            .status();
        assert!(kill.unwrap().success());
    }

    /// Waits until the process has ended.
    pub(crate) async fn ended(&mut self) {
        while self.child.try_wait().unwrap().is_none() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the command of `examples/server.rs`.
pub(crate) fn program() -> Command {
    // Tests are in `deps`, examples beside it.
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().unwrap().parent().unwrap();
    Command::new(folder.join("examples/server"))
}

/// nginx, as the README shows it, in front of some servers.
pub(crate) struct Nginx {
    pub(crate) address: SocketAddr,
    folder: PathBuf,
    child: Child,
}

impl Nginx {
    pub(crate) async fn start(servers: &[SocketAddr]) -> Self {
        let address = free_port();
        let folder = std::env::temp_dir().join(format!(
            "copilot-wire-nginx-{}-{}",
            std::process::id(),
            address.port()
        ));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.display();
        let configuration = format!(
            "daemon off; pid {path}/pid; error_log {path}/error.log;
            events {{ worker_connections 4096; }}
            http {{
                access_log off; client_body_temp_path {path}/body; proxy_temp_path {path}/proxy;
                fastcgi_temp_path {path}/f; uwsgi_temp_path {path}/u; scgi_temp_path {path}/s;
                {}
            }}",
            of_readme(address, servers)
        );
        fs::write(folder.join("nginx.conf"), configuration).unwrap();
        let program = if PathBuf::from("/usr/sbin/nginx").exists() {
            "/usr/sbin/nginx"
        } else {
            "nginx"
        };
        let child = Command::new(program)
            .arg("-p")
            .arg(&folder)
            .arg("-c")
            .arg(folder.join("nginx.conf"))
            .stderr(Stdio::null())
            .spawn()
            .expect("nginx is installed");
        while TcpStream::connect(address).await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Self {
            address,
            folder,
            child,
        }
    }
}

/// Returns the configuration that the README shows, with these servers.
fn of_readme(address: SocketAddr, servers: &[SocketAddr]) -> String {
    let readme = include_str!("../../README.md");
    let block = &readme[readme.find("upstream agents {").unwrap()..];
    let mut block = block[..block.find("```").unwrap()].to_owned();
    for (of_readme, server) in ["10.0.0.11:7777", "10.0.0.12:7777"].iter().zip(servers) {
        assert!(block.contains(of_readme), "{block}");
        block = block.replace(of_readme, &server.to_string());
    }
    block.replace("server {", &format!("server {{ listen {address};"))
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // Its workers end with the master, which must be asked.
        let _ = Command::new("kill")
            .arg(self.child.id().to_string())
            .status();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

pub(crate) fn free_port() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
}

/// Sends a request as the user `ann`.
pub(crate) async fn send(to: SocketAddr, method: &str, path: &str, body: Option<Value>) -> Answer {
    send_as("ann", to, method, path, body).await.unwrap()
}

/// Reads the answer of a chat to its end, as a page does that asks again whenever its connection breaks. Returns the
/// answer, and the number of times it has asked, each with how long that took to bring something new.
pub(crate) async fn follow(
    to: SocketAddr,
    chat: &str,
    mut page: Answer,
) -> (String, Vec<Duration>) {
    let mut waits = Vec::new();
    loop {
        let is_whole = |bytes: &[u8]| bytes.ends_with(b"data: [DONE]\n\n");
        if page.until(is_whole).await {
            return (page.all().await, waits);
        }
        let (broken, seen) = (Instant::now(), page.bytes.len());
        page = loop {
            let path = format!("/api/chat/{chat}/stream");
            match send_as("ann", to, "GET", &path, None).await {
                Ok(again) if again.status == 200 => break again,
                // There is always a server that could answer.
                Ok(again) => panic!("status {}", again.status),
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        };
        page.until(|bytes| bytes.len() > seen).await;
        waits.push(broken.elapsed());
    }
}

/// Asks for the answer of a chat until there is one: its first words do not wait for the log, and a machine
/// that is short of time may keep a server from its log for longer than a command may take.
pub(crate) async fn resume(to: SocketAddr, chat: &str) -> Answer {
    loop {
        let answer = send(to, "GET", &format!("/api/chat/{chat}/stream"), None).await;
        if !matches!(answer.status, 204 | 503) {
            assert_eq!(answer.status, 200);
            return answer;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Returns the request of a page with `useChat`.
pub(crate) fn chat(id: &str, prompt: &str) -> Option<Value> {
    let parts = json!([{ "type": "text", "text": prompt }]);
    let message = json!({ "id": "m1", "role": "user", "parts": parts });
    Some(json!({ "id": id, "messages": [message], "trigger": "submit-message" }))
}

/// Returns the request of a client of the Responses API.
pub(crate) fn response(prompt: &str) -> Option<Value> {
    Some(json!({ "model": "counter", "input": prompt, "stream": true, "background": true }))
}

/// Waits, but not for ever.
pub(crate) async fn soon<T>(work: impl Future<Output = T>) -> T {
    let limit = Duration::from_secs(60);
    tokio::time::timeout(limit, work).await.expect("it hangs")
}

/// Returns how often something is tried: more in `redis/full`.
pub(crate) fn times(short: u64, full: u64) -> u64 {
    if std::env::var_os("FULL").is_some() {
        full
    } else {
        short
    }
}
