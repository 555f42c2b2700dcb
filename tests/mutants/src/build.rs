//! A copy of the repository with all mutants, and its test programs.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    error::Error,
    fs,
    ops::Range,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde::Deserialize;

use crate::{
    combine::{Combined, combine},
    list::Mutant,
};

/// The function that the copied library has in addition. It reads the number of the mutant that is tried from `MUTANT`, and adds each number
/// that it is asked about to the file `MUTANTS_REACHED`, once.
const CHOICE: &str = r#"
#[doc(hidden)]
pub fn mutant(id: usize) -> bool {
    use std::{fs::File, io::Write, sync::OnceLock, sync::atomic::{AtomicBool, Ordering}};
    static CHOICE: OnceLock<(Option<usize>, Option<File>)> = OnceLock::new();
    static REACHED: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];
    let (chosen, file) = CHOICE.get_or_init(|| {
        let chosen = std::env::var("MUTANT").ok().and_then(|id| id.parse().ok());
        let file = std::env::var_os("MUTANTS_REACHED").and_then(|path| File::options().append(true).create(true).open(path).ok());
        (chosen, file)
    });
    if let Some(mut file) = file.as_ref().filter(|_| !REACHED[id].swap(true, Ordering::Relaxed)) {
        let _ = file.write_all(format!("{id}\n").as_bytes());
    }
    *chosen == Some(id)
}
"#;

/// The options of every build: with all features, and optimized a little, as each test runs many times.
const OPTIONS: [&str; 5] = [
    "--locked",
    "-p",
    "copilot-wire",
    "--all-features",
    "--message-format=json",
];

/// A copy of the repository in which `copilot_wire::mutant` chooses the mutant.
pub struct Copy {
    root: PathBuf,
    target: PathBuf,
    known: PathBuf,
    /// The mutants that do not compile, or not together with the code that they replace, each with the code of the error.
    pub left_out: BTreeMap<usize, String>,
}

#[derive(Deserialize)]
struct Message {
    executable: Option<PathBuf>,
    message: Option<Diagnostic>,
}

#[derive(Deserialize)]
struct Diagnostic {
    level: String,
    code: Option<Code>,
    rendered: Option<String>,
    spans: Vec<DiagnosticSpan>,
    children: Vec<Diagnostic>,
}

#[derive(Deserialize)]
struct Code {
    code: String,
}

#[derive(Deserialize)]
struct DiagnosticSpan {
    file_name: String,
    byte_start: usize,
    byte_end: usize,
    is_primary: bool,
    expansion: Option<Box<Expansion>>,
}

#[derive(Deserialize)]
struct Expansion {
    span: DiagnosticSpan,
}

