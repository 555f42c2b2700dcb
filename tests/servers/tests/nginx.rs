//! nginx in front, as Debian ships it but with gzip for everything: every word passes at once.

#![cfg(unix)]
// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use server_tests::{Client, Puppet, SERVERS, chunk, say};

/// A running nginx. Dropping it stops it.
struct Nginx {
    process: Child,
    address: SocketAddr,
    folder: PathBuf,
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // Its workers end with the master, which must hear of it before it is gone.
        let pid = self.process.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &pid]).status();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn free_port() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap()
}

impl Nginx {
    /// `None` where nginx is not installed.
    fn start(name: &str, locations: &str) -> Option<Self> {
        let program = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx"]
            .into_iter()
            .find(|program| Path::new(program).exists())?;
        let process = std::process::id();
        let folder = std::env::temp_dir().join(format!("copilot-wire-nginx-{process}-{name}"));
        fs::create_dir_all(&folder).unwrap();
        let address = free_port();
        // `/etc/nginx/nginx.conf` of Debian, less what names files of the system, plus gzip for
        // everything. Buffering is on by default, HTTP/1.0 to the upstream as well.
        let path = folder.display();
        let configuration = format!(
            "daemon off; pid {path}/pid; error_log {path}/error.log;\n\
             worker_processes 1;\n\
             events {{ worker_connections 768; }}\n\
             http {{\n\
               sendfile on; tcp_nopush on; types_hash_max_size 2048;\n\
               default_type application/octet-stream; access_log off;\n\
               gzip on; gzip_types *; gzip_min_length 0; gzip_proxied any;\n\
               client_body_temp_path {path}/body; proxy_temp_path {path}/proxy;\n\
               fastcgi_temp_path {path}/fastcgi; uwsgi_temp_path {path}/uwsgi;\n\
               scgi_temp_path {path}/scgi;\n\
               server {{ listen {address}; {locations} }}\n\
             }}\n"
        );
        let file = folder.join("nginx.conf");
        fs::write(&file, configuration).unwrap();
        let process = Command::new(program)
            .arg("-p")
            .arg(&folder)
            .arg("-c")
            .arg(&file)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let nginx = Self {
            process,
            address,
            folder,
        };
        let start = Instant::now();
        while Client::connect(address).is_err() {
            assert!(start.elapsed() < Duration::from_secs(20), "nginx is not up");
            std::thread::sleep(Duration::from_millis(10));
        }
        Some(nginx)
    }
}

/// A location that passes everything on.
fn everything(upstream: SocketAddr, more: &str) -> String {
    format!("location / {{ proxy_pass http://{upstream}; {more} }}")
}

/// The next piece of the body, whether it came in chunks or not.
fn read(client: &mut Client, wanted: &str) {
    let piece = client.chunk().unwrap();
    assert_eq!(String::from_utf8(piece).unwrap(), wanted);
}

#[test]
fn every_word_passes_before_the_next_is_said() {
    for (name, start) in SERVERS {
        let puppet = Puppet::default();
        let server = start(puppet.mount().unwrap());
        let Some(nginx) = Nginx::start(name, &everything(server.address, "")) else {
            println!("skipped: nginx is not installed");
            return;
        };
        for front_end in ["", "accept-encoding: gzip"] {
            let mut client = Client::connect(nginx.address).unwrap();
            let headers = ["content-type: application/json", front_end];
            let headers: Vec<&str> = headers
                .into_iter()
                .filter(|line| !line.is_empty())
                .collect();
            client
                .request("POST", "/v1/query", &headers, say("steps").as_bytes())
                .unwrap();
            let head = client.head().unwrap();
            assert_eq!(head.status, 200, "{name}");
            // A stream in gzip would reach the reader when a block of it is full.
            assert_ne!(head.header("content-encoding"), Some("gzip"), "{name}");
            for _ in 0..3 {
                puppet.permits.add_permits(1);
                read(&mut client, &chunk("step"));
            }
            drop(client);
            // nginx hangs up on the server, which drops the agent.
            let _ = puppet.wait_for(0);
        }
    }
}

/// The proof that the test above proves something: without our header nginx holds words back.
#[test]
fn nginx_would_hold_words_back() {
    let puppet = Puppet::default();
    let server = server_tests::Server::hyper(puppet.mount().unwrap());
    let ignore = "proxy_ignore_headers X-Accel-Buffering;";
    let Some(nginx) = Nginx::start("buffering", &everything(server.address, ignore)) else {
        println!("skipped: nginx is not installed");
        return;
    };
    let mut client = Client::connect(nginx.address).unwrap();
    let wait = Duration::from_secs(1);
    client.socket().set_read_timeout(Some(wait)).unwrap();
    client.post("/v1/query", say("steps")).unwrap();
    puppet.permits.add_permits(1);
    let came = client.head().and_then(|_| client.chunk());
    assert!(came.is_err(), "{came:?}");
}

/// Below a path, which nginx strips or not, the agent is where its descriptor says.
#[test]
fn a_server_below_a_path_is_where_it_says() {
    for (name, start) in SERVERS {
        let router = Puppet::default().mount().unwrap();
        let server = start(router.base_path("/agents"));
        let upstream = server.address;
        for (strips, slash) in [("strips", "/"), ("passes", "")] {
            let location = format!("location /agents/ {{ proxy_pass http://{upstream}{slash}; }}");
            let Some(nginx) = Nginx::start(&format!("{name}-{strips}"), &location) else {
                println!("skipped: nginx is not installed");
                return;
            };
            let mut client = Client::connect(nginx.address).unwrap();
            client
                .request("GET", "/agents/agents.json", &[], b"")
                .unwrap();
            let (head, document) = client.response().unwrap();
            assert_eq!(head.status, 200, "{name} {strips}");
            let document: serde_json::Value = serde_json::from_str(&document).unwrap();
            let mut agents = document.as_object().unwrap().values();
            let query = agents.next().unwrap().pointer("/endpoints/query");
            let query = query.unwrap().as_str().unwrap();
            assert!(query.starts_with("/agents/"), "{query}");
            // Front ends differ in what they take the path to be below.
            for path in [query, &format!("/agents{query}")] {
                let mut client = Client::connect(nginx.address).unwrap();
                client.post(path, say("well")).unwrap();
                assert_eq!(
                    client.response().unwrap().1,
                    chunk("well"),
                    "{name} {strips} {path}"
                );
            }
        }
    }
}
