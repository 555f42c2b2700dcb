//! Collects what held and what did not.

use std::collections::BTreeMap;

use super::report::shown;
use super::rule::rules_of;
use super::{Finding, Front, Report, Rule};

/// Collects what held and what did not.
pub(super) struct Judge {
    front: Front,
    looked_at: BTreeMap<&'static str, Option<Finding>>,
    /// How many requests in a row have got no response.
    pub(super) unanswered: usize,
}

impl Judge {
    pub(super) fn new(front: Front) -> Self {
        Self {
            front,
            looked_at: BTreeMap::new(),
            unanswered: 0,
        }
    }

    /// Notes that `rule` was looked at in the answer to `request`, and whether it held. `bytes` are
    /// what is wrong when it did not.
    pub(super) fn expect(
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
        let finding = entry.get_or_insert_with(|| Finding {
            rule: *rule,
            requests: Vec::new(),
            bytes: shown(bytes.as_ref()),
        });
        if !finding.requests.iter().any(|known| known == request) {
            finding.requests.push(request.to_owned());
        }
    }

    pub(super) fn report(self) -> Report {
        let mut report = Report {
            findings: Vec::new(),
            passed: Vec::new(),
            unseen: Vec::new(),
        };
        for rule in rules_of(self.front) {
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