/// Removes what an earlier run has copied and the repository has no more.
fn remove_others(folder: &Path, files: &BTreeSet<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && !path.is_symlink() {
            remove_others(&path, files)?;
        } else if !files.contains(&path) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

impl Copy {
    /// Copies what belongs to the repository in `root`, and writes the mutants into the library.
    pub fn new(root: &Path, folder: &Path, mutants: &[Mutant]) -> Result<Self, Box<dyn Error>> {
        let mut copy = Self {
            root: folder.join("copy"),
            target: folder.join("target"),
            known: folder.join("left_out"),
            left_out: BTreeMap::new(),
        };
        // The compiler cannot read what a run leaves that was stopped.
        let _ = fs::remove_dir_all(copy.target.join("debug/incremental"));
        let files = Command::new("git")
            .current_dir(root)
            .args(["ls-files", "-co", "--exclude-standard"])
            .output()?;
        let files = String::from_utf8(files.stdout)?;
        for file in files.lines() {
            // Deleted files are listed until they are committed.
            if let Ok(target) = fs::read_link(root.join(file)) {
                let _ = std::os::unix::fs::symlink(target, copy.root.join(file));
            } else if let Ok(content) = fs::read(root.join(file)) {
                copy.write(file, &content)?;
            }
        }
        let files = files.lines().filter(|file| root.join(file).exists());
        remove_others(
            &copy.root,
            &files.map(|file| copy.root.join(file)).collect(),
        )?;
        // What did not compile in the last run does not now, unless its file has changed.
        let known = fs::read_to_string(&copy.known).unwrap_or_default();
        for (code, name) in known.lines().filter_map(|line| line.split_once(' ')) {
            let id = mutants.iter().position(|mutant| mutant.name == name);
            copy.left_out.extend(id.map(|id| (id, code.to_owned())));
        }
        let library = fs::read_to_string(root.join("src/lib.rs"))?
            + &CHOICE.replace("COUNT", &mutants.len().to_string());
        copy.write("src/lib.rs", library.as_bytes())?;
        Ok(copy)
    }

    /// Writes a file unless it is the same: cargo compares times.
    fn write(&self, file: &str, content: &[u8]) -> std::io::Result<()> {
        let path = self.root.join(file);
        if fs::read(&path).is_ok_and(|old| old == content) {
            return Ok(());
        }
        fs::create_dir_all(path.parent().unwrap_or(&self.root))?;
        let mode = fs::metadata(file).map(|found| found.permissions());
        fs::write(&path, content)?;
        mode.and_then(|mode| fs::set_permissions(&path, mode))
    }

    /// Returns the test programs of a library with all mutants that compile together.
    pub fn build(
        &mut self,
        root: &Path,
        mutants: &[Mutant],
    ) -> Result<Vec<PathBuf>, Box<dyn Error>> {
        let sources: BTreeSet<&str> = mutants.iter().map(|mutant| &*mutant.file).collect();
        loop {
            let mut files = BTreeMap::new();
            for file in &sources {
                let of_file: Vec<_> = (mutants.iter().enumerate())
                    .filter(|(id, mutant)| mutant.file == *file && !self.left_out.contains_key(id))
                    .collect();
                let mut source = fs::read_to_string(root.join(file))?;
                if *file == "src/lib.rs" {
                    source = fs::read_to_string(self.root.join(file))?;
                }
                let combined =
                    combine(&source, &of_file).map_err(|error| format!("{file}: {error}"))?;
                self.write(file, combined.text.as_bytes())?;
                files.insert(*file, combined);
            }
            let errors = self.errors()?;
            if errors.is_empty() {
                let here: HashSet<usize> = files
                    .values()
                    .flat_map(|file| &file.places)
                    .map(|(id, ..)| *id)
                    .collect();
                for id in (0..mutants.len()).filter(|id| !here.contains(id)) {
                    self.left_out.entry(id).or_default();
                }
                break;
            }
            let before = self.left_out.len();
            for error in &errors {
                let code = error.code.as_ref().map_or("", |code| &code.code);
                self.left_out.extend(
                    error
                        .guilty(&files)
                        .into_iter()
                        .map(|id| (id, code.to_owned())),
                );
            }
            println!(
                "{} errors, {} mutants left out",
                errors.len(),
                self.left_out.len()
            );
            if self.left_out.len() == before {
                let texts: Vec<_> = errors
                    .iter()
                    .filter_map(|error| error.rendered.as_deref())
                    .collect();
                return Err(texts.concat().into());
            }
        }
        let left_out = self
            .left_out
            .iter()
            .map(|(id, code)| format!("{code} {}\n", mutants[*id].name));
        fs::write(&self.known, left_out.collect::<String>())?;
        let messages = self.cargo(&["test", "--no-run", "--tests"])?;
        let errors = messages
            .iter()
            .filter_map(|message| message.message.as_ref())
            .filter(|found| found.level == "error");
        let errors: String = errors
            .filter_map(|error| error.rendered.as_deref())
            .collect();
        if !errors.is_empty() {
            return Err(errors.into());
        }
        Ok(messages
            .into_iter()
            .filter_map(|message| message.executable)
            .collect())
    }

    /// The errors of the library, of which most are in mutants.
    fn errors(&self) -> Result<Vec<Diagnostic>, Box<dyn Error>> {
        let messages = self.cargo(&["check", "--lib"])?;
        let found = messages.into_iter().filter_map(|message| message.message);
        Ok(found
            .filter(|found| found.level == "error" && !found.spans.is_empty())
            .collect())
    }

    fn cargo(&self, command: &[&str]) -> Result<Vec<Message>, Box<dyn Error>> {
        let output = Command::new("cargo")
            .current_dir(&self.root)
            .args(command)
            .args(OPTIONS)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_PROFILE_DEV_OPT_LEVEL", "1")
            .env("CARGO_PROFILE_DEV_DEBUG", "none")
            .env("CARGO_INCREMENTAL", "1")
            // What is denied elsewhere may be in a mutant.
            .env("RUSTFLAGS", "--cap-lints=warn")
            .stderr(Stdio::inherit())
            .output()?;
        let lines = output
            .stdout
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        Ok(lines
            .map(serde_json::from_slice)
            .collect::<Result<_, _>>()?)
    }
}

impl Diagnostic {
    /// The mutants that the error is in, or else those of the smallest expression or function that it is in.
    fn guilty(&self, files: &BTreeMap<&str, Combined>) -> Vec<usize> {
        let mut spans = Vec::new();
        self.collect(&mut spans);
        let places = || {
            spans.iter().flat_map(|span| {
                let found = files
                    .get(&*span.file_name)
                    .into_iter()
                    .flat_map(|file| &file.places);
                found.map(move |place| (span, place))
            })
        };
        let is_in = |span: &DiagnosticSpan, range: &Range<usize>| {
            range.start <= span.byte_start && span.byte_end <= range.end
        };
        let code: Vec<usize> = places()
            .filter(|(span, (_, code, _))| is_in(span, code))
            .map(|(_, (id, ..))| *id)
            .collect();
        if !code.is_empty() {
            return code;
        }
        let around =
            || places().filter(|(span, (.., around))| span.is_primary && is_in(span, around));
        let smallest = around().map(|(_, (.., around))| around.len()).min();
        around()
            .filter(|(_, (.., around))| Some(around.len()) == smallest)
            .map(|(_, (id, ..))| *id)
            .collect()
    }

    fn collect<'a>(&'a self, spans: &mut Vec<&'a DiagnosticSpan>) {
        for span in &self.spans {
            let mut next = Some(span);
            while let Some(span) = next {
                spans.push(span);
                next = span.expansion.as_ref().map(|expansion| &expansion.span);
            }
        }
        for child in &self.children {
            child.collect(spans);
        }
    }
}
