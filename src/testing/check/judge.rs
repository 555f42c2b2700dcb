//! Collects what held and what did not.

use std::collections::BTreeMap;
use std::ops::Range;

use super::report::{Finding, Report, shown};
use super::rule::Rule;

/// Collects which rules were looked at, and which of them were broken.
#[derive(Debug, Default)]
pub struct Judge {
    looked_at: BTreeMap<&'static str, Option<Finding>>,
    /// How many requests in a row have got no response.
    pub(super) unanswered: usize,
    /// How many answers of the agent in a row have had no end.
    pub(super) endless: usize,
    /// Whether an answer came as it was said.
    pub(super) paced: bool,
    /// Where in memory the recorded stream is that is judged.
    stream: Range<usize>,
    skipped: Vec<String>,
}

impl Judge {
    /// What is judged is this stream: findings say where in it they are.
    pub(super) fn reads(&mut self, stream: &[u8]) {
        let start = stream.as_ptr().addr();
        self.stream = start..start + stream.len();
    }

    /// Notes that a request was not sent.
    pub(super) fn skip(&mut self, request: &str) {
        self.skipped.push(request.to_owned());
    }

    /// Takes back what was found of `rule`: it held after all.
    pub(super) fn acquit(&mut self, rule: &'static Rule) {
        self.looked_at.insert(rule.id, None);
    }

    /// Notes that `rule` was looked at in the answer to `request`, and whether it held. `bytes` are
    /// what is wrong when it did not.
    pub fn expect(
        &mut self,
        rule: &'static Rule,
        holds: bool,
        request: &str,
        bytes: impl AsRef<[u8]>,
    ) {
        let entry = self.looked_at.entry(rule.id).or_default();
        if holds {
            return;
        }
        let bytes = bytes.as_ref();
        let place = bytes.as_ptr().addr();
        let offset = self
            .stream
            .contains(&place)
            .then(|| place - self.stream.start);
        let finding = entry.get_or_insert_with(|| Finding {
            rule: *rule,
            requests: Vec::new(),
            bytes: shown(bytes),
            offset,
        });
        if !finding.requests.iter().any(|known| known == request) {
            finding.requests.push(request.to_owned());
        }
    }

    /// Returns what was found, of these rules.
    pub(super) fn report(&self, rules: impl IntoIterator<Item = &'static Rule>) -> Report {
        let mut report = Report {
            findings: Vec::new(),
            passed: Vec::new(),
            unseen: Vec::new(),
            skipped: self.skipped.clone(),
        };
        for rule in rules {
            match self.looked_at.get(rule.id) {
                Some(Some(finding)) => report.findings.push(finding.clone()),
                Some(None) => report.passed.push(rule.id),
                None => report.unseen.push(rule.id),
            }
        }
        let order = |finding: &Finding| (finding.rule.level, finding.rule.id);
        report.findings.sort_by_key(order);
        report.passed.sort_unstable();
        report.unseen.sort_unstable();
        report
    }
}
