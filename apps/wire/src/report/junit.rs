//! The report as a JUnit document, in the subset that CI services read.

use std::fmt::Write;

use copilot_wire_kit::check::Severity;

use super::Sheet;
use super::markup::Escaped;

/// Returns the document, with a test case for each rule. An error is a failure. A warning passes, as in the exit
/// status, and is the output of its test case.
pub(super) fn document(sheet: &Sheet<'_>) -> String {
    let report = sheet.report;
    let suite = Escaped(format!("wire.{}", sheet.kit.name));
    let mut cases = String::new();
    let mut tests = report.findings.len() + report.passed.len() + report.unseen.len();
    let mut failures = 0;
    let mut case = |id: &str, content: String| {
        let id = Escaped(id);
        // Writing to a string cannot fail.
        let _ = writeln!(
            cases,
            "<testcase classname=\"{suite}\" name=\"{id}\">{content}</testcase>"
        );
    };
    for finding in &report.findings {
        let rule = finding.rule;
        let text = Escaped(finding);
        case(
            rule.id,
            match rule.level {
                Severity::Error => {
                    failures += 1;
                    let says = Escaped(rule.says);
                    format!("<failure type=\"error\" message=\"{says}\">{text}</failure>")
                }
                _ => format!("<system-out>{text}</system-out>"),
            },
        );
    }
    for id in &report.passed {
        case(id, String::new());
    }
    for id in &report.unseen {
        case(
            id,
            "<skipped message=\"not judged: its subject did not occur\"/>".to_owned(),
        );
    }
    if let Some(stopped) = sheet.stopped {
        tests += 1;
        let stopped = Escaped(stopped);
        case(
            "stopped",
            format!("<error type=\"stopped\" message=\"{stopped}\"/>"),
        );
    }
    let errors = usize::from(sheet.stopped.is_some());
    let took = sheet.took.as_secs_f64();
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\"");
    let skipped = report.unseen.len();
    let time = Escaped(&sheet.time);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"wire check\" {counts} time=\"{took:.3}\">\n\
         <testsuite name=\"{suite}\" {counts} skipped=\"{skipped}\" time=\"{took:.3}\" timestamp=\"{time}\">\n\
         <properties><property name=\"endpoint\" value=\"{origin}\"/></properties>\n\
         {cases}</testsuite>\n</testsuites>\n",
        origin = Escaped(&sheet.origin),
    )
}
