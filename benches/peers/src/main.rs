//! Times all contenders of all rows and prints the tables, in Markdown.
//!
//! ```sh
//! cargo run --release -- [--short] [--runs N] [ROW ...]    # the tables
//! cargo run --release -- --list                            # rows, sizes and contenders
//! cargo run --release -- --once ROW SIZE CONTENDER N       # one of them N times, for callgrind
//! ```
//!
//! A row may be named by its beginning. With several runs, which follow one another, every figure is a range.

use std::io;

use peers::measure::{self, Effort, repeat};
use peers::report::{self, Measured};
use peers::{Row, rows};

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut args: &[&str] = &args.iter().map(String::as_str).collect::<Vec<_>>();
    match args {
        ["--list"] => {
            for row in rows() {
                for (size, build) in &row.sizes {
                    for contender in build().contenders {
                        println!("{}\t{size}\t{}", row.name, contender.name);
                    }
                }
            }
            return Ok(());
        }
        ["--once", row, size, contender, times] => {
            once(row, size, contender, times.parse().unwrap());
            return Ok(());
        }
        _ => {}
    }
    let (mut effort, mut runs) = (Effort::FULL, 1);
    loop {
        match args {
            ["--short", rest @ ..] => {
                effort = Effort::SHORT;
                args = rest;
            }
            ["--runs", number, rest @ ..] => {
                runs = number.parse().expect("a number of runs");
                args = rest;
            }
            names => {
                let rows = measure(names, runs, effort);
                return report::print(&rows, runs, effort, &mut io::stdout().lock());
            }
        }
    }
}

fn measure(names: &[&str], runs: usize, effort: Effort) -> Vec<Measured> {
    let wanted = |row: &Row| names.is_empty() || names.iter().any(|it| row.name.starts_with(it));
    let rows: Vec<Row> = rows().into_iter().filter(wanted).collect();
    let mut measured: Vec<Measured> = rows.iter().map(Measured::new).collect();
    for run in 1..=runs {
        for (row, measured) in rows.iter().zip(&mut measured) {
            eprintln!("run {run}: {}", row.name);
            for (at, (_, build)) in row.sizes.iter().enumerate() {
                let mut case = build();
                let times = measure::times(&mut case, effort);
                measured.add(at, &case, &times);
            }
        }
    }
    measured
}

fn once(row: &str, size: &str, contender: &str, times: usize) {
    let row = rows().into_iter().find(|it| it.name == row);
    let row = row.expect("a row");
    let mut sizes = row.sizes.iter();
    let (_, build) = sizes.find(|(name, _)| name == size).expect("a size");
    let mut case = build();
    let mut contenders = case.contenders.iter_mut();
    let contender = contenders.find(|candidate| candidate.name == contender);
    let contender = contender.expect("a contender");
    (contender.run)();
    repeat(contender, times);
    println!("{}", case.units * times);
}
