//! The stores behind Sentinels.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use copilot_wire::conversations::{ConversationStore, RecordKey};
use copilot_wire::replies::{ReplyEnd, ReplyStore, StoreError};
use copilot_wire_kit::check_reply_store;
use copilot_wire_redis::RedisReplyStore;
use tokio::time::sleep;

use crate::redis::Redis;
use crate::shards::cluster::free_port;
use crate::support::{events, follow, id, insist, meta, soon};

/// A Sentinel on a free port. It ends with the test.
pub(crate) struct Sentinel {
    pub(crate) port: u16,
    file: PathBuf,
    child: Child,
}

impl Sentinel {
    /// Starts a Sentinel with further lines of configuration.
    pub(crate) fn start(configuration: &str) -> Self {
        let port = free_port();
        let file = std::env::temp_dir().join(format!("copilot-wire-sentinel-{port}"));
        fs::write(
            &file,
            format!("port {port}\nbind 127.0.0.1\n{configuration}\n"),
        )
        .unwrap();
        let child = Command::new("redis-server")
            .arg(&file)
            .arg("--sentinel")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::sleep(Duration::from_millis(20));
        }
        Self { port, file, child }
    }

    fn ask(&self, command: &str, password: &str) -> redis::Value {
        let url = format!("redis://{password}127.0.0.1:{}/", self.port);
        let mut connection = redis::Client::open(url).unwrap().get_connection().unwrap();
        let mut words = command.split(' ');
        let mut command = redis::cmd(words.next().unwrap());
        words.for_each(|word| {
            command.arg(word);
        });
        command.query(&mut connection).unwrap()
    }
}

impl Drop for Sentinel {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.file);
    }
}

/// The master fails, and its replica takes over: the text is whole, because the replica had all of it.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_replica_takes_over() {
    let password = "--requirepass sesame --masterauth sesame --repl-diskless-sync-delay 0";
    let mut master = Redis::start(password);
    let of = format!("{password} --replicaof 127.0.0.1 {}", master.port());
    let replica = Redis::start(&of);
    let lines = format!(
        "requirepass poppy\nsentinel sentinel-pass poppy\nsentinel monitor main 127.0.0.1 {} 2\n\
         sentinel auth-pass main sesame\nsentinel down-after-milliseconds main 1000\n\
         sentinel failover-timeout main 3000\nsentinel deny-scripts-reconfig yes",
        master.port()
    );
    let sentinels: Vec<_> = (0..3).map(|_| Sentinel::start(&lines)).collect();
    let known = |sentinel: &Sentinel| {
        let known = sentinel.ask("SENTINEL MASTER main", ":poppy@");
        let known = redis::from_redis_value::<Vec<String>>(known).unwrap();
        let value = |name| {
            known
                .iter()
                .position(|it| it == name)
                .map(|at| known[at + 1].clone())
        };
        value("num-slaves").unwrap() == "1" && value("num-other-sentinels").unwrap() == "2"
    };
    while !sentinels.iter().all(known) {
        sleep(Duration::from_millis(100)).await;
    }
    // The first Sentinel is not there.
    let ports = sentinels.iter().map(|it| format!(",127.0.0.1:{}", it.port));
    let hosts = ports.collect::<String>();
    let wrong = format!("redis+sentinel://:sesame@127.0.0.1:1{hosts}/main?sentinel_password=wr0ng");
    let wrong = RedisReplyStore::connect(wrong)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        wrong.starts_with("reply store unavailable: redis: "),
        "{wrong}"
    );
    assert!(
        !wrong.contains("wr0ng") && !wrong.contains("sesame"),
        "{wrong}"
    );
    let url = format!("redis+sentinel://:sesame@127.0.0.1:1{hosts}/main/0?sentinel_password=poppy");
    let connect = || RedisReplyStore::connect(&url);
    let (writer, reader) = (connect().await.unwrap(), connect().await.unwrap());
    check_reply_store([&writer, &reader], sleep).await.unwrap();

    let id = id();
    writer.create(&id, &meta()).await.unwrap();
    let key = RecordKey::new("ann", "/", "1");
    let minute = Duration::from_secs(60);
    writer
        .conversations()
        .put(&key, "turn".into(), minute)
        .await
        .unwrap();
    let write = async {
        for number in 0..400 {
            if number == 50 {
                while !master.info("replication").contains("state=online") {}
                let copied = "WAIT 1 5000";
                assert_eq!(master.number(copied), 1);
                master.kill();
            }
            insist(&writer, &id, number).await.unwrap();
            sleep(Duration::from_millis(15)).await;
        }
        while let Err(StoreError::Unavailable(_)) = writer.seal(&id, ReplyEnd::Done).await {}
    };
    let ((), read) = soon(async { tokio::join!(write, follow(&reader, &id)) }).await;
    assert_eq!(read.unwrap(), (events(0, 400).to_vec(), ReplyEnd::Done));
    let found = reader.conversations().get(&[key], minute).await.unwrap();
    assert_eq!(found, [Some("turn".into())]);
    drop(replica);
}
