//! A cluster of Redis servers of a test's own.

use std::net::TcpListener;
use std::thread::sleep;
use std::time::Duration;

use copilot_wire_redis::RedisReplyStore;

use crate::redis::Redis;

/// The number of slots that every cluster has.
const SLOTS: usize = 16_384;
const MASTERS: usize = 3;

/// Three masters, and a replica of each if asked for.
pub(crate) struct Shards {
    /// The masters, and then their replicas in the same order.
    pub(crate) servers: Vec<Redis>,
}

impl Shards {
    pub(crate) fn start(has_replicas: bool, arguments: &str) -> Self {
        let mut buses = Vec::new();
        let count = if has_replicas { 2 * MASTERS } else { MASTERS };
        let servers = (0..count).map(|_| {
            let bus = free_port();
            buses.push(bus);
            Redis::start(&format!(
                "--cluster-enabled yes --cluster-node-timeout 1500 --cluster-port {bus} \
                 --cluster-require-full-coverage no --repl-diskless-sync-delay 0 {arguments}"
            ))
        });
        let shards = Self {
            servers: servers.collect(),
        };
        for (number, server) in shards.servers.iter().enumerate() {
            server.command(&format!("CLUSTER SET-CONFIG-EPOCH {}", number + 1));
            if number < MASTERS {
                let (first, next) = (number * SLOTS / MASTERS, (number + 1) * SLOTS / MASTERS);
                server.command(&format!("CLUSTER ADDSLOTSRANGE {first} {}", next - 1));
            }
            let port = shards.servers[0].port();
            server.command(&format!("CLUSTER MEET 127.0.0.1 {port} {}", buses[0]));
        }
        shards.wait(|info| info.contains(&format!("cluster_known_nodes:{count}\r")));
        for number in MASTERS..count {
            let master = shards.name(number - MASTERS);
            let replicate = format!("CLUSTER REPLICATE {master}");
            while shards.servers[number].try_command(&replicate).is_err() {
                sleep(Duration::from_millis(50));
            }
        }
        shards.wait(|info| {
            info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:16384")
        });
        for replica in &shards.servers[MASTERS..] {
            while !replica
                .info("replication")
                .contains("master_link_status:up")
            {
                sleep(Duration::from_millis(50));
            }
        }
        shards
    }

    /// Returns a URL that names all masters.
    pub(crate) fn url(&self) -> String {
        let hosts = self.servers[..MASTERS]
            .iter()
            .map(|it| format!("127.0.0.1:{}", it.port()));
        format!("redis://{}/", hosts.collect::<Vec<_>>().join(","))
    }

    pub(crate) async fn store(&self) -> RedisReplyStore {
        RedisReplyStore::connect(self.url()).await.unwrap()
    }

    /// Returns the slot of a key, and the number of the master that had it at the start.
    pub(crate) fn slot(&self, key: &str) -> (usize, usize) {
        let slot = self.servers.iter().find_map(|server| {
            let slot = server.try_command(&format!("CLUSTER KEYSLOT {key}")).ok()?;
            redis::from_redis_value::<usize>(slot).ok()
        });
        let slot = slot.unwrap();
        let owner = (0..MASTERS).find(|number| slot < (number + 1) * SLOTS / MASTERS);
        (slot, owner.unwrap())
    }

    /// Moves a slot with its keys. The servers know of it, and not of its end, for a while.
    pub(crate) async fn move_slot(&self, slot: usize, from: usize, to: usize, while_: Duration) {
        let [source, target] = [&self.servers[from], &self.servers[to]];
        let [old, new] = [self.name(from), self.name(to)];
        target.command(&format!("CLUSTER SETSLOT {slot} IMPORTING {old}"));
        source.command(&format!("CLUSTER SETSLOT {slot} MIGRATING {new}"));
        tokio::time::sleep(while_).await;
        let keys = source.command(&format!("CLUSTER GETKEYSINSLOT {slot} 1000"));
        for key in redis::from_redis_value::<Vec<String>>(keys).unwrap() {
            source.command(&format!("MIGRATE 127.0.0.1 {} {key} 0 5000", target.port()));
            tokio::time::sleep(while_).await;
        }
        for server in [target, source] {
            server.command(&format!("CLUSTER SETSLOT {slot} NODE {new}"));
        }
    }

    /// Returns the name of a server in its cluster.
    fn name(&self, number: usize) -> String {
        redis::from_redis_value(self.servers[number].command("CLUSTER MYID")).unwrap()
    }

    /// Waits until every server says so of the cluster.
    pub(crate) fn wait(&self, is_so: impl Fn(&str) -> bool) {
        for server in &self.servers {
            let info =
                || -> String { redis::from_redis_value(server.command("CLUSTER INFO")).unwrap() };
            while !is_so(&info()) {
                sleep(Duration::from_millis(50));
            }
        }
    }
}

/// Returns a free port.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}
