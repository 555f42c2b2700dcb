//! Mutation tests: every mutant that cargo-mutants lists is compiled into one program, which an environment variable
//! chooses from. Each is tried with the tests that reach it. See README.md.

mod build;
mod combine;
mod list;
mod trial;

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    error::Error,
    fs,
    path::Path,
    process::ExitCode,
    sync::atomic::{AtomicUsize, Ordering},
};

use build::Copy;
use trial::Verdict;

/// The modules whose survivors all have an argument in README.md.
const MODULES: &[&str] = &[
    "sse", "lines", "json", "protocol", "agent", "router", "replies", "ag_ui",
];

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()?;
    let (options, mut modules): (Vec<_>, Vec<_>) =
        env::args().skip(1).partition(|it| it.starts_with("--"));
    let again = match &options[..] {
        [] => false,
        [option] if option == "--again" => true,
        _ => return Err("usage: run [--again] [MODULE...]".into()),
    };
    if modules.is_empty() {
        modules = MODULES.iter().map(|name| (*name).to_owned()).collect();
    }
    let folder = root.join("target/mutants");
    fs::create_dir_all(&folder)?;
    env::set_current_dir(&root)?;

    let globs: Vec<_> = modules
        .iter()
        .flat_map(|name| [format!("src/{name}.rs"), format!("src/{name}/**")])
        .collect();
    let mutants = list::list(&root, &globs)?;
    let mut copy = Copy::new(&root, &folder, &mutants)?;
    let programs = copy.build(&root, &mutants)?;
    if programs.is_empty() {
        return Err("no test program was built".into());
    }
    let tests = trial::baseline(&programs, &folder)?;
    println!(
        "{} mutants, {} of them not in the program; {} tests",
        mutants.len(),
        copy.left_out.len(),
        tests.len()
    );

    let survivors = folder.join("survivors");
    let last = fs::read_to_string(&survivors).unwrap_or_default();
    let last: BTreeSet<&str> = last.lines().collect();
    let tried: Vec<usize> = (0..mutants.len())
        .filter(|id| !copy.left_out.contains_key(id))
        .filter(|id| !again || last.contains(&*mutants[*id].title()))
        .collect();
    let mut argued = argued(&fs::read_to_string(root.join("tests/mutants/README.md"))?);
    let done = AtomicUsize::new(1);
    let verdicts = trial::try_all(
        &tests,
        &tried,
        |id| !argued.contains_key(&mutants[id].title()),
        |id, verdict| {
            let number = done.fetch_add(1, Ordering::Relaxed);
            if verdict != Verdict::Killed {
                println!(
                    "{number} of {}: {verdict:?}: {}",
                    tried.len(),
                    mutants[id].name
                );
            }
        },
    );

    let (mut open, mut titles) = (Vec::new(), BTreeSet::new());
    for module in &modules {
        let (mut killed, mut endless, mut survived, mut left_out) = (0, 0, 0, 0);
        for (id, mutant) in mutants.iter().enumerate() {
            if !Path::new(&mutant.file)
                .with_extension("")
                .starts_with(Path::new("src").join(module))
            {
                continue;
            }
            match verdicts.get(&id) {
                None if copy.left_out.contains_key(&id) => left_out += 1,
                None => {}
                Some(Verdict::Killed) => killed += 1,
                Some(Verdict::Endless) => endless += 1,
                Some(Verdict::Survived | Verdict::Unreached) => {
                    survived += 1;
                    titles.insert(mutant.title());
                    match argued.get_mut(&mutant.title()) {
                        Some(count) if *count > 0 => *count -= 1,
                        _ => open.push(&mutant.name),
                    }
                }
            }
        }
        println!(
            "{module}: {} mutants, {killed} killed, {endless} without an end, {survived} survived, {left_out} left out",
            killed + endless + survived + left_out
        );
    }
    fs::write(
        &survivors,
        titles
            .into_iter()
            .map(|title| title + "\n")
            .collect::<String>(),
    )?;
    if open.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    println!("{} survivors without an argument:", open.len());
    for name in open {
        println!("{name}");
    }
    Ok(ExitCode::FAILURE)
}

/// The titles of the survivors in README.md, each with its number.
fn argued(page: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for line in page.lines() {
        let Some((count, rest)) = line
            .strip_prefix("- ")
            .and_then(|line| line.split_once(" `src/"))
        else {
            continue;
        };
        let (Ok(count), Some((title, _))) = (count.parse::<usize>(), rest.split_once('`')) else {
            continue;
        };
        *found.entry(format!("src/{title}")).or_default() += count;
    }
    found
}
