//! Counts the instructions and allocations of every path with callgrind, and compares them with those of the table.
//!
//! ```sh
//! cargo run --profile bench -p guard               # compares; fails where a path is more than 3 % worse
//! cargo run --profile bench -p guard -- token-     # some paths only
//! cargo run --profile bench -p guard -- --write    # writes the table
//! cargo run --profile bench -p guard -- --once NAME # does one, to be run by callgrind
//! cargo run --profile bench -p guard -- --lists   # counts twice the elements of each list that a peer sizes
//! ```
//!
//! Both counts are exact for one compiler, one C library and one kind of processor, but for a few allocations whose
//! way depends on random numbers.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use guard::lists::{COUNTS, MOST, lists};
use guard::{Path, Work, paths};

/// The table, relative to the package.
const TABLE: &str = "table.txt";

/// The ratio from which a path is worse than in the table, and the one up to which it is better.
const WORSE: f64 = 1.03;
const BETTER: f64 = 0.95;

/// The counts of a path, a unit.
#[derive(Clone, Copy)]
struct Counts {
    instructions: f64,
    allocations: f64,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match &*args.iter().map(String::as_str).collect::<Vec<_>>() {
        ["--once", name] => {
            let path = paths().into_iter().find(|path| path.name == *name);
            let mut work = (path.expect("a path").prepare)();
            black_box(work());
            counted(&mut work);
            ExitCode::SUCCESS
        }
        ["--lists"] => linear(),
        ["--lists-once", part] => {
            let lists = lists();
            for list in lists
                .iter()
                .skip(part.parse().unwrap())
                .step_by(processors())
            {
                for count in COUNTS {
                    let mut work = (list.prepare)(count);
                    counted(&mut work);
                }
            }
            ExitCode::SUCCESS
        }
        ["--write"] => {
            fs::write(table(), print(&count(paths()))).unwrap();
            ExitCode::SUCCESS
        }
        prefixes => {
            let wanted = |path: &Path| {
                let mut prefixes = prefixes.iter();
                prefixes.len() == 0 || prefixes.any(|prefix| path.name.starts_with(prefix))
            };
            let counted = count(paths().into_iter().filter(wanted).collect());
            compare(&counted, &read(), prefixes.is_empty())
        }
    }
}

