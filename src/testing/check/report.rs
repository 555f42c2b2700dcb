//! What a check found.

use std::fmt;

use serde::Serialize;

use super::rule::{Level, Rule};

/// How many bytes of what was wrong are kept.
const KEPT: usize = 400;

/// What a check found.
///
/// [`Display`](fmt::Display) is for people, `Serialize` for programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The rules that were broken: errors first, each group by its id.
    pub findings: Vec<Finding>,
    /// The ids of the rules that were looked at and held.
    pub passed: Vec<&'static str>,
    /// The ids of the rules that nothing showed: what they are about did not occur.
    pub unseen: Vec<&'static str>,
    /// The requests that were not sent, because three in a row had had no answer, or none with an
    /// end.
    pub skipped: Vec<String>,
}

/// A rule that was broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The rule.
    #[serde(flatten)]
    pub rule: Rule,
    /// The requests that showed it, by name: the file of a recorded request, or what was asked.
    pub requests: Vec<String>,
    /// What was wrong in the answer to the first of them, as text that loses nothing: bytes that are
    /// not UTF-8 as `\xNN`, escapes for control characters and for what reorders the text around it,
    /// and cut after 400 bytes.
    pub bytes: String,
    /// Of a stream that was [`recorded`](super::recorded): where in it that begins, unless it is
    /// about the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<usize>,
}

impl Report {
    /// Whether nothing was found, not even a warning.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// Whether a known reader fails. A report without errors may still have warnings.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.count(Level::Error) > 0
    }

    /// The ids of the rules that were broken, in the order of the findings.
    pub fn rules(&self) -> impl Iterator<Item = &'static str> {
        self.findings.iter().map(|finding| finding.rule.id)
    }

    fn count(&self, level: Level) -> usize {
        let of_level = |finding: &&Finding| finding.rule.level == level;
        self.findings.iter().filter(of_level).count()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        if !self.skipped.is_empty() {
            let skipped = counted(self.skipped.len(), "request");
            writeln!(
                f,
                "given up, {skipped} not sent: three in a row had no answer, or none with an end\n"
            )?;
        }
        write!(
            f,
            "{}, {}; {} held, {} had nothing to be judged by",
            counted(self.count(Level::Error), "error"),
            counted(self.count(Level::Warning), "warning"),
            counted(self.passed.len(), "rule"),
            self.unseen.len(),
        )
    }
}

/// A number of things.
fn counted(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rule {
            id,
            level,
            says,
            why,
            fix,
        } = self.rule;
        writeln!(f, "{}: {id}: {says}", level.name())?;
        if let Some((first, more)) = self.requests.split_first() {
            match more.len() {
                0 => writeln!(f, "    in:  {first}")?,
                more => writeln!(f, "    in:  {first}, and {more} more")?,
            }
        }
        writeln!(f, "    got: {}", self.bytes)?;
        writeln!(f, "    why: {why}")?;
        writeln!(f, "    fix: {fix}")
    }
}

/// Whether a character shows as nothing and changes how its neighbours show: a line end to some
/// terminals and readers, the mark of a byte order, or one that sets the direction of writing.
fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{61c}' | '\u{200e}' | '\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// Bytes as text that loses nothing but what is behind the limit.
pub(super) fn shown(bytes: &[u8]) -> String {
    let (kept, cut) = bytes.split_at(bytes.len().min(KEPT));
    let mut out = String::new();
    for chunk in kept.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_control() || c == '\\' || is_unseen(c) {
                out.extend(c.escape_default());
            } else {
                out.push(c);
            }
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    if !cut.is_empty() {
        out.push('…');
    }
    out
}
