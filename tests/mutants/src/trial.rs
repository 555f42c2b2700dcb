//! Which tests reach a mutant, and whether one of them fails.

use std::{
    collections::{BTreeMap, HashMap},
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Mutex,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

/// One test of a program.
pub struct Test {
    program: PathBuf,
    name: String,
    time: Duration,
    reaches: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// A test failed.
    Killed,
    /// The tests took ten times as long as without the mutant, and ten seconds more.
    Endless,
    Survived,
    /// No test reaches the mutant.
    Unreached,
}

/// Runs each test by itself, without a mutant.
pub fn baseline(programs: &[PathBuf], folder: &Path) -> Result<Vec<Test>, Box<dyn Error>> {
    let mut names = Vec::new();
    for program in programs {
        let output = command(program)
            .args(["--list", "--format", "terse"])
            .stdout(Stdio::piped())
            .output()?;
        let text = String::from_utf8(output.stdout)?;
        let found = text.lines().filter_map(|line| line.strip_suffix(": test"));
        names.extend(found.map(|name| (program.clone(), name.to_owned())));
    }
    let tests = side_by_side(names.len(), |index| {
        let (program, name) = names[index].clone();
        let reached = folder.join(format!("reached-{index}"));
        let _ = fs::remove_file(&reached);
        let start = Instant::now();
        let passed = (command(&program)
            .args(["--exact", &name])
            .env("MUTANTS_REACHED", &reached)
            .status())
        .is_ok_and(|status| status.success());
        let time = start.elapsed();
        let text = fs::read_to_string(&reached).unwrap_or_default();
        let _ = fs::remove_file(&reached);
        let reaches = text.lines().filter_map(|line| line.parse().ok()).collect();
        if !passed {
            println!(
                "{name} of {} fails without a mutant and is not used",
                program.display()
            );
        }
        passed.then_some(Test {
            program,
            name,
            time,
            reaches,
        })
    });
    Ok(tests.into_iter().flatten().collect())
}

/// The time of the tests with which each mutant is tried first.
const FIRST: Duration = Duration::from_secs(5);

/// Tries each mutant with the tests that reach it and the fewest others, and those that survive and are `open` with all that reach
/// it.
pub fn try_all(
    tests: &[Test],
    mutants: &[usize],
    open: impl Fn(usize) -> bool + Sync,
    said: impl Fn(usize, Verdict) + Sync,
) -> HashMap<usize, Verdict> {
    // Most of the time of most tests is the start of their program, which several tests share.
    let start = tests.iter().map(|test| test.time).min().unwrap_or_default();
    let mut narrowest: Vec<&Test> = tests.iter().collect();
    narrowest.sort_by_key(|test| test.reaches.len());
    let mut reached: HashMap<usize, Vec<&Test>> = HashMap::new();
    for test in narrowest {
        for id in &test.reaches {
            reached.entry(*id).or_default().push(test);
        }
    }
    let verdicts = side_by_side(mutants.len(), |index| {
        let id = mutants[index];
        let verdict = reached.get(&id).map_or(Verdict::Unreached, |tests| {
            let mut time = Duration::ZERO;
            let is_later = |test: &&Test| {
                let is_later = time > FIRST;
                time += test.time - start;
                is_later
            };
            let (first, later) =
                tests.split_at(tests.iter().position(is_later).unwrap_or(tests.len()));
            match try_one(id, first) {
                Verdict::Survived if open(id) => try_one(id, later),
                verdict => verdict,
            }
        });
        said(id, verdict);
        (id, verdict)
    });
    verdicts.into_iter().collect()
}

fn try_one(id: usize, tests: &[&Test]) -> Verdict {
    let mut programs: BTreeMap<&Path, (Duration, Vec<&str>)> = BTreeMap::new();
    for test in tests {
        let (time, names) = programs.entry(&test.program).or_default();
        *time += test.time;
        names.push(&test.name);
    }
    let mut programs: Vec<_> = programs.into_iter().collect();
    programs.sort_by_key(|(_, (time, _))| *time);
    for (program, (time, names)) in programs {
        let mut command = command(program);
        command
            .args([
                "--exact",
                "--test-threads=1",
                "-Zunstable-options",
                "--fail-fast",
            ])
            .args(names);
        let child = command.env("MUTANT", id.to_string()).spawn();
        match child.and_then(|child| wait(child, time * 10 + Duration::from_secs(10))) {
            Ok(Some(true)) => {}
            Ok(Some(false)) => return Verdict::Killed,
            Ok(None) => return Verdict::Endless,
            Err(error) => println!("{}: {error}", program.display()),
        }
    }
    Verdict::Survived
}

/// Waits for the tests. Returns `true` if they passed, and `None` if they did not end in time.
fn wait(mut child: Child, limit: Duration) -> std::io::Result<Option<bool>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.success()));
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(5));
    }
}

fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    // The tests of linear time compare times.
    command.args(["--skip", "linear", "--skip", "large::"]);
    command
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUST_BACKTRACE", "0");
    command
        .env("PROPTEST_CASES", "32")
        .env("PROPTEST_MAX_SHRINK_ITERS", "0");
    command.env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// The results of `work` for 0 to `count`, on all processors.
fn side_by_side<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        return;
                    }
                    let result = work(index);
                    if let Ok(mut results) = results.lock() {
                        results.push(result);
                    }
                }
            });
        }
    });
    results.into_inner().unwrap_or_default()
}
