//! The mutants of a module, as cargo-mutants lists them.

use std::{error::Error, path::Path, process::Command};

use serde::Deserialize;

/// One change of the source.
#[derive(Deserialize)]
pub struct Mutant {
    /// The path of the file, below the root of the package.
    pub file: String,
    pub genre: Genre,
    /// `src/sse/line.rs:40:9: replace find_line_end -> Option<usize> with None`.
    pub name: String,
    /// The text instead of `span`.
    pub replacement: String,
    pub span: Span,
    /// The function that the change is in.
    pub function: Option<Function>,
}

#[derive(Deserialize)]
pub struct Function {
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Genre {
    FnValue,
    BinaryOperator,
    UnaryOperator,
    MatchArm,
    MatchArmGuard,
    StructField,
}

#[derive(Clone, Copy, Deserialize)]
pub struct Span {
    pub start: Place,
    pub end: Place,
}

/// A line and a column in characters, both from 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

impl Mutant {
    /// The name without line and column, which README.md has.
    pub fn title(&self) -> String {
        let mut parts = self.name.splitn(4, ':');
        let file = parts.next().unwrap_or_default();
        format!("{file}:{}", parts.nth(2).unwrap_or_default())
    }
}

/// Returns the mutants of the files that match `globs`.
pub fn list(root: &Path, globs: &[String]) -> Result<Vec<Mutant>, Box<dyn Error>> {
    let mut command = Command::new("cargo");
    command
        .current_dir(root)
        .args(["mutants", "--list", "--json", "--package", "copilot-wire"]);
    for glob in globs {
        command.args(["--file", glob]);
    }
    let output = command.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
