//! A hundred clients at once at each example server, polite and rude.
//!
//! `soak SECONDS` starts each server in a process of its own, lets a hundred clients loose on each,
//! and fails on an error that nobody provoked, on memory that grows, and on anything that is left
//! when the clients are gone.
//!
//! `soak idle COUNT` opens so many streams at once, says what a stream that waits costs the server, and
//! fails if anything is left when they are closed.

#![expect(clippy::print_stdout, reason = "a program that reports")]

mod clients;
mod idle;
mod served;

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clients::{Behaviour, Random};
use served::{GATEWAY, Served};
use server_tests::{Client, say_to};

/// The number of concurrent clients.
const CLIENTS: u64 = 100;

/// The time for which streams are left alone: each is sent at least two comments.
const IDLE: Duration = Duration::from_secs(40);

/// The memory in bytes by which a server may grow in the second half of the time.
const GROWTH: usize = 8 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (Some("serve"), Some(name)) => served::serve(&name),
        (Some("idle"), Some(count)) => idle::idle(count.parse()?, IDLE),
        (Some(seconds), None) => soak(Duration::from_secs(seconds.parse()?)),
        _ => Err("usage: soak SECONDS, or soak idle COUNT".into()),
    }
}

/// The totals of the clients of one server.
struct Tally {
    stop: AtomicBool,
    done: [AtomicUsize; Behaviour::ALL.len()],
    faults: Mutex<Vec<String>>,
}

impl Tally {
    const fn new() -> Self {
        Self {
            stop: AtomicBool::new(false),
            done: [const { AtomicUsize::new(0) }; Behaviour::ALL.len()],
            faults: Mutex::new(Vec::new()),
        }
    }

    fn fault(&self, fault: String) {
        if let Ok(mut faults) = self.faults.lock() {
            faults.push(fault);
        }
    }
}

fn soak(time: Duration) -> Result<(), Box<dyn Error>> {
    let servers = [
        Served::start("hyper")?,
        Served::start("actix")?,
        Served::start(GATEWAY)?,
    ];
    let tallies = [const { Tally::new() }; 3];
    let mut memory = [const { Vec::new() }; 3];
    std::thread::scope(|scope| {
        for (number, (server, tally)) in servers.iter().zip(&tallies).enumerate() {
            for client in 0..CLIENTS {
                let seed = number as u64 * CLIENTS + client;
                scope.spawn(move || run(server, tally, &key(client), Random::new(seed)));
            }
        }
        let start = Instant::now();
        while start.elapsed() < time {
            std::thread::sleep(Duration::from_millis(250));
            for (server, memory) in servers.iter().zip(&mut memory) {
                memory.push(server.memory());
            }
        }
        for tally in &tallies {
            tally.stop.store(true, Ordering::Relaxed);
        }
    });

    let mut failed = 0;
    for ((mut server, tally), memory) in servers.into_iter().zip(tallies).zip(memory) {
        failed += usize::from(!report(&mut server, &tally, &memory)?);
    }
    println!("{} passed, {failed} failed", 3 - failed);
    if failed > 0 {
        return Err("the soak found faults".into());
    }
    Ok(())
}

/// Returns the header line with the key of a client.
fn key(client: u64) -> String {
    format!("x-api-key: key-{client}")
}

/// Runs one client after another until the deadline.
fn run(server: &Served, tally: &Tally, key: &str, mut random: Random) {
    while !tally.stop.load(Ordering::Relaxed) {
        let behaviour = Behaviour::any(&mut random);
        if behaviour.needs_keys() && server.name != GATEWAY {
            continue;
        }
        match behaviour.act(server.address, key, &mut random) {
            Ok(()) => {
                if let Some(done) = tally.done.get(behaviour as usize) {
                    done.fetch_add(1, Ordering::Relaxed);
                }
            }
            Err(error) => tally.fault(format!("{behaviour:?}: {error}")),
        }
    }
}

/// Prints what became of a server; whether that is well.
fn report(server: &mut Served, tally: &Tally, memory: &[usize]) -> Result<bool, Box<dyn Error>> {
    let name = server.name.clone();
    let done = Behaviour::ALL.iter().zip(&tally.done);
    let done: Vec<String> = done
        .map(|(behaviour, done)| format!("{behaviour:?} {}", done.load(Ordering::Relaxed)))
        .collect();
    println!("{name}: {}", done.join(", "));

    // The first quarter fills caches and pools.
    let settled = memory.get(memory.len() / 4..).unwrap_or_default();
    let (first, second) = settled.split_at(settled.len() / 2);
    let most = |samples: &[usize]| samples.iter().copied().max().unwrap_or_default();
    let (first, second) = (most(first), most(second));
    println!(
        "{name}: at most {} KiB, then {} KiB",
        first / 1024,
        second / 1024
    );

    let mut faults = tally
        .faults
        .lock()
        .map(|faults| faults.clone())
        .unwrap_or_default();
    if second > first + GROWTH {
        faults.push(format!("memory grew by {} bytes", second - first));
    }
    // Every agent and every socket goes with its client.
    let start = Instant::now();
    let mut left = server.left()?;
    while left != (0, 0) && start.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(100));
        left = server.left()?;
    }
    if left != (0, 0) {
        faults.push(format!("{} agents and {} sockets are left", left.0, left.1));
    }
    let said = if name == GATEWAY {
        metrics(server.address)?;
        stop_while_streaming(server)?
    } else {
        server.stop()?
    };
    if !said.is_empty() {
        faults.push(format!("the server said: {said}"));
    }
    for fault in faults.iter().take(20) {
        println!("{name}: {fault}");
    }
    println!("{name}: {} faults", faults.len());
    Ok(faults.is_empty())
}

/// Makes sure that the gateway has counted who came.
fn metrics(address: SocketAddr) -> io::Result<()> {
    let mut client = Client::connect(address)?;
    client.request("GET", "/metrics", &[], b"")?;
    let (_, metrics) = client.response()?;
    let counted = ["answered", "refused", "failed", "panicked", "client_left"];
    let outcome = |outcome: &&str| metrics.contains(&format!("outcome=\"{outcome}\""));
    match counted.iter().find(|counted| !outcome(counted)) {
        Some(missing) => Err(io::Error::other(format!("no turn was {missing}"))),
        None => Ok(()),
    }
}

/// Stops the gateway while it streams; the stream must come to its end.
fn stop_while_streaming(server: &mut Served) -> io::Result<String> {
    let path = "/v1/chat/completions";
    let mut client = Client::connect(server.address)?.key(key(0));
    client.post(path, say_to(path, "brook"))?;
    let status = client.head()?.status;
    let said = server.stop()?;
    let mut body = Vec::new();
    loop {
        let chunk = client.chunk()?;
        if chunk.is_empty() {
            break;
        }
        body.extend(chunk);
    }
    clients::whole(path, status, &String::from_utf8_lossy(&body))?;
    Ok(said)
}
