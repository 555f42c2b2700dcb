//! The format of a case: a title, then turns of sections. `../README.md` describes it.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::iter::repeat;
use std::path::{Path, PathBuf};

/// A file with a case.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) path: PathBuf,
    pub(crate) turns: Vec<Turn>,
}

/// A request, what the agent does, and what is expected of each protocol.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// Everything before the expectations, as it stands in the file.
    text: String,
    pub(crate) mount: String,
    pub(crate) asks: Ask,
    pub(crate) parts: Option<Vec<String>>,
    /// A text of the request that is sent as another one.
    pub(crate) edit: Option<(String, String)>,
    /// The path of the bytes, which other tests read too, below `fixtures`, with `{}` for the protocol.
    file: Option<String>,
    expected: BTreeMap<String, String>,
}

/// The beginning of a turn: its request.
#[derive(Clone, Debug, Default)]
pub(crate) enum Ask {
    /// With the usual request of the protocol.
    #[default]
    Usual,
    /// With this body.
    Body(String),
    /// The user goes on: with a text, a decision, or the results of calls.
    Say(String),
    Decide(bool),
    Results(String),
}

impl Case {
    /// Reads a file. Panics where it is no case.
    pub(crate) fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        let mut turns = vec![Turn::default()];
        let mut sections = text.split("\n=== ");
        let title = sections.next().unwrap().trim_end();
        assert!(
            title.ends_with('.') && !title.starts_with("==="),
            "{path:?}: a case begins with a sentence about it"
        );
        writeln!(turns[0].text, "{title}").unwrap();
        for section in sections {
            let (head, body) = section.split_once('\n').unwrap_or((section, ""));
            let (kind, rest) = head.split_once(' ').unwrap_or((head, ""));
            let mut turn = turns.last_mut().unwrap();
            let ask = match kind {
                "ask" if !rest.is_empty() => {
                    Some(Ask::Body(std::fs::read_to_string(fixture(rest)).unwrap()))
                }
                "ask" if body.trim().is_empty() => Some(Ask::Usual),
                "ask" => Some(Ask::Body(body.to_owned())),
                "say" => Some(Ask::Say(rest.to_owned())),
                "yes" | "no" => Some(Ask::Decide(kind == "yes")),
                "results" => Some(Ask::Results(rest.to_owned())),
                _ => None,
            };
            if turn.parts.is_some() && (ask.is_some() || kind == "parts" || kind == "mount")
                || ask.is_some() && !matches!(turn.asks, Ask::Usual)
                || !turn.expected.is_empty() && !matches!(kind, "seen" | "bytes" | "heard")
            {
                let mount = turn.mount.clone();
                turns.push(Turn {
                    mount,
                    ..Turn::default()
                });
                turn = turns.last_mut().unwrap();
            }
            match (kind, ask) {
                (_, Some(ask)) => turn.asks = ask,
                ("mount", _) => rest.clone_into(&mut turn.mount),
                ("edit", _) => {
                    let (from, to) = rest.split_once(" to ").unwrap();
                    turn.edit = Some((from.to_owned(), to.to_owned()));
                }
                ("file", _) => turn.file = Some(rest.to_owned()),
                ("parts", _) => {
                    let lines = body.lines().filter(|line| !line.is_empty());
                    turn.parts = Some(lines.map(str::to_owned).collect());
                }
                ("seen" | "bytes" | "heard", _) => {
                    turn.expected.insert(head.to_owned(), body.to_owned());
                    continue;
                }
                _ => panic!("{path:?}: {head}"),
            }
            let body = if kind == "parts" || kind == "ask" {
                body
            } else {
                ""
            };
            let lines = body.trim_end();
            let lines = lines.to_owned() + if lines.is_empty() { "" } else { "\n" };
            write!(turn.text, "\n=== {head}\n{lines}").unwrap();
        }
        let path = path.to_owned();
        Self { path, turns }
    }

    /// Compares what came with what is expected, or writes it into the file. Returns the places where they differ, with
    /// the first lines that do. Nothing may be missing, empty or left.
    pub(crate) fn settle(&self, found: &[Vec<(String, String)>]) -> Vec<String> {
        if is_written_anew() {
            let mut text = String::new();
            for (turn, found) in self.turns.iter().zip(found) {
                text += &turn.text;
                for (head, body) in found {
                    if let Some(path) = turn.file_of(head) {
                        std::fs::write(path, body).unwrap();
                        continue;
                    }
                    write!(text, "\n=== {head}\n{body}").unwrap();
                }
            }
            std::fs::write(&self.path, text).unwrap();
            return Vec::new();
        }
        let mut wrong = Vec::new();
        for (number, (turn, found)) in self.turns.iter().zip(found).enumerate() {
            let place = |head| format!("{}, turn {number}, {head}", self.path.display());
            for (head, body) in found {
                let file = turn.file_of(head).map(std::fs::read_to_string);
                let expected = match &file {
                    Some(file) => file.as_ref().ok(),
                    None => turn.expected.get(head),
                };
                let expected = expected.map_or("", String::as_str);
                if expected != body || body.trim().is_empty() {
                    let mut lines = body.lines().zip(expected.lines().chain(repeat("")));
                    let first = lines.find(|(found, expected)| found != expected);
                    wrong.push(format!("{}: {first:?}", place(head)));
                }
            }
            let heads: HashSet<_> = found.iter().map(|(head, _)| head).collect();
            let left = turn.expected.keys().filter(|head| !heads.contains(head));
            wrong.extend(left.map(|head| format!("{} is left", place(head))));
        }
        wrong
    }
}

impl Turn {
    /// Returns the file with what is expected under this head, if it is not in the case.
    fn file_of(&self, head: &str) -> Option<PathBuf> {
        let protocol = head.strip_prefix("bytes ")?;
        let path = self.file.as_ref()?.replace("{}", protocol);
        Some(
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("fixtures")
                .join(path),
        )
    }
}

fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(path)
}

/// Returns `true` if what came is written into the fixtures.
pub(crate) fn is_written_anew() -> bool {
    std::env::var_os("CASES").is_some_and(|mode| mode == "write")
}