/// Compares the instructions for twice the elements with those for the elements, for every list that a peer sizes.
/// Fails where they are more than 2.3 times as many.
fn linear() -> ExitCode {
    let mut parts: Vec<_> = thread::scope(|scope| {
        let parts = 0..processors();
        let parts: Vec<_> = parts.map(|it| scope.spawn(move || part(it))).collect();
        let parts = parts.into_iter().map(|it| it.join().unwrap().into_iter());
        parts.collect()
    });
    let mut failed = false;
    for (list, at) in lists().iter().zip((0..parts.len()).cycle()) {
        let totals = parts.get_mut(at).and_then(Iterator::next);
        let [small, one, two] = totals.expect("counts of each list");
        // What is done once does not count.
        let ratio = (two - one) / (one - small);
        println!(
            "{:32} {:10.0} instructions an element, {ratio:.2} times for twice the elements",
            list.name,
            (one - small) / (COUNTS[1] - COUNTS[0]) as f64
        );
        failed |= ratio > MOST;
    }
    match failed {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}

/// Counts the instructions of a part of the lists: every so many, as there are processors.
fn part(part: usize) -> Vec<[f64; COUNTS.len()]> {
    let out = std::env::temp_dir().join(format!("guard.{}.{part}.lists", std::process::id()));
    // All of it in one process, with a part of the profile for each call. Of two options with one pattern callgrind takes
    // only the last, so the patterns differ.
    let status = Command::new("valgrind")
        .args(["--tool=callgrind", "--toggle-collect=guard::counted*"])
        .args(["--dump-after=*counted*", "--combine-dumps=yes"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(std::env::current_exe().unwrap())
        .args(["--lists-once", &part.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("valgrind is installed");
    assert!(status.success(), "{status}");
    let profile = fs::read_to_string(&out).unwrap();
    fs::remove_file(out).unwrap();
    let totals = profile
        .lines()
        .filter_map(|line| line.strip_prefix("totals: "));
    let totals: Vec<f64> = totals.map(|total| total.parse().unwrap()).collect();
    let lists = totals.chunks_exact(COUNTS.len());
    lists.map(|totals| totals.try_into().unwrap()).collect()
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// The function in which callgrind counts.
#[inline(never)]
fn counted(work: &mut Work) {
    black_box(work());
}

fn table() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(TABLE)
}

/// Counts all of them, each in a process of its own, as many at a time as there are processors.
fn count(paths: Vec<Path>) -> Vec<(Path, Counts)> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(BTreeMap::new());
    let names: Vec<(&str, usize)> = paths.iter().map(|it| (&*it.name, it.units)).collect();
    thread::scope(|scope| {
        for _ in 0..processors() {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some((name, units)) = names.get(at) else {
                        return;
                    };
                    let counts = callgrind(name, *units as f64);
                    found.lock().unwrap().insert(at, counts);
                }
            });
        }
    });
    let found = found.into_inner().unwrap();
    paths.into_iter().zip(found.into_values()).collect()
}

fn callgrind(name: &str, units: f64) -> Counts {
    let out = std::env::temp_dir().join(format!("guard.{}.{name}", std::process::id()));
    let program = std::env::current_exe().unwrap();
    // From its folder: the length of its path is that of its first argument, which moves everything on the heap.
    let file = program.file_name().unwrap();
    let status = Command::new("valgrind")
        // The size of the environment decides how the stack is aligned, and that which way `memcpy` takes.
        .env_clear()
        .current_dir(program.parent().unwrap())
        .args(["--tool=callgrind", "--toggle-collect=guard::counted*"])
        .args(["--dump-instr=yes", "--compress-pos=no"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(PathBuf::from(".").join(file))
        .args(["--once", name])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("valgrind is installed");
    assert!(status.success(), "{name}: {status}");
    let profile = fs::read_to_string(&out).unwrap();
    fs::remove_file(out).unwrap();
    let totals = profile
        .lines()
        .find_map(|line| line.strip_prefix("totals: "));
    Counts {
        instructions: totals.unwrap().parse::<f64>().unwrap() / units,
        allocations: calls(&profile) / units,
    }
}

/// Returns how often a function that allocates was called: the cost of the first instruction of each. The calls in a
/// profile also have those before counting began.
fn calls(profile: &str) -> f64 {
    const ALLOCATORS: [&str; 5] = [
        "malloc",
        "calloc",
        "realloc",
        "posix_memalign",
        "aligned_alloc",
    ];
    let mut ids = BTreeMap::new();
    let mut first = BTreeMap::new();
    let (mut allocator, mut is_call) = (None, false);
    for line in profile.lines() {
        // `fn=(12) malloc` where the name is new, and then `fn=(12)`.
        if let Some(function) = line
            .strip_prefix("fn=")
            .or_else(|| line.strip_prefix("cfn="))
        {
            let (id, name) = function.split_once(' ').unwrap_or((function, ""));
            if let Some(name) = ALLOCATORS.iter().find(|it| **it == name) {
                ids.insert(id, *name);
            }
            if line.starts_with('f') {
                allocator = ids.get(id).copied();
            }
        } else if line.starts_with("calls=") {
            is_call = true;
        } else if let (Some(allocator), Some(cost)) = (allocator, line.strip_prefix("0x")) {
            let mut columns = cost.split(' ');
            let address = columns
                .next()
                .and_then(|it| u64::from_str_radix(it, 16).ok());
            let count = columns.nth(1).and_then(|it| it.parse::<f64>().ok());
            if !std::mem::take(&mut is_call) {
                let place = (address.unwrap(), count.unwrap());
                let lowest = first.entry(allocator).or_insert(place);
                if place.0 < lowest.0 {
                    *lowest = place;
                }
            }
        } else if line.starts_with("0x") {
            is_call = false;
        }
    }
    first.values().map(|(_, count)| count).sum()
}

fn compiler() -> String {
    let output = Command::new("rustc").arg("--version").output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn print(counted: &[(Path, Counts)]) -> String {
    let mut out = format!("# {}\n# path instructions allocations unit\n", compiler());
    for (path, counts) in counted {
        let Counts {
            instructions,
            allocations,
        } = counts;
        let (name, unit) = (&path.name, path.unit);
        writeln!(
            out,
            "{name:28} {instructions:11.1} {allocations:9.3} {unit}"
        )
        .unwrap();
    }
    out
}

fn read() -> BTreeMap<String, Counts> {
    let table = fs::read_to_string(table()).unwrap();
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    rows.map(|row| {
        let columns: Vec<&str> = row.split_whitespace().collect();
        let [name, instructions, allocations, _] = *columns else {
            panic!("not a row: {row}");
        };
        let counts = Counts {
            instructions: instructions.parse().unwrap(),
            allocations: allocations.parse().unwrap(),
        };
        (name.to_owned(), counts)
    })
    .collect()
}

fn compare(counted: &[(Path, Counts)], table: &BTreeMap<String, Counts>, all: bool) -> ExitCode {
    let (mut worse, mut better) = (Vec::new(), Vec::new());
    for (path, now) in counted {
        let name = &path.name;
        let Some(then) = table.get(name) else {
            worse.push(format!("{name}: not in the table"));
            continue;
        };
        let ratio = now.instructions / then.instructions;
        // One in a thousand is the rounding of the table.
        let more = now.allocations > then.allocations * WORSE + 0.001;
        let line = format!(
            "{name}: {:.1} instructions a {}, {:.1} before, {:.3} times; {:.3} allocations, {:.3} before",
            now.instructions,
            path.unit,
            then.instructions,
            ratio,
            now.allocations,
            then.allocations
        );
        println!("{line}");
        match () {
            () if ratio > WORSE || more => worse.push(line),
            () if ratio < BETTER => better.push(line),
            () => {}
        }
    }
    let gone = |name: &&String| all && !counted.iter().any(|(path, _)| path.name == **name);
    worse.extend(
        table
            .keys()
            .filter(gone)
            .map(|name| format!("{name}: no such path")),
    );
    println!(
        "\n{} paths, {} worse, {} better",
        counted.len(),
        worse.len(),
        better.len()
    );
    if !better.is_empty() {
        println!(
            "\nBetter than the table, which should be written again (--write):\n{}",
            better.join("\n")
        );
    }
    if worse.is_empty() {
        return ExitCode::SUCCESS;
    }
    let of = fs::read_to_string(self::table()).unwrap_or_default();
    let of = of.lines().next().unwrap_or_default();
    println!(
        "\nWorse than the table ({of}; this is {}):\n{}",
        compiler(),
        worse.join("\n")
    );
    ExitCode::FAILURE
}
