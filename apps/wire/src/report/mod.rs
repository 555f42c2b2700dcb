//! The report of a check as a file: a page for people, and test cases for CI.

mod html;
mod junit;
mod markup;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use copilot_wire_kit::Kit;
use copilot_wire_kit::check::{Report, Rule};

use crate::verdict::Failure;

/// The files of a report.
#[derive(Args, Debug)]
pub(crate) struct Files {
    /// Write the report as a web page: one file, without scripts
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the report for CI as a JUnit document: a test case for each rule, which fails on an error
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

/// The open files of a report.
pub(crate) struct OpenFiles {
    html: Option<File>,
    junit: Option<File>,
}

/// The content of a report's files.
pub(crate) struct Sheet<'a> {
    pub(crate) kit: Kit,
    pub(crate) report: &'a Report,
    /// The scheme, host and port of the endpoint, but not its path and query, which may contain a key.
    pub(crate) origin: String,
    /// The time at which the check began.
    pub(crate) time: String,
    pub(crate) took: Duration,
    /// The request at which the check was stopped; `None` if it was completed.
    pub(crate) stopped: Option<&'a str>,
}

impl Files {
    /// Creates the files before the check, so that an error is reported before any request.
    pub(crate) fn create(&self) -> Result<OpenFiles, Failure> {
        let create = |path: &Option<PathBuf>| path.as_deref().map(create).transpose();
        Ok(OpenFiles {
            html: create(&self.html)?,
            junit: create(&self.junit)?,
        })
    }
}

fn create(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

impl OpenFiles {
    /// Writes the report.
    pub(crate) fn write(self, sheet: &Sheet<'_>) -> Result<(), Failure> {
        for (file, text) in [
            (self.html, html::page as fn(&Sheet<'_>) -> String),
            (self.junit, junit::document),
        ] {
            if let Some(mut file) = file {
                // Without `?`, which does not treat a closed pipe as a failure.
                let written = file.write_all(text(sheet).as_bytes());
                written.map_err(|error| Failure::new(format!("the report: {error}")))?;
            }
        }
        Ok(())
    }
}

impl Sheet<'_> {
    /// Returns the rules with these ids.
    fn rules(&self, ids: &[&str]) -> impl Iterator<Item = &'static Rule> {
        self.kit.rules().filter(|rule| ids.contains(&rule.id))
    }
}
