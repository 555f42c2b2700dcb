//! The report as a web page, which is also well-formed XML.

use std::fmt::{self, Display};

use copilot_wire_kit::check::{Finding, Rule, Severity};

use super::Sheet;
use super::markup::Escaped;

const STYLE: &str = include_str!("style.css");

/// Returns the page.
pub(super) fn page(sheet: &Sheet<'_>) -> String {
    Page(sheet).to_string()
}

struct Page<'a>(&'a Sheet<'a>);

impl Display for Page<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sheet {
            kit,
            report,
            origin,
            time,
            took,
            stopped,
        } = self.0;
        let (class, verdict) = match (report.has_errors(), stopped, report.is_clean()) {
            (true, ..) => ("error", "Failed"),
            (_, Some(_), _) => ("warning", "Not finished"),
            (.., false) => ("warning", "Passed, with warnings"),
            _ => ("passed", "Passed"),
        };
        let (name, title) = (Escaped(kit.name), Escaped(kit.title));
        writeln!(
            f,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width\"/>\n\
             <title>{verdict}: wire check -p {name}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
             <h1 class=\"{class}\">{verdict}</h1>\n\
             <p>{}.</p>\n<p>{} as {title} reads it, judged by wire {} on {} in {:.1} s.</p>",
            Escaped(report.summary()),
            Escaped(origin),
            env!("CARGO_PKG_VERSION"),
            Escaped(time),
            took.as_secs_f64(),
        )?;
        if let Some(stopped) = stopped {
            writeln!(f, "<p>The check was {}.</p>", Escaped(stopped))?;
        }
        if !report.skipped.is_empty() {
            let skipped = Escaped(report.skipped.join(", "));
            writeln!(
                f,
                "<p>Not sent, as three requests in a row had no answer, no end, or were refused: {skipped}.</p>"
            )?;
        }
        for finding in &report.findings {
            write_finding(f, finding)?;
        }
        write_rules(f, "Passed", self.0.rules(&report.passed))?;
        write_rules(
            f,
            "Not judged: the subject did not occur",
            self.0.rules(&report.unseen),
        )?;
        f.write_str("</body>\n</html>\n")
    }
}

fn write_finding(f: &mut fmt::Formatter<'_>, finding: &Finding) -> fmt::Result {
    let rule = finding.rule;
    let level = match rule.level {
        Severity::Error => "error",
        _ => "warning",
    };
    let requests = Escaped(finding.requests.join(", "));
    writeln!(
        f,
        "<section>\n<h2><b class=\"{level}\">{level}</b> <code>{}</code></h2>\n<dl>\n\
         <dt>Demand</dt><dd>{}</dd>\n<dt>Why</dt><dd>{}</dd>\n<dt>Requests</dt><dd>{requests}</dd>\n\
         <dt>Answer</dt><dd><pre>{}</pre></dd>\n<dt>Remedy</dt><dd>{}</dd>\n</dl>\n</section>",
        Escaped(rule.id),
        Prose(rule.says),
        Prose(rule.why),
        Escaped(&finding.bytes),
        Prose(rule.fix),
    )
}

fn write_rules(
    f: &mut fmt::Formatter<'_>,
    title: &str,
    rules: impl Iterator<Item = &'static Rule>,
) -> fmt::Result {
    let mut rules = rules.peekable();
    if rules.peek().is_none() {
        return Ok(());
    }
    writeln!(
        f,
        "<h2>{title}</h2>\n<table>\n<tr><th>Rule</th><th>Demand</th><th>Why</th></tr>"
    )?;
    for rule in rules {
        writeln!(
            f,
            "<tr><td><code>{}</code></td><td>{}</td><td>{}</td></tr>",
            Escaped(rule.id),
            Prose(rule.says),
            Prose(rule.why),
        )?;
    }
    f.write_str("</table>\n")
}

/// A sentence of a rule, with code between backticks.
struct Prose<'a>(&'a str);

impl Display for Prose<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, part) in self.0.split('`').enumerate() {
            match at % 2 {
                0 => write!(f, "{}", Escaped(part))?,
                _ => write!(f, "<code>{}</code>", Escaped(part))?,
            }
        }
        Ok(())
    }
}
