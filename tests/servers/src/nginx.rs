//! nginx in front, as Debian ships it but with gzip for everything.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

use crate::Client;

/// A running nginx. Dropping it stops it.
#[derive(Debug)]
pub struct Nginx {
    /// The address that it listens on.
    pub address: SocketAddr,
    process: Child,
    folder: PathBuf,
}

static STARTED: AtomicUsize = AtomicUsize::new(0);

impl Nginx {
    /// Starts it with these locations. `None` where nginx is not installed.
    ///
    /// # Errors
    ///
    /// When it does not start.
    pub fn start(locations: &str) -> io::Result<Option<Self>> {
        let programs = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx"];
        let Some(program) = programs.iter().find(|program| Path::new(program).exists()) else {
            return Ok(None);
        };
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let name = format!("copilot-wire-nginx-{}-{number}", process::id());
        let folder = env::temp_dir().join(name);
        fs::create_dir_all(&folder)?;
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        // Another process can take the port before nginx does: only nginx knows this path.
        let ready = format!("/ready-{}-{number}", process::id());
        let locations = format!("location = {ready} {{ return 204; }} {locations}");
        let file = folder.join("nginx.conf");
        fs::write(&file, configuration(&folder, address, &locations))?;
        let mut command = Command::new(program);
        command.arg("-p").arg(&folder).arg("-c").arg(&file);
        let nginx = Self {
            process: command.stdout(Stdio::null()).spawn()?,
            address,
            folder,
        };
        let start = Instant::now();
        while !answers(address, &ready) {
            if start.elapsed() > Duration::from_secs(20) {
                return Err(io::Error::other("nginx does not answer"));
            }
            thread::sleep(Duration::from_millis(10));
        }
        Ok(Some(nginx))
    }
}

/// Returns `true` if a request for `path` has the status 204.
fn answers(address: SocketAddr, path: &str) -> bool {
    let exchange = || {
        let mut client = Client::connect(address)?;
        client.request("GET", path, &[], b"")?;
        client.head()
    };
    matches!(exchange(), Ok(head) if head.status == 204)
}

/// Returns `/etc/nginx/nginx.conf` of Debian, less what names files of the system, plus gzip for
/// everything. Buffering is on by default, HTTP/1.0 to the upstream as well.
fn configuration(folder: &Path, address: SocketAddr, locations: &str) -> String {
    let path = folder.display();
    format!(
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
    )
}

impl Drop for Nginx {
    #[expect(clippy::print_stderr, reason = "a failed test shows what nginx says")]
    fn drop(&mut self) {
        // Its workers end with the master, which must hear of it before it is gone.
        let pid = self.process.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &pid]).status();
        let _ = self.process.wait();
        if thread::panicking() {
            let log = fs::read_to_string(self.folder.join("error.log"));
            eprintln!("nginx: {}", log.unwrap_or_default());
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}
