//! Two hundred clients at once, polite and rude, at both example servers.
//!
//! `soak SECONDS` starts each server in a process of its own, lets a hundred clients loose on each,
//! and fails on an error that nobody provoked, on memory that grows, and on anything that is left
//! when the clients are gone.

#![expect(clippy::print_stdout, reason = "a program that reports")]

mod clients;
mod served;

use std::error::Error;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clients::{Behaviour, Random};
use served::Served;

/// How many clients a server has at any time.
const CLIENTS: u64 = 100;

/// How much more a server may hold in the second half of the time than in the first.
const GROWTH: usize = 8 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (Some("serve"), Some(name)) => served::serve(&name),
        (Some(seconds), None) => soak(Duration::from_secs(seconds.parse()?)),
        _ => Err("usage: soak SECONDS".into()),
    }
}

/// What the clients of one server came to.
#[derive(Default)]
struct Tally {
    stop: AtomicBool,
    done: [AtomicUsize; Behaviour::ALL.len()],
    faults: Mutex<Vec<String>>,
}

impl Tally {
    fn fault(&self, fault: String) {
        if let Ok(mut faults) = self.faults.lock() {
            faults.push(fault);
        }
    }
}

fn soak(time: Duration) -> Result<(), Box<dyn Error>> {
    let servers = [Served::start("hyper")?, Served::start("actix")?];
    let tallies = [Tally::default(), Tally::default()];
    let mut memory = [Vec::new(), Vec::new()];
    std::thread::scope(|scope| {
        for (number, (server, tally)) in servers.iter().zip(&tallies).enumerate() {
            for client in 0..CLIENTS {
                let seed = number as u64 * CLIENTS + client;
                scope.spawn(move || run(server, tally, Random::new(seed)));
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
    println!("{} passed, {failed} failed", 2 - failed);
    if failed > 0 {
        return Err("the soak found faults".into());
    }
    Ok(())
}

/// One client after another, until it is time to stop.
fn run(server: &Served, tally: &Tally, mut random: Random) {
    while !tally.stop.load(Ordering::Relaxed) {
        let behaviour = Behaviour::any(&mut random);
        match behaviour.act(server.address, &mut random) {
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
    let said = server.stop()?;
    if !said.is_empty() {
        faults.push(format!("the server said: {said}"));
    }
    for fault in faults.iter().take(20) {
        println!("{name}: {fault}");
    }
    println!("{name}: {} faults", faults.len());
    Ok(faults.is_empty())
}
