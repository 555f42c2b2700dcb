//! The collector of findings.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use super::exchange::Exchange;
use super::report::{Finding, Report, shown};
use super::rule::Rule;
use super::secrets::Secrets;

/// The collector of findings: the rules that were checked, and those that were broken.
#[derive(Debug, Default)]
pub struct Judge {
    looked_at: BTreeMap<&'static str, Option<Finding>>,
    /// The number of consecutive requests without a response.
    pub(super) unanswered: usize,
    /// The number of consecutive answers without an end.
    pub(super) endless: usize,
    /// The number of consecutive refusals that are about the address or the key.
    pub(super) denied: usize,
    /// `true` if a request to the agent was answered with 200.
    pub(super) answered: bool,
    /// `true` if an answer with status 200 is not about an API key.
    pub(super) configured: bool,
    /// The evidence of the latest answer that is about an API key.
    pub(super) about_key: Option<Vec<u8>>,
    /// `true` if an answer was streamed.
    pub(super) paced: bool,
    /// The address range of the recorded stream.
    stream: Range<usize>,
    /// The names of the requests that were not sent.
    pub(super) skipped: Vec<String>,
    /// The values that excerpts must not show.
    pub(super) secrets: Secrets,
}

impl Judge {
    /// Creates a collector whose excerpts do not show these secrets.
    pub(super) fn new(secrets: Secrets) -> Self {
        Self {
            secrets,
            ..Self::default()
        }
    }

    /// Sets the recorded stream. Findings then have offsets in this stream.
    pub(super) fn reads(&mut self, stream: &[u8]) {
        let start = stream.as_ptr().addr();
        self.stream = start..start + stream.len();
    }

    /// Removes the findings of `rule`, which then counts as satisfied.
    pub(super) fn acquit(&mut self, rule: &'static Rule) {
        self.looked_at.insert(rule.id, None);
    }

    /// Records that `rule` was checked in the answer to `request`, with the result `holds`. `bytes` are the excerpt
    /// for a finding.
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
        // Rules pass slices of the recorded stream, so the address gives the offset without a parameter in every rule.
        // Bytes that a rule created have an address outside of the stream, and no offset.
        let place = bytes.as_ptr().addr();
        let is_part = self.stream.contains(&place);
        let offset = is_part.then(|| place - self.stream.start);
        // The first excerpt stays: later ones of the same rule only add their request.
        let secrets = &self.secrets;
        let finding = entry.get_or_insert_with(|| Finding {
            rule: *rule,
            requests: Vec::new(),
            bytes: shown(bytes, secrets),
            offset,
        });
        if !finding.requests.iter().any(|known| known == request) {
            finding.requests.push(request.to_owned());
        }
    }

    /// Records that `rule` was checked in an answer, and the result. The excerpt is the status and the beginning of
    /// the body.
    pub fn expect_answer(&mut self, rule: &'static Rule, holds: bool, answer: &Exchange) {
        self.expect(rule, holds, &answer.name, answer.evidence());
    }

    /// Returns the report about these rules.
    pub(super) fn report(&self, rules: impl IntoIterator<Item = &'static Rule>) -> Report {
        let mut report = Report {
            findings: Vec::new(),
            passed: Vec::new(),
            unseen: Vec::new(),
            skipped: self.skipped.clone(),
        };
        // Only rules of the kit are reported. A rule without an entry was never checked, which is
        // not the same as satisfied.
        for rule in rules {
            match self.looked_at.get(rule.id) {
                Some(Some(finding)) => report.findings.push(finding.clone()),
                Some(None) => report.passed.push(rule.id),
                None => report.unseen.push(rule.id),
            }
        }
        let order = |finding: &Finding| (Reverse(finding.rule.level), finding.rule.id);
        report.findings.sort_by_key(order);
        report.passed.sort_unstable();
        report.unseen.sort_unstable();
        report
    }
}
