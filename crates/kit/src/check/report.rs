//! The report of a check.

use std::fmt;

use serde::Serialize;

use super::rule::{Rule, Severity};
use super::secrets::Secrets;
use copilot_wire::protocol::OneLine;

/// The limit in bytes of an excerpt.
const EXCERPT: usize = 400;

/// The report of a check.
///
/// [`Display`](fmt::Display) is for people, `Serialize` for programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The rules that were broken: errors, then warnings, each sorted by id.
    pub findings: Vec<Finding>,
    /// The ids of the rules that were checked and satisfied.
    pub passed: Vec<&'static str>,
    /// The ids of the rules that could not be checked: their subject did not occur.
    pub unseen: Vec<&'static str>,
    /// The names of the requests that were not sent, because three consecutive requests had no answer, an answer
    /// without an end, or a refusal that is about the address or the key.
    pub skipped: Vec<String>,
}

/// A rule that was broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The rule.
    #[serde(flatten)]
    pub rule: Rule,
    /// The names of the requests whose answers broke the rule.
    pub requests: Vec<String>,
    /// An excerpt of the answer to the first request, as text without loss, truncated after 400 bytes: bytes that are
    /// not UTF-8 are `\xNN`, and characters that control or reorder text are escaped. Words of header values and of
    /// the query of the target, from eight bytes on, are `*`.
    pub bytes: String,
    /// The offset of the excerpt in a [`recorded`](super::recorded) stream. `None` for other streams, and for the
    /// stream as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<usize>,
}

impl Report {
    /// Returns `true` if there is no finding, not even a warning.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// Returns `true` if a known reader fails. A report without errors may still have warnings.
    pub fn has_errors(&self) -> bool {
        self.count(Severity::Error) > 0
    }

    /// Returns the ids of the broken rules, in the order of the findings.
    pub fn rules(&self) -> impl Iterator<Item = &'static str> {
        self.findings.iter().map(|finding| finding.rule.id)
    }

    /// Returns the numbers of errors, warnings, and rules that passed or were not checked, in a line.
    pub fn summary(&self) -> String {
        format!(
            "{}, {}; {} passed, {} not applicable",
            counted(self.count(Severity::Error), "error"),
            counted(self.count(Severity::Warning), "warning"),
            counted(self.passed.len(), "rule"),
            self.unseen.len(),
        )
    }

    fn count(&self, level: Severity) -> usize {
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
                "stopped, {skipped} not sent: three in a row had no answer, no end, or were refused\n"
            )?;
        }
        f.write_str(&self.summary())
    }
}

/// Formats a number and a noun.
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

/// Formats bytes as text, up to the limit, without loss except for secrets.
pub(super) fn shown(bytes: &[u8], secrets: &Secrets) -> String {
    let cut = bytes.len() > EXCERPT;
    // A secret that begins before the limit is hidden completely, so bytes behind the limit are read too.
    let whole = bytes
        .split_at(bytes.len().min(EXCERPT + secrets.longest()))
        .0;
    let hidden = secrets.hide(whole);
    let mut out = String::new();
    for chunk in hidden.split_at(hidden.len().min(EXCERPT)).0.utf8_chunks() {
        for c in chunk.valid().chars() {
            // The backslash is escaped too: otherwise the same letters in the answer would look like an escape.
            match c {
                '\\' => out.push_str("\\\\"),
                c => out.push_str(&OneLine(c).to_string()),
            }
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    if cut {
        out.push('…');
    }
    out
}
