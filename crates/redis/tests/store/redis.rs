//! A Redis server of a test's own.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::Duration;

use copilot_wire_redis::RedisReplyStore;

/// A server on a free port, with a folder of its own. It ends with the test.
pub(crate) struct Redis {
    port: u16,
    folder: PathBuf,
    arguments: Vec<String>,
    child: Child,
}

impl Redis {
    /// Starts a server with further arguments, such as `--maxmemory 10mb`.
    pub(crate) fn start(arguments: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("copilot-wire-redis-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let words: Vec<String> = arguments.split_whitespace().map(str::to_owned).collect();
        let child = spawn(port, &folder, &words);
        let redis = Self {
            port,
            folder,
            arguments: words,
            child,
        };
        match redis.wait() {
            true => redis,
            false => Self::start(arguments),
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// Returns the password that everybody needs.
    fn password(&self) -> Option<&str> {
        let at = self.arguments.iter().position(|it| it == "--requirepass")?;
        self.arguments.get(at + 1).map(String::as_str)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Connects a store, as a server does.
    pub(crate) async fn store(&self) -> RedisReplyStore {
        RedisReplyStore::connect(self.url()).await.unwrap()
    }

    /// Sends a command, and returns its answer.
    pub(crate) fn command(&self, command: &str) -> redis::Value {
        self.try_command(command).unwrap()
    }

    /// Returns a number that a command answers with.
    pub(crate) fn number(&self, command: &str) -> i64 {
        redis::from_redis_value(self.command(command)).unwrap()
    }

    /// Returns a section of what the server says of itself.
    pub(crate) fn info(&self, section: &str) -> String {
        redis::from_redis_value(self.command(&format!("INFO {section}"))).unwrap()
    }

    pub(crate) fn try_command(&self, command: &str) -> redis::RedisResult<redis::Value> {
        let url = match self.password() {
            Some(password) => self.url().replace("//", &format!("//:{password}@")),
            None => self.url(),
        };
        let mut connection = redis::Client::open(url)?.get_connection()?;
        let mut words = command.split_whitespace();
        let mut command = redis::cmd(words.next().unwrap());
        words.for_each(|word| {
            command.arg(word);
        });
        command.query(&mut connection)
    }

    /// Ends the server as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts the server again after it was killed, with what it has on its disk.
    pub(crate) fn restart(&mut self) {
        self.child = spawn(self.port, &self.folder, &self.arguments);
        assert!(self.wait(), "another server has its port");
    }

    /// Sends a signal, such as `STOP`.
    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let kill = Command::new("kill")
            .args([format!("-{signal}"), pid])
            .status();
        assert!(kill.unwrap().success());
    }

    /// Waits for an answer. Returns `false` if another server, of another test, has got the port before.
    fn wait(&self) -> bool {
        for _ in 0..500 {
            if let Ok(info) = self.try_command("INFO server") {
                let info: String = redis::from_redis_value(info).unwrap();
                let own = format!("process_id:{}\r", self.child.id());
                return info.contains(&own);
            }
            sleep(Duration::from_millis(20));
        }
        panic!("redis-server does not answer on port {}", self.port);
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn spawn(port: u16, folder: &PathBuf, arguments: &[String]) -> Child {
    Command::new("redis-server")
        .args(["--bind", "127.0.0.1", "--save", "", "--port"])
        .arg(port.to_string())
        .arg("--dir")
        .arg(folder)
        .args(arguments)
        .stdout(Stdio::null())
        .stdin(Stdio::null())
        .spawn()
        .expect("redis-server is installed")
}

/// Returns the command that creates a user of Redis, as the README shows it.
pub(crate) fn rights(user: &str, password: &str, prefix: &str) -> String {
    let readme = include_str!("../../README.md");
    let command = &readme[readme.find("ACL SETUSER").unwrap()..];
    let command = &command[..command.find("```").unwrap()];
    let command = command.replace("chat:*", &format!("{prefix}*"));
    command
        .replace("chat on", &format!("{user} on"))
        .replace("PASSWORD", password)
}
