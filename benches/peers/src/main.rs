//! Times all contenders of a row in turn, round after round, and prints medians. What counts is the
//! thread's own processor time: the machine may have other work.
//!
//! ```sh
//! cargo run --release -- [--rounds N] [ROW ...]    # the tables
//! cargo run --release -- --list                    # rows and contenders
//! cargo run --release -- --once ROW CONTENDER N    # one of them N times, for callgrind
//! ```

use std::hint::black_box;
use std::time::Duration;

use cpu_time::ThreadTime;
use peers::{Contender, ROWS, Row};

/// The time slice of a contender in a round.
const TURN: Duration = Duration::from_millis(4);

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match &*args {
        ["--list"] => {
            for (name, build) in ROWS {
                println!("{name}");
                for contender in build().contenders {
                    println!("  {}", contender.name);
                }
            }
        }
        ["--once", row, contender, times] => once(row, contender, times.parse().unwrap()),
        ["--rounds", rounds, rows @ ..] => table(rows, rounds.parse().unwrap()),
        rows => table(rows, 51),
    }
}

fn once(row: &str, contender: &str, times: usize) {
    let (_, build) = ROWS.iter().find(|(name, _)| *name == row).expect("a row");
    let mut row = build();
    let contender = row
        .contenders
        .iter_mut()
        .find(|candidate| candidate.name == contender)
        .expect("a contender");
    (contender.run)();
    repeat(contender, times);
    println!("{}", row.units * times);
}

/// The function in which callgrind counts.
#[inline(never)]
fn repeat(contender: &mut Contender, times: usize) {
    for _ in 0..times {
        black_box((contender.run)());
    }
}

fn table(rows: &[&str], rounds: usize) {
    for (name, build) in ROWS {
        if rows.is_empty() || rows.iter().any(|row| name.starts_with(row)) {
            print(name, &mut build(), rounds);
        }
    }
}

fn print(name: &str, row: &mut Row, rounds: usize) {
    println!("\n## {name}: {}\n", row.name);
    println!("| contender | ns/{} | ours / this |", row.unit);
    println!("|---|---:|---:|");
    let times = time(row, rounds);
    for (contender, own) in row.contenders.iter().zip(&times) {
        let ratios = times[0].iter().zip(own).map(|(ours, this)| ours / this);
        let (time, ratio) = (median(own.iter().copied()), median(ratios));
        let digits = if time < 100.0 { 1 } else { 0 };
        println!("| {} | {time:.digits$} | {ratio:.3} |", contender.name);
    }
}

/// Returns the time of every contender in every round, in nanoseconds per unit.
fn time(row: &mut Row, rounds: usize) -> Vec<Vec<f64>> {
    let repeats: Vec<usize> = row
        .contenders
        .iter_mut()
        .map(|contender| {
            black_box((contender.run)());
            let start = ThreadTime::now();
            black_box((contender.run)());
            let once = start.elapsed().max(Duration::from_nanos(100));
            (TURN.as_nanos() / once.as_nanos()).clamp(1, 1_000_000) as usize
        })
        .collect();
    let mut times = vec![Vec::new(); repeats.len()];
    for _ in 0..rounds {
        for ((contender, repeats), times) in row.contenders.iter_mut().zip(&repeats).zip(&mut times)
        {
            let start = ThreadTime::now();
            for _ in 0..*repeats {
                black_box((contender.run)());
            }
            times.push(start.elapsed().as_nanos() as f64 / (repeats * row.units) as f64);
        }
    }
    times
}

/// Returns the ratio within each round, because other work on the machine slows whole rounds down.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
